// Serves a kernel to a front end in another process. A lost connection releases its resources; the sessions continue.

import type { Attachment, SessionApi, SessionHandle, SessionsApi } from "../api/kernel.ts";
import { aborted, never, unlessAborted } from "../base/abort.ts";
import { KernelError } from "../base/errors.ts";
import { textSize } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { Connection } from "../ports/rpc/connection.ts";
import { defineMethod, type Method } from "../ports/rpc/methods.ts";
import type { LineTransport } from "../ports/rpc/transport.ts";
import { closeInTime } from "./closing.ts";
import {
	connectionEnded,
	type NotificationName,
	type NotificationParams,
	notifications,
	type Params,
	type RequestName,
	type Result,
	remoteRules,
	requests,
} from "./protocol.ts";
import { remoteVersion } from "./remote-version.ts";

/** Maximum unanswered requests per front end: each attachment has one that waits for events. */
const maximumInFlight = 20_000;
/** Maximum open handles and streams per front end. */
const maximumOpen = 10_000;
/** Maximum closed streams that can still be read. */
const maximumClosed = 1000;
/** Maximum items per answer, and the text length that ends one. */
const itemsAtOnce = 256;
const sizeAtOnce = 1024 * 1024;

export interface ServeKernelOptions {
	readonly sessions: SessionsApi;
	readonly transport: LineTransport;
	readonly log: Log;
	/** Maps the error of a request. Default: unchanged. */
	readonly explain?: (thrown: unknown) => unknown;
	/** Aborting it ends serving as if the front end had disconnected. */
	readonly signal?: AbortSignal;
}

interface Stream {
	next(): Promise<Result<"stream.next">>;
	/** Resolves once everything delivered so far was consumed. */
	drained(): Promise<void>;
	/** Idempotent. Delivered data can still be read. */
	close(): void;
	/** Closes the stream and its source: reading has stopped. */
	abandon(): void;
}

type Requests = { readonly [N in RequestName]: (params: Params<N>) => Promise<Result<N>> };
type Notifications = { readonly [N in NotificationName]: (params: NotificationParams<N>) => void };

/** Serves until the front end disconnects, then releases all its resources. */
export async function serveKernel({ sessions, transport, log, explain, signal }: ServeKernelOptions): Promise<void> {
	const server = new KernelServer(sessions, () => transport.ready(), explain);
	const settings = { rules: remoteRules, methods: server.methods };
	const connection = new Connection(transport, {
		undecided: () => settings,
		choose: () => settings,
		maximumInFlight,
		log,
	});
	await unlessAborted(Promise.race([connection.serve(), aborted(transport.gone)]), signal ?? never);
	server.end();
	await connection.idle();
	await closeInTime(transport);
}

class KernelServer {
	readonly #sessions: SessionsApi;
	readonly #ready: () => Promise<void>;
	readonly #explain: (thrown: unknown) => unknown;
	readonly #handles = new Map<string, SessionHandle>();
	/** Loaded sessions with a handle or attachment of the front end, by name. */
	readonly #sessionsInUse = new Map<string, SessionApi>();
	readonly #uses = new Map<SessionApi, { readonly name: string; count: number }>();
	readonly #streams = new Map<string, Stream>();
	/** Closed streams not fully read, oldest first. */
	readonly #closed = new Set<string>();
	#names = 0;
	readonly #over = new AbortController();

