import * as v from "valibot";
import type { Peer } from "../../ports/rpc/connection.ts";
import type { RpcId } from "../../ports/rpc/envelope.ts";
import { defineMethod, type Method, type MethodTable } from "../../ports/rpc/methods.ts";
import type { HostApi, SharedConnection } from "../shared/dialect.ts";
import { CancellableRequests } from "./cancellable-requests.ts";
import { plainCodec } from "./codec.ts";
import { acpProtocol } from "./protocol.ts";
import type { AttachedClient } from "./sessions/attached-session.ts";
import { SessionRequests } from "./sessions/session-requests.ts";
import { SignIn, signInMethods } from "./sign-in.ts";
import { type InitializeParams, type InitializeResult, initializeParamsSchema, servedVersion } from "./wire.ts";

const { methods: shapes } = acpProtocol;

const unknownClient: AttachedClient = {
	capabilities: v.parse(initializeParamsSchema, { protocolVersion: servedVersion }).clientCapabilities,
	info: null,
	createCodec: () => plainCodec,
};

async function done(work: Promise<void>): Promise<Record<string, never>> {
	await work;
	return {};
}

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
		this.#sessions = new SessionRequests(kernelApi, peer, client, this.#requests);
		this.#signIn = new SignIn(kernelApi, peer, client);
		this.methods = new Map<string, Method>([...this.#rows(), ...this.#sessionRows()]);
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

	#rows(): readonly (readonly [string, Method])[] {
		return [
			["initialize", defineMethod({ ...shapes.initialize, handle: (params) => this.#initialize(params) })],
			[
				"authenticate",
				defineMethod({
					...shapes.authenticate,
					handle: ({ methodId }, _respond, id) =>
						this.#requests.run(id, (signal) => this.#authenticate(methodId, id, signal)),
				}),
			],
			["logout", defineMethod({ ...shapes.logout, handle: () => this.#signIn.signOut() })],
			[
				"$/cancel_request",
				defineMethod({
					...shapes["$/cancel_request"],
					handle: async ({ requestId }) => {
						if (requestId !== null) this.#requests.cancel(requestId);
					},
				}),
			],
		];
	}

	#sessionRows(): readonly (readonly [string, Method])[] {
		const sessions = this.#sessions;
		return [
			[
				"session/new",
				defineMethod({
					...shapes["session/new"],
					handle: (params, respond) =>
						sessions.create(params, (sessionId, choices) => respond({ sessionId, ...choices.result() })),
				}),
			],
			[
				"session/load",
				defineMethod({
					...shapes["session/load"],
					handle: (params, respond, id) => sessions.open(params, true, (_, choices) => respond(choices.result()), id),
				}),
			],
			[
				"session/resume",
				defineMethod({
					...shapes["session/resume"],
					handle: (params, respond, id) => sessions.open(params, false, (_, choices) => respond(choices.result()), id),
				}),
			],
			["session/list", defineMethod({ ...shapes["session/list"], handle: (params) => sessions.list(params) })],
			[
				"session/delete",
				defineMethod({ ...shapes["session/delete"], handle: ({ sessionId }) => done(sessions.delete(sessionId)) }),
			],
			[
				"session/close",
				defineMethod({ ...shapes["session/close"], handle: ({ sessionId }) => done(sessions.close(sessionId)) }),
			],
			[
				"session/fork",
				defineMethod({
					...shapes["session/fork"],
					handle: (params, respond, id) =>
						sessions.fork(params, (sessionId, choices) => respond({ sessionId, ...choices.result() }), id),
				}),
			],
			[
				"session/prompt",
				defineMethod({
					...shapes["session/prompt"],
					handle: (params, _, id) => this.#requests.run(id, (signal) => sessions.prompt(params, signal)),
				}),
			],
			[
				"session/cancel",
				defineMethod({ ...shapes["session/cancel"], handle: ({ sessionId }) => sessions.cancel(sessionId) }),
			],
			[
				"session/set_mode",
				defineMethod({
					...shapes["session/set_mode"],
					handle: ({ sessionId, modeId }) => done(sessions.using(sessionId, ({ choices }) => choices.setMode(modeId))),
				}),
			],
			[
				"session/set_config_option",
				defineMethod({
					...shapes["session/set_config_option"],
					handle: ({ sessionId, configId, value }) =>
						sessions.using(sessionId, async ({ choices }) => {
							await choices.set(configId, value);
							return { configOptions: choices.options() };
						}),
				}),
			],
			[
				"_session/steering",
				defineMethod({ ...shapes["_session/steering"], handle: (params) => sessions.steer(params) }),
			],
			["_session/rewind", defineMethod({ ...shapes["_session/rewind"], handle: (params) => sessions.rewind(params) })],
		];
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

	async #authenticate(methodId: string, id: RpcId | null, signal: AbortSignal): Promise<Record<string, never>> {
		await this.#signIn.run(methodId, id, signal);
		return {};
	}
}
