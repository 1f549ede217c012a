// Requests are POSTs, events are server-sent events; access is checked before a request is processed.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { SessionsApi } from "../../api/kernel.ts";
import type { Clock } from "../../base/clock.ts";
import { toKernelError } from "../../base/errors.ts";
import { parseJsonFile } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import { type CallOrigin, readParams, withSession } from "../shared/public-operations.ts";
import { AccessControl, hostNames } from "./access/access.ts";
import { TokenWatch } from "./access/token-watch.ts";
import type { Tokens } from "./access/tokens.ts";
import { acceptChat, carryChat, chatHeaders, findRunningTurn } from "./chat/chat.ts";
import { readHistory } from "./history.ts";
import { HttpServer, type TlsFiles } from "./http-server.ts";
import { type CallMethod, createMethods, type FindDirectories, type ListWorkers } from "./methods.ts";
import { type Operations, sendHealth, sendText, toHealthPath } from "./operations.ts";
import { type PageFiles, sendPageFile } from "./page.ts";
import { answerBodySchema, attachOperation } from "./protocol.ts";
import { PromptQueues } from "./queues/prompt-queues.ts";
import type { QueueStore } from "./queues/queue-store.ts";
import { Bodies, HttpRefusal, sendJson, sendRefusal, toStatus } from "./replies.ts";
import { decoded, readPageRequest, readStreamOptions, toFacts } from "./requests.ts";
import { type RequestTrace, RpcRequests } from "./rpc-requests.ts";
import type { Setup } from "./setup.ts";
import { authorizationOf, offeredProtocols, readTarget } from "./sockets/handshake.ts";
import type { Converse, Sockets } from "./sockets/sockets.ts";
import { carryEvents, type StreamOptions } from "./streams/event-stream.ts";
import { OpenStreams, type StreamRequest } from "./streams/open-streams.ts";

export const connectionLimit = 1024;
/** Milliseconds for a client to send its headers, and its whole request. */
const headersTime = 10_000;
const requestTime = 120_000;
/** Milliseconds at shutdown for pending answers and WebSocket close handshakes. */
const lastAnswerTime = 500;

export interface GatewayOptions {
	readonly sessions: SessionsApi;
	/** The workers that run the sessions; absent if this process does. */
	readonly workers?: ListWorkers;
	readonly server: { readonly name: string; readonly version: string };
	readonly address: string;
	readonly port: number;
	readonly names: readonly string[];
	/** PEM texts; null for plain HTTP. */
	readonly tls: TlsFiles | null;
	readonly tokens: Tokens;
	readonly queues: QueueStore;
	readonly setup: Setup | null;
	/** Completes directory paths; absent if the sessions run on another machine. */
	readonly findDirectories?: FindDirectories;
	readonly page: PageFiles | null;
	readonly converse: Converse;
	readonly operations?: Operations;
	/** Starts a request's trace, with its `traceparent` header; absent for none. */
	readonly trace?: (method: string, parent: string | null) => RequestTrace;
	readonly clock: Clock;
	readonly log: Log;
}

export interface Gateway {
	readonly port: number;
	/** Ends the streams and refuses new requests; resolves when complete requests are answered, or soon after. */
	close(): Promise<void>;
}

interface Visit extends StreamRequest {
	readonly path: string;
	readonly query: string;
}