	readonly #requests: Requests = {
		hello: async ({ version }) => {
			if (version === remoteVersion) return { version };
			throw new KernelError(
				"unsupported",
				`The kernel speaks version ${remoteVersion} of this protocol, not ${version}: run the same version of the program on both sides.`,
			);
		},
		"sessions.create": async ({ options }) => {
			this.#refuseMore(this.#handles.size, "sessions in use");
			return this.#toAcquired(await this.#sessions.create(options));
		},
		"sessions.acquire": async ({ id, options }) => {
			this.#refuseMore(this.#handles.size, "sessions in use");
			return this.#toAcquired(await this.#sessions.acquire(id, options));
		},
		"sessions.fork": ({ id, options }) => this.#sessions.fork(id, options),
		"sessions.loaded": async () => [...(await this.#sessions.loaded())],
		"sessions.list": ({ query }) => this.#sessions.list(query),
		"sessions.stored-events": async ({ workDir, id }) => {
			this.#refuseMore(this.#streams.size, "streams");
			return { stream: this.#open(toItemStream(this.#sessions.storedEvents({ workDir, id }))) };
		},
		"sessions.models": () => this.#sessions.models(),
		"sessions.skills": async () => [...(await this.#sessions.skills())],
		"sessions.skill-text": ({ name }) => this.#sessions.skillText(name),
		"sessions.interrupt": ({ id }) => this.#sessions.interrupt(id),
		"sessions.archive": async ({ id }) => nothing(await this.#sessions.archive(id)),
		"sessions.unarchive": async ({ id }) => nothing(await this.#sessions.unarchive(id)),
		"sessions.unload": async ({ id }) => nothing(await this.#sessions.unload(id)),
		"sessions.delete": async ({ id }) => nothing(await this.#sessions.delete(id)),
		"sessions.stop": async () => nothing(await this.#sessions.stop()),
		"handle.start-turn": ({ handle, input, options }) => this.#handle(handle).startTurn(input, options),
		"handle.discard": async ({ handle: name }) => {
			const handle = this.#handle(name);
			this.#forgetHandle(name);
			return nothing(await handle.discard());
		},
		"session.send": ({ session: name, command }) => {
			const value = this.#session(name).send(command);
			// A front end that is gone reads no answer: the connection need not wait for it.
			return command.type === "tasks.wait" ? unlessAborted(value, this.#over.signal) : value;
		},
		"session.attach": async ({ session: name, options }) => {
			const session = this.#session(name);
			this.#refuseMore(this.#streams.size, "streams");
			// The session keeps its name even if its last handle is released meanwhile.
			this.#use(session);
			try {
				const attachment = await session.attach(options);
				const { id, snapshot, tools } = attachment;
				const stream = this.#open(toEventStream(attachment, () => this.#unuse(session)));
				return { id, snapshot, tools, stream };
			} catch (thrown) {
				this.#unuse(session);
				throw thrown;
			}
		},
		"session.snapshot": ({ session: name }) => this.#session(name).snapshot(),
		"session.conversation": async ({ session: name }) => {
			this.#refuseMore(this.#streams.size, "streams");
			const { systemPrompt, messages } = await this.#session(name).conversation();
			return { systemPrompt, stream: this.#open(toItemStream([messages])) };
		},
		"session.events": async ({ session: name, after }) => {
			this.#refuseMore(this.#streams.size, "streams");
			return { stream: this.#open(toItemStream(this.#session(name).events(after))) };
		},
		"session.stop": async ({ session: name }) => nothing(await this.#session(name).stop()),
		"stream.next": async ({ stream: name }) => {
			await this.#ready();
			const stream = this.#streams.get(name);
			// A closed stream, dropped because it was not read for long.
			if (stream === undefined) return { items: [], ended: true };
			const answer = await stream.next();
			if (answer.ended) this.#forgetStream(name);
			return answer;
		},
		"stream.drained": async ({ stream }) => nothing(await this.#streams.get(stream)?.drained()),
	};

	readonly #notifications: Notifications = {
		"handle.release": ({ handle }) => {
			this.#handles.get(handle)?.release();
			this.#forgetHandle(handle);
		},
		"session.fail": ({ session, message }) => this.#sessionsInUse.get(session)?.fail(new Error(message)),
		"stream.close": ({ stream }) => this.#close(stream),
	};

	readonly methods: ReadonlyMap<string, Method>;

	/** `ready` resolves when the front end has read most of its queue; `explain` comes from the options. */
	constructor(sessions: SessionsApi, ready: () => Promise<void>, explain: ServeKernelOptions["explain"]) {
		this.#sessions = sessions;
		this.#ready = ready;
		this.#explain = (thrown) => {
			if (this.#over.signal.aborted && thrown instanceof KernelError && thrown.code === "closed")
				return connectionEnded();
			return explain === undefined ? thrown : explain(thrown);
		};
		this.methods = new Map([
			...namesOf(requests).map((name) => [name, toRequest(name, this.#requests, this.#explain)] as const),
			...namesOf(notifications).map((name) => [name, toNotification(name, this.#notifications)] as const),
		]);
	}

	end(): void {
		this.#over.abort();
		for (const stream of this.#streams.values()) stream.abandon();
		for (const handle of this.#handles.values()) handle.release();
		this.#streams.clear();
		this.#handles.clear();
		this.#uses.clear();
		this.#sessionsInUse.clear();
	}

	#toAcquired(handle: SessionHandle): Result<"sessions.acquire"> {
		const { session, info } = handle;
		const name = this.#newName();
		if (this.#over.signal.aborted || this.#handles.size >= maximumOpen) {
			handle.release();
			this.#refuseMore(this.#handles.size, "sessions in use");
		}
		this.#handles.set(name, handle);
		const { id, workDir } = session;
		return { handle: name, session: this.#use(session), id, workDir, info };
	}

	/** Adds a use of a loaded session. Returns its name. */
	#use(session: SessionApi): string {
		const use = this.#uses.get(session) ?? { name: this.#newName(), count: 0 };
		use.count += 1;
		this.#uses.set(session, use);
		this.#sessionsInUse.set(use.name, session);
		return use.name;
	}

	#unuse(session: SessionApi): void {
		const use = this.#uses.get(session);
		if (use === undefined) return;
		use.count -= 1;
		if (use.count > 0) return;
		this.#uses.delete(session);
		this.#sessionsInUse.delete(use.name);
	}

	#forgetHandle(name: string): void {
		const handle = this.#handles.get(name);
		if (this.#handles.delete(name) && handle !== undefined) this.#unuse(handle.session);
	}

	#forgetStream(name: string): void {
		this.#streams.get(name)?.abandon();
		this.#streams.delete(name);
		this.#closed.delete(name);
	}

	#handle(name: string): SessionHandle {
		const handle = this.#handles.get(name);
		if (handle === undefined) throw released();
		return handle;
	}

	#session(name: string): SessionApi {
		const session = this.#sessionsInUse.get(name);
		if (session === undefined) throw released();
		return session;
	}

	#open(stream: Stream): string {
		const name = this.#newName();
		this.#streams.set(name, stream);
		if (this.#over.signal.aborted) stream.abandon();
		return name;
	}

	/** Delivered data can still be read, but only a limited number of closed streams are kept. */
	#close(name: string): void {
		const stream = this.#streams.get(name);
		if (stream === undefined) return;
		stream.close();
		this.#closed.add(name);
		const [oldest] = this.#closed;
		if (this.#closed.size > maximumClosed && oldest !== undefined) this.#forgetStream(oldest);
	}

	#refuseMore(count: number, what: string): void {
		if (this.#over.signal.aborted) throw connectionEnded();
		if (count < maximumOpen) return;
		throw new KernelError("overloaded", `One front end may have at most ${maximumOpen} ${what}.`);
	}

	#newName(): string {
		this.#names += 1;
		return String(this.#names);
	}
}

function released(): KernelError {
	return new KernelError("closed", "The session was released.");
}

function nothing(_done: unknown): null {
	return null;
}

function namesOf<Name extends string>(declared: Readonly<Record<Name, unknown>>): readonly Name[] {
	// The keys of an object literal are those of its type.
	return Object.keys(declared) as Name[];
}

function toRequest<N extends RequestName>(name: N, handlers: Requests, explain: (thrown: unknown) => unknown): Method {
	const handle: Requests[N] = handlers[name];
	return defineMethod({
		params: requests[name].params,
		handle: async (params) => {
			try {
				return await handle(params);
			} catch (thrown) {
				throw explain(thrown);
			}
		},
	});
}

function toNotification<N extends NotificationName>(name: N, handlers: Notifications): Method {
	const handle: Notifications[N] = handlers[name];
	return defineMethod({
		params: notifications[name],
		actsOn: "notifications",
		handle: async (params) => handle(params),
	});
}

/** `onClose` is called once: when the client detaches or its events end. */
function toEventStream({ events, drained, close }: Attachment, onClose: () => void): Stream {
	const reader = events[Symbol.asyncIterator]();
	let isClosed = false;
	const closeOnce = () => {
		if (isClosed) return;
		isClosed = true;
		close();
		onClose();
	};
	return {
		async next() {
			const { value, done } = await reader.next();
			return done === true ? { items: [], ended: true } : { items: [...value], ended: false };
		},
		drained,
		close: closeOnce,
		abandon() {
			closeOnce();
			// Reading back may have the journal open.
			void reader.return?.().catch(() => undefined);
		},
	};
}

type Batches = Iterable<readonly unknown[]> | AsyncIterable<readonly unknown[]>;

/** Regroups items into small batches, unless a single item is large. */
function toItemStream(batches: Batches): Stream {
	const reader = Symbol.asyncIterator in batches ? batches[Symbol.asyncIterator]() : batches[Symbol.iterator]();
	let isClosed = false;
	let read: readonly unknown[] = [];
	/** Number of read items in delivered batches. */
	let taken = 0;
	const close = (): void => {
		isClosed = true;
		void reader.return?.();
	};
	return {
		async next() {
			const items: unknown[] = [];
			for (let size = 0; items.length < itemsAtOnce && size < sizeAtOnce; ) {
				if (isClosed) return { items, ended: true };
				if (taken === read.length) {
					const next = await reader.next();
					if (next.done === true) return { items, ended: true };
					read = next.value;
					taken = 0;
				} else {
					const item = read[taken];
					taken += 1;
					items.push(item);
					size += textSize(item);
				}
			}
			return { items, ended: false };
		},
		drained: async () => {},
		close,
		abandon: close,
	};
}
