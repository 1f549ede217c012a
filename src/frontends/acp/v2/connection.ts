import * as v from "valibot";
import type { Peer } from "../../../ports/rpc/connection.ts";
import type { MethodTable, Respond } from "../../../ports/rpc/methods.ts";
import type { DialectConnection, HostApi } from "../../shared/dialect.ts";
import { createMethodTable, done, type Handlers } from "../../shared/method-table.ts";
import { CancellableRequests } from "../cancellable-requests.ts";
import { RequestCancelledError, VersionError } from "../errors.ts";
import type { Choices } from "../sessions/choices.ts";
import type { AttachedClient } from "../sessions/client-side.ts";
import { SessionRequests } from "../sessions/session-requests.ts";
import { SignIn, signInMethods } from "../sign-in.ts";
import type { ClientCapabilities, PromptParams } from "../wire.ts";
import * as first from "../wire.ts";
import { createCodec, encodeOption } from "./codec.ts";
import { draftProtocol } from "./protocol.ts";
import * as wire from "./wire.ts";

const { methods: shapes } = draftProtocol;

function toCapabilities({ auth, elicitation }: wire.InitializeParams["capabilities"]): ClientCapabilities {
	return v.parse(first.clientCapabilitiesSchema, {
		session: { compaction: {}, notices: {}, configOptions: { boolean: {} } },
		auth: { terminal: auth.terminal },
		elicitation: { ...(elicitation.form ? { form: {} } : {}), ...(elicitation.url ? { url: {} } : {}) },
		_meta: { terminal_output: true },
	});
}

const unknownClient: AttachedClient = {
	capabilities: toCapabilities(
		v.parse(wire.initializeParamsSchema, { protocolVersion: wire.draftVersion }).capabilities,
	),
	info: null,
	createCodec,
};

export class DraftConnection implements DialectConnection {
	readonly methods: MethodTable;
	readonly #kernelApi: HostApi;
	readonly #sessions: SessionRequests;
	readonly #signIn: SignIn;
	readonly #requests = new CancellableRequests();
	#client = unknownClient;

	constructor(kernelApi: HostApi, peer: Peer) {
		this.#kernelApi = kernelApi;
		const client = () => this.#client;
		this.#sessions = new SessionRequests(kernelApi, peer, client);
		this.#signIn = new SignIn(kernelApi, peer, client);
		this.methods = createMethodTable(shapes, this.#handlers());
	}

	abortPending(): void {
		this.#requests.cancelAll();
	}

	drained(): Promise<void> {
		return this.#sessions.drained();
	}

	#handlers(): Handlers<typeof shapes> {
		const sessions = this.#sessions;
		const requests = this.#requests;
		return {
			initialize: (params) => this.#initialize(params),
			"auth/login": ({ methodId }, _, id) => requests.run(id, (signal) => done(this.#signIn.run(methodId, id, signal))),
			"auth/logout": () => this.#signIn.signOut(),
			"session/new": (params, respond) =>
				sessions.openings.create(params, (sessionId, choices) => respond({ sessionId, ...toResult(choices) })),
			"session/resume": ({ replayFrom, ...params }, respond, id) => {
				const answer = (_: string, choices: Choices) => respond(toResult(choices));
				if (replayFrom === null) return sessions.openings.resume(params, answer);
				return requests.run(id, (signal) => sessions.openings.load(params, answer, signal));
			},
			"session/list": (params) => sessions.list(params),
			"session/delete": ({ sessionId }) => done(sessions.delete(sessionId)),
			"session/close": ({ sessionId }) => done(sessions.close(sessionId)),
			"session/fork": (params, respond) =>
				sessions.openings.fork(params, (sessionId, choices) => respond({ sessionId, ...toResult(choices) })),
			"session/prompt": (params, respond, id) => requests.run(id, (signal) => this.#prompt(params, respond, signal)),
			"session/cancel": ({ sessionId }) => sessions.prompts.cancel(sessionId),
			"session/set_config_option": ({ sessionId, configId, value }) =>
				sessions.access.using(sessionId, async ({ choices }) => {
					await choices.set(configId, value);
					return toResult(choices);
				}),
			"$/cancel_request": async ({ requestId }) => requests.cancel(requestId),
		};
	}

	async #initialize({ protocolVersion, capabilities, info }: wire.InitializeParams): Promise<wire.InitializeResult> {
		if (protocolVersion < wire.draftVersion) throw new VersionError(protocolVersion, [wire.draftVersion]);
		this.#client = { ...unknownClient, capabilities: toCapabilities(capabilities), info };
		const { server, sessions } = this.#kernelApi;
		const { options, chosen } = await sessions.models();
		const { image, audio } = options.find(({ alias }) => alias === chosen)?.accepts ?? { image: true, audio: false };
		return {
			protocolVersion: wire.draftVersion,
			info: { name: server.name, title: server.name, version: server.version },
			capabilities: {
				session: {
					prompt: { ...(image ? { image: {} } : {}), ...(audio ? { audio: {} } : {}), embeddedContext: {} },
					mcp: { stdio: {}, http: {} },
					delete: {},
					fork: {},
					additionalDirectories: {},
				},
				auth: {},
			},
			authMethods: signInMethods(this.#client.capabilities).map(encodeAuthMethod),
		};
	}

	async #prompt(
		params: PromptParams,
		respond: Respond<{ readonly messageId: string }>,
		signal: AbortSignal,
	): Promise<void> {
		let isBegun = false;
		const begun = (messageId: string) => {
			isBegun = true;
			respond({ messageId });
		};
		try {
			await this.#sessions.prompts.prompt(params, signal, begun);
		} catch (thrown) {
			if (!isBegun) throw thrown;
			return;
		}
		if (!isBegun) throw new RequestCancelledError();
	}
}

function encodeAuthMethod({ id: methodId, name, description, type, args = [] }: first.AuthMethod): wire.AuthMethod {
	return type === undefined
		? { type: "agent", methodId, name, description }
		: { type, methodId, name, description, args };
}

const toResult = (choices: Choices): wire.ChoicesResult => ({ configOptions: choices.options().map(encodeOption) });
