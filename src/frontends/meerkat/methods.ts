import type { ModelOption } from "../../api/models.ts";
import type { ContractVersion } from "../../base/contract-version.ts";
import { KernelError } from "../../base/errors.ts";
import type { Peer } from "../../ports/rpc/connection.ts";
import type { EnvelopeRules } from "../../ports/rpc/envelope.ts";
import { defineMethod, type Method, type MethodTable } from "../../ports/rpc/methods.ts";
import type { DialectConnection, HostApi } from "../shared/dialect.ts";
import { ClientSessions } from "./client-sessions.ts";
import { ConfigMethods } from "./configuration/config-methods.ts";
import { createRules } from "./envelope.ts";
import type { EraCodec } from "./eras/codec.ts";
import { capabilities, createContractCodec, inCapabilities, versionText } from "./eras/contract.ts";
import { seedCodec } from "./eras/seed.ts";
import type { ClientSide } from "./hosted-session.ts";
import { McpMethods } from "./mcp-methods.ts";
import { meerkatProtocol } from "./protocol.ts";
import { inRealm, type Realm, toRealmId } from "./realm/realm.ts";
import { SessionMethods } from "./session-methods.ts";
import { SessionStreams } from "./session-streams.ts";
import { toSkillsList } from "./skills.ts";
import { TurnMethods } from "./turns/turn-methods.ts";
import {
	type CapabilitiesResult,
	type InitializeParams,
	type InitializeResult,
	type ModelsCatalogResult,
	type RequestMethod,
	requestMethods,
	type ToolDeclaration,
} from "./wire.ts";

const { methods: shapes } = meerkatProtocol;

const serverName = "meerkat-rpc";

const maximumTools = 1000;

export class MeerkatConnection implements DialectConnection {
	readonly #kernelApi: HostApi;
	readonly #sessions: ClientSessions;
	readonly methods: MethodTable;
	readonly rules: EnvelopeRules;
	#codec: EraCodec = seedCodec;
	#answers: ReadonlySet<RequestMethod> = new Set();
	readonly #tools = new Map<string, ToolDeclaration>();

	readonly #contract: ContractVersion;
	readonly #contractCodec: EraCodec;

	constructor(kernelApi: HostApi, peer: Peer, contract: ContractVersion, realm: Realm | null) {
		this.#kernelApi = kernelApi;
		this.#contract = contract;
		this.#contractCodec = createContractCodec(realm);
		this.rules = createRules(() => this.#codec.era);
		const config = new ConfigMethods(kernelApi.documents, () => this.#codec);
		const streams = new SessionStreams(kernelApi.identifiers, (end) => peer.notify("session/stream_end", end));
		const client: ClientSide = {
			codec: () => this.#codec,
			answers: () => this.#answers,
			tools: () => [...this.#tools.values()],
			eventId: () => kernelApi.identifiers.uuid(),
			now: () => kernelApi.clock.now(),
			streams,
		};
		this.#sessions = new ClientSessions(kernelApi, peer, client);
		const turns = new TurnMethods(this.#sessions);
		const sessions = new SessionMethods(this.#sessions, turns, streams, () => config.read(), realm !== null);
		const rows = [
			...this.#handshakeRows(),
			...sessions.rows,
			...turns.rows,
			...new McpMethods(this.#sessions).rows,
			...config.rows,
		];
		const realmId = toRealmId(realm);
		this.methods = new Map<string, Method>(rows.map(([name, method]) => [name, inRealm(realmId, method)]));
	}

	abortPending(): void {
		// Open requests end with their turns.
	}

	drained(): Promise<void> {
		return this.#sessions.drained();
	}

	#handshakeRows(): readonly (readonly [string, Method])[] {
		return [
			["initialize", defineMethod({ ...shapes.initialize, handle: async (params) => this.#initialize(params) })],
			// Needs no action.
			["initialized", defineMethod({ ...shapes.initialized, handle: async () => {} })],
			[
				"capabilities/get",
				defineMethod({ ...shapes["capabilities/get"], handle: async () => this.#describeCapabilities() }),
			],
			["models/catalog", defineMethod({ ...shapes["models/catalog"], handle: () => this.#describeModels() })],
			[
				"skills/list",
				defineMethod({
					...shapes["skills/list"],
					handle: async () => toSkillsList(await this.#kernelApi.sessions.skills()),
				}),
			],
			[
				"tools/register",
				defineMethod({
					...shapes["tools/register"],
					handle: async ({ tools }) => {
						this.#addTools(tools);
						return { registered: tools.length };
					},
				}),
			],
		];
	}

	/** Optional, at any time. Its declarations apply to sessions that are first used later. */
	#initialize({ requests, tools }: InitializeParams): InitializeResult {
		this.#addTools(tools);
		this.#answers = new Set([...this.#answers, ...requestMethods.filter((method) => requests.includes(method))]);
		return {
			server_info: { name: serverName, version: this.#kernelApi.server.version },
			contract_version: versionText(this.#contract),
			methods: [...this.methods.keys()],
		};
	}

	/** Only clients of the current contract request capabilities; from then on they get its shapes. */
	#describeCapabilities(): CapabilitiesResult {
		this.#codec = this.#contractCodec;
		return { contract_version: inCapabilities(this.#contract), capabilities };
	}

	async #describeModels(): Promise<ModelsCatalogResult> {
		const { options, chosen } = await this.#kernelApi.sessions.models();
		const providers = new Map<string, ModelOption[]>();
		for (const option of options) providers.set(option.provider, [...(providers.get(option.provider) ?? []), option]);
		return {
			contract_version: inCapabilities(this.#contract),
			providers: [...providers].map(([provider, models]) => ({
				provider,
				default_model_id: (models.find(({ alias }) => alias === chosen) ?? models[0])?.alias ?? "",
				models: models.map(({ alias, name, maxContextSize, accepts }) => ({
					id: alias,
					display_name: name,
					context_window: maxContextSize,
					image_input: accepts.image,
				})),
			})),
		};
	}

	/** All or none: a session would refuse more, and declarations stay in memory. */
	#addTools(tools: readonly ToolDeclaration[]): void {
		const all = new Map(this.#tools);
		for (const tool of tools) all.set(tool.name, tool);
		if (all.size > maximumTools) {
			throw new KernelError(
				"invalid-input",
				`A client can register at most ${maximumTools} tools; these would make ${all.size}.`,
			);
		}
		for (const [name, tool] of all) this.#tools.set(name, tool);
	}
}
