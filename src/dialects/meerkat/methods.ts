// A conversation in Meerkat RPC: the table of its methods, the handshake, and what the client said of itself.
import type * as v from "valibot";
import type { Peer } from "../../rpc/connection.ts";
import type { EnvelopeRules } from "../../rpc/envelope.ts";
import { defineMethod, type Method, type MethodTable } from "../../rpc/methods.ts";
import type { Conversation, HostDoor } from "../dialect.ts";
import { ConfigMethods } from "./config-methods.ts";
import { capabilities, contractVersion } from "./contract.ts";
import { createRules } from "./envelope.ts";
import type { Era } from "./errors.ts";
import type { ClientSide } from "./hosted-session.ts";
import { SessionMethods } from "./session-methods.ts";
import {
	anyParamsSchema,
	initializeParamsSchema,
	type initializeResultSchema,
	type RequestMethod,
	requestMethods,
	type ToolDeclaration,
	toolsRegisterParamsSchema,
} from "./wire.ts";

/** The name that clients of the protocol look for. */
const serverName = "meerkat-rpc";

export class MeerkatConversation implements Conversation {
	readonly #door: HostDoor;
	readonly #sessions: SessionMethods;
	readonly methods: MethodTable;
	readonly rules: EnvelopeRules;
	#era: Era = "seed";
	#answers: ReadonlySet<RequestMethod> = new Set();
	readonly #tools = new Map<string, ToolDeclaration>();

	constructor(door: HostDoor, peer: Peer) {
		this.#door = door;
		this.rules = createRules(() => this.#era);
		const config = new ConfigMethods(door.documents, () => this.#era);
		const client: ClientSide = {
			era: () => this.#era,
			answers: () => this.#answers,
			tools: () => [...this.#tools.values()],
			eventId: () => door.identifiers.uuid(),
			now: () => door.clock.now(),
		};
		this.#sessions = new SessionMethods(door, peer, client, () => config.read());
		this.methods = new Map<string, Method>([...this.#handshakeRows(), ...this.#sessions.rows, ...config.rows]);
	}

	hurry(): void {
		// Its requests end with their turns.
	}

	drained(): Promise<void> {
		return this.#sessions.drained();
	}

	#handshakeRows(): readonly (readonly [string, Method])[] {
		return [
			[
				"initialize",
				defineMethod({ params: initializeParamsSchema, handle: async (params) => this.#initialize(params) }),
			],
			["capabilities/get", defineMethod({ params: anyParamsSchema, handle: async () => this.#describeCapabilities() })],
			[
				"tools/register",
				defineMethod({
					params: toolsRegisterParamsSchema,
					handle: async ({ tools }) => {
						this.#addTools(tools);
						return { registered: tools.length };
					},
				}),
			],
		];
	}

	/** May be sent at any time, or not at all. What it declares counts for sessions that are used for the first time later. */
	#initialize({
		requests,
		tools,
	}: v.InferOutput<typeof initializeParamsSchema>): v.InferOutput<typeof initializeResultSchema> {
		this.#answers = new Set([...this.#answers, ...requestMethods.filter((method) => requests.includes(method))]);
		this.#addTools(tools);
		return {
			server_info: { name: serverName, version: this.#door.server.version },
			contract_version: contractVersion,
			methods: [...this.methods.keys()],
		};
	}

	/** Only clients of the present contract ask; from here on they get its shapes. */
	#describeCapabilities(): object {
		this.#era = "contract";
		return { contract_version: contractVersion, capabilities };
	}

	#addTools(tools: readonly ToolDeclaration[]): void {
		for (const tool of tools) this.#tools.set(tool.name, tool);
	}
}