/** Starts to listen. Fails with the system error if the address is unusable. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
	const visits = new Visits(options);
	const server = new HttpServer({
		tls: options.tls,
		times: { headers: headersTime, request: requestTime },
		connectionLimit,
		clock: options.clock,
		onRequest: (request, response) => void visits.receive(request, response),
		onUpgrade: (request, stream, head) => void visits.upgrade(request, stream, head),
		onError: (error) => options.log.error("The gateway's server failed.", { error }),
	});
	const port = await server.listen(options.port, options.address);
	visits.open(hostNames(options.address, port, options.names, options.tls !== null));
	return {
		port,
		async close() {
			visits.close();
			await server.close(lastAnswerTime);
		},
	};
}

class Visits {
	readonly #options: GatewayOptions;
	readonly #call: CallMethod;
	readonly #queues: PromptQueues;
	readonly #bodies = new Bodies();
	readonly #calls: RpcRequests;
	readonly #tokenWatch: TokenWatch;
	readonly #streams: OpenStreams;
	#access: AccessControl | null = null;
	/** Loaded for the first WebSocket client. */
	#sockets: Promise<Sockets> | null = null;
	#isClosed = false;

	constructor(options: GatewayOptions) {
		this.#options = options;
		const { sessions, queues: store, clock, log } = options;
		this.#queues = new PromptQueues({ sessions, store, clock, log });
		this.#call = createMethods({ ...options, queues: this.#queues });
		this.#calls = new RpcRequests({
			...options,
			call: this.#call,
			noteFailure: (thrown) => this.#noteInternal(thrown),
		});
		this.#tokenWatch = new TokenWatch(options.tokens, options.clock);
		this.#streams = new OpenStreams(this.#tokenWatch);
	}

	open(hosts: ReadonlySet<string>): void {
		const { tokens, clock } = this.#options;
		this.#access = new AccessControl({ hosts, tokens, now: () => clock.monotonic() });
	}

	close(): void {
		this.#isClosed = true;
		this.#queues.close();
		this.#streams.close();
		void this.#sockets?.then((sockets) => sockets.close());
	}

	async upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
		stream.on("error", () => {});
		try {
			const offered = offeredProtocols(request.headers["sec-websocket-protocol"]);
			const { scope, token, path, query } = await this.#letIn(request, authorizationOf(offered));
			const target = readTarget(path, query);
			if (scope !== "control") throw new HttpRefusal(403, "This token may only observe; /events shows what happens.");
			const sockets = await this.#loadSockets();
			await sockets.serve(target, token, request, stream, head);
		} catch (thrown) {
			if (thrown instanceof HttpRefusal) return sendRefusal(stream, thrown);
			this.#noteInternal(thrown);
			const error = toKernelError(thrown);
			sendRefusal(stream, new HttpRefusal(toStatus(error), error.message));
		}
	}

	async #loadSockets(): Promise<Sockets> {
		this.#sockets ??= import("./sockets/sockets.ts").then(
			({ Sockets }) =>
				new Sockets({
					...this.#options,
					// Only tokens with the control scope are admitted.
					watchToken: (token, onRevoked) => this.#tokenWatch.watch(token, "control", onRevoked),
				}),
		);
		const sockets = await this.#sockets;
		if (this.#isClosed) sockets.close();
		return sockets;
	}

	async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
		// A broken connection ends its stream; nothing else to do.
		response.on("error", () => {});
		try {
			const { operations } = this.#options;
			if (operations !== undefined && toHealthPath(request) !== null) {
				return await this.#answerHealth(request, response, operations);
			}
			if (this.#sendPage(request, response)) return;
			await this.#route({ ...(await this.#letIn(request, null)), request, response });
		} catch (thrown) {
			this.#refuse(response, thrown);
		} finally {
			// Unread data of a refused request would prevent the connection's reuse.
			if (!request.complete) request.resume();
		}
	}

	/** The health check, for all clients that use an accepted host name. */
	async #answerHealth(request: IncomingMessage, response: ServerResponse, operations: Operations): Promise<void> {
		const misplaced = this.#access?.checkPlace(toFacts(request)) ?? null;
		if (misplaced !== null) throw new HttpRefusal(misplaced.status, misplaced.text);
		const isWell = toHealthPath(request) === "/healthz" || (!this.#isClosed && (await operations.isReady()));
		sendHealth(request, response, isWell);
	}

	async #answerMetrics({ response }: Visit): Promise<void> {
		const { operations } = this.#options;
		if (operations === undefined) throw new HttpRefusal(404, "This server has no metrics.");
		const streams = this.#streams.count;
		const sockets = (await this.#sockets)?.count ?? 0;
		const { type, text } = await operations.metrics({ streams, clients: streams + sockets });
		sendText(response, 200, type, text);
	}

	#sendPage(request: IncomingMessage, response: ServerResponse): boolean {
		const { page } = this.#options;
		if (page === null || this.#access === null || this.#access.checkPlace(toFacts(request)) !== null) return false;
		return sendPageFile(page, request, response);
	}

	/** Authenticates and authorizes a request; `offered` is an authorization from outside the header. */
	async #letIn(request: IncomingMessage, offered: string | null): Promise<Omit<Visit, "request" | "response">> {
		const [path = "", ...query] = (request.url ?? "").split("?");
		if (this.#access === null) throw new HttpRefusal(503, "The server is starting.");
		const facts = toFacts(request);
		const access = await this.#access.check({ ...facts, authorization: facts.authorization ?? offered });
		if (access.kind === "refused") {
			throw new HttpRefusal(access.status, access.text, {
				...(access.status === 401 ? { "www-authenticate": "Bearer" } : {}),
				// Refused clients must not hold a connection by sending the rest of the request slowly.
				connection: "close",
			});
		}
		const { scope, token } = access;
		return { scope, token, path, query: query.join("?") };
	}

	async #route(visit: Visit): Promise<void> {
		const { path, request } = visit;
		const [, sessionId] = /^\/sessions\/([^/]+)\/history$/.exec(path) ?? [];
		const [, interactionId] = /^\/interactions\/([^/]+)$/.exec(path) ?? [];
		if (path === "/rpc") return await this.#only("POST", request, () => this.#answerCall(visit));
		if (path === "/metrics") return await this.#only("GET", request, () => this.#answerMetrics(visit));
		if (path === "/events" && request.method === "POST") return await this.#streamBody(visit);
		if (path === "/events")
			return await this.#only("GET", request, () => this.#streamEvents(visit, this.#streamOptions(visit)));
		if (path === "/api/chat") return await this.#only("POST", request, () => this.#chat(visit));
		const [, chatId, chatPath] = /^\/api\/chat\/([^/]+)\/(stream|stop)$/.exec(path) ?? [];
		if (chatId !== undefined) {
			if (chatPath === "stop") return await this.#only("POST", request, () => this.#stopChat(visit, decoded(chatId)));
			return await this.#only("GET", request, () => this.#resumeChat(visit, decoded(chatId)));
		}
		if (sessionId !== undefined) {
			return await this.#only("GET", request, () => this.#answerHistory(visit, decoded(sessionId)));
		}
		if (interactionId !== undefined) {
			return await this.#only("POST", request, () => this.#answerInteraction(visit, decoded(interactionId)));
		}
		if (path === "/acp" || path === "/wire") {
			throw new HttpRefusal(426, "This path is for WebSockets.", { upgrade: "websocket", connection: "Upgrade" });
		}
		throw new HttpRefusal(
			404,
			"Nothing at this path. Available: /rpc, /events, /sessions/ID/history, /interactions/ID, /api/chat, /metrics, /healthz and /readyz, and for WebSockets /acp and /wire.",
		);
	}

	async #only(method: "GET" | "POST", request: IncomingMessage, answer: () => Promise<void>): Promise<void> {
		if (request.method === method) return await answer();
		throw new HttpRefusal(405, `This path accepts only ${method}.`, { allow: method });
	}

	#answerCall({ request, response, scope, token }: Visit): Promise<void> {
		return this.#bodies.use(request, (body) => this.#calls.answer({ request, response, scope, token, body }));
	}

	async #answerHistory({ response, query }: Visit, sessionId: string): Promise<void> {
		const page = readPageRequest(query);
		const { sessions } = this.#options;
		const history = await withSession(sessions, sessionId, { archived: true }, ({ session }) =>
			readHistory(session, page),
		);
		sendJson(response, 200, history);
	}

	#answerInteraction(visit: Visit, interactionId: string): Promise<void> {
		const origin = requireControl(visit);
		return this.#bodies.use(visit.request, async (bytes) => {
			const answer = readParams(answerBodySchema, parseBody(bytes), "An answer");
			sendJson(visit.response, 200, await this.#call("interaction.respond", { ...answer, interactionId }, origin));
		});
	}

	#streamOptions({ request, scope, query }: Visit): StreamOptions {
		const { "last-event-id": last } = request.headers;
		return readStreamOptions(query, typeof last === "string" ? last : null, scope);
	}

	async #streamBody(visit: Visit): Promise<void> {
		const params = await this.#bodies.use(visit.request, async (bytes) =>
			readParams(attachOperation.params, parseBody(bytes), "session.attach"),
		);
		await this.#streamEvents(visit, { attachments: [params], scope: visit.scope });
	}

	#streamEvents(visit: Visit, options: StreamOptions): Promise<void> {
		const parts = { ...this.#options, queues: this.#queues };
		return this.#streams.answer(visit, (sink) => carryEvents(options, parts, sink));
	}

	async #chat(visit: Visit): Promise<void> {
		requireControl(visit);
		const parts = { ...this.#options, call: this.#call };
		const place = await this.#bodies.use(visit.request, (bytes) => acceptChat(parseBody(bytes), parts));
		await this.#streams.answer(visit, (sink) => carryChat(place, visit.scope, parts, sink), chatHeaders);
	}

	async #resumeChat(visit: Visit, sessionId: string): Promise<void> {
		const place = await findRunningTurn(sessionId, this.#options.sessions);
		if (place === null) {
			visit.response.writeHead(204).end();
			return;
		}
		const parts = { ...this.#options, call: this.#call };
		await this.#streams.answer(visit, (sink) => carryChat(place, visit.scope, parts, sink), chatHeaders);
	}

	async #stopChat(visit: Visit, sessionId: string): Promise<void> {
		const isStopped = await this.#call("turn.cancel", { sessionId }, requireControl(visit)).then(
			() => true,
			(thrown: unknown) => {
				if (toKernelError(thrown).code === "no-turn") return false;
				throw thrown;
			},
		);
		sendJson(visit.response, 200, { stopped: isStopped });
	}

	#refuse(response: ServerResponse, thrown: unknown): void {
		if (thrown instanceof HttpRefusal) {
			sendJson(response, thrown.status, { error: thrown.message }, thrown.headers);
			return;
		}
		this.#noteInternal(thrown);
		const error = toKernelError(thrown);
		sendJson(response, toStatus(error), { error: error.message, code: error.code });
	}

	#noteInternal(thrown: unknown): void {
		if (toKernelError(thrown).code === "internal")
			this.#options.log.error("A request to the gateway failed.", { error: thrown });
	}
}

function requireControl({ scope }: Visit): CallOrigin {
	if (scope !== "control") throw new HttpRefusal(403, "This token may only observe.");
	return { scope, turnKey: null, trace: null };
}

function parseBody(bytes: Buffer): unknown {
	try {
		return parseJsonFile(bytes);
	} catch {
		throw new HttpRefusal(400, "The body is not JSON.");
	}
}
