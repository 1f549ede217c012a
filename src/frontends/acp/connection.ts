import * as v from "valibot";
import type { Peer } from "../../ports/rpc/connection.ts";
import type { MethodTable } from "../../ports/rpc/methods.ts";
import type { HostApi, SharedConnection } from "../shared/dialect.ts";
import { createMethodTable, done, type Handlers } from "../shared/method-table.ts";
import { CancellableRequests } from "./cancellable-requests.ts";
import { plainCodec } from "./codec.ts";
import { acpProtocol } from "./protocol.ts";
import type { AttachedClient } from "./sessions/client-side.ts";
import { SessionRequests } from "./sessions/session-requests.ts";
import { SignIn, signInMethods } from "./sign-in.ts";
import { type InitializeParams, type InitializeResult, initializeParamsSchema, servedVersion } from "./wire.ts";

const { methods: shapes } = acpProtocol;

const unknownClient: AttachedClient = {
	capabilities: v.parse(initializeParamsSchema, { protocolVersion: servedVersion }).clientCapabilities,
	info: null,
	createCodec: () => plainCodec,
};

export class AcpConnection implements SharedConnection {
	readonly methods: MethodTable;
	readonly #kernelApi: HostApi;
	readonly #sessions: SessionRequests;
	readonly #signIn: SignIn;
	readonly #requests = new CancellableRequests();
	#client: AttachedClient = unknownClient;

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

	leave(): void {
		this.#sessions.leave();
	}

	#handlers(): Handlers<typeof shapes> {
		const sessions = this.#sessions;
		const requests = this.#requests;
		return {
			initialize: (params) => this.#initialize(params),
			authenticate: ({ methodId }, _, id) => requests.run(id, (signal) => done(this.#signIn.run(methodId, id, signal))),
			logout: () => this.#signIn.signOut(),
			"session/new": (params, respond) =>
				sessions.openings.create(params, (sessionId, choices) => respond({ sessionId, ...choices.result() })),
			"session/load": (params, respond, id) =>
				requests.run(id, (signal) => sessions.openings.load(params, (_, choices) => respond(choices.result()), signal)),
			"session/resume": (params, respond) =>
				sessions.openings.resume(params, (_, choices) => respond(choices.result())),
			"session/list": (params) => sessions.list(params),
			"session/delete": ({ sessionId }) => done(sessions.delete(sessionId)),
			"session/close": ({ sessionId }) => done(sessions.close(sessionId)),
			"session/fork": (params, respond) =>
				sessions.openings.fork(params, (sessionId, choices) => respond({ sessionId, ...choices.result() })),
			"session/prompt": (params, _, id) => requests.run(id, (signal) => sessions.prompts.prompt(params, signal)),
			"session/cancel": ({ sessionId }) => sessions.prompts.cancel(sessionId),
			"session/set_mode": ({ sessionId, modeId }) =>
				done(sessions.access.using(sessionId, ({ choices }) => choices.setMode(modeId))),
			"session/set_config_option": ({ sessionId, configId, value }) =>
				sessions.access.using(sessionId, async ({ choices }) => {
					await choices.set(configId, value);
					return { configOptions: choices.options() };
				}),
			"_session/steering": (params) => sessions.steer(params),
			"_session/rewind": (params) => sessions.rewind(params),
			"$/cancel_request": async ({ requestId }) => requests.cancel(requestId),
		};
	}

	/** May be repeated; its capabilities apply to sessions first used later. */
	async #initialize({ clientCapabilities, clientInfo }: InitializeParams): Promise<InitializeResult> {
		this.#client = { ...unknownClient, capabilities: clientCapabilities, info: clientInfo };
		const { server, sessions, account } = this.#kernelApi;
		const { options, chosen } = await sessions.models();
		// Without a chosen model, the session's model decides.
		const accepts = options.find(({ alias }) => alias === chosen)?.accepts ?? { image: true, audio: false };
		return {
			protocolVersion: servedVersion,
			agentCapabilities: {
				loadSession: true,
				promptCapabilities: { image: accepts.image, audio: accepts.audio, embeddedContext: true },
				mcpCapabilities: { http: true, sse: true },
				sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, fork: {}, additionalDirectories: {} },
				auth: account === null ? {} : { logout: {} },
			},
			agentInfo: { name: server.name, title: server.name, version: server.version },
			authMethods: [...signInMethods(clientCapabilities)],
			_meta: { steering: { supported: true }, rewind: { supported: true } },
		};
	}
}
