// Serves a kernel to a front end in another process: answers its requests with the kernel API, and gives back what the
// front end used when the connection is lost. A session goes on without it.
import { aborted } from "../base/abort.ts";
import { KernelError } from "../base/errors.ts";
import { textSize } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { Attachment, SessionApi, SessionHandle, SessionsApi } from "../kernel/api.ts";
import { Connection } from "../rpc/connection.ts";
import { defineMethod, type Method } from "../rpc/methods.ts";
import type { LineTransport } from "../rpc/transport.ts";
import {
	type NotificationName,
	type NotificationParams,
	notifications,
	type Params,
	type RequestName,
	type Result,
	remoteRules,
	remoteVersion,
	requests,
} from "./protocol.ts";

/** Requests of one front end that may be unanswered: each attachment has one that waits for events. */
const maximumInFlight = 20_000;
/** Handles, and streams, that one front end may have open. */
const maximumOpen = 10_000;
/** Streams that were closed and not read to their end. */
const maximumClosed = 100;
/** Items of one answer, and the characters of their texts after which it gets no more. */
const itemsAtOnce = 256;
const sizeAtOnce = 1024 * 1024;

export interface ServeKernelOptions {
	readonly sessions: SessionsApi;
	readonly transport: LineTransport;
	readonly log: Log;
}

/** What the front end reads bit by bit. */
interface Stream {
	next(): Promise<Result<"stream.next">>;
	/** Resolves once everything delivered so far was consumed. */
	drained(): Promise<void>;
	close(): void;
}

type Requests = { readonly [N in RequestName]: (params: Params<N>) => Promise<Result<N>> };
type Notifications = { readonly [N in NotificationName]: (params: NotificationParams<N>) => void };

/** Serves until the front end is gone; then everything that it used is given back. */
export async function serveKernel({ sessions, transport, log }: ServeKernelOptions): Promise<void> {
	const server = new KernelServer(sessions);
	const settings = { rules: remoteRules, methods: server.methods };
	const connection = new Connection(transport, {
		undecided: () => settings,
		choose: () => settings,
		maximumInFlight,
		log,
	});
	await Promise.race([connection.serve(), aborted(transport.gone)]);
	server.end();
	await connection.idle();
	await transport.flush();
	transport.close();
}

class KernelServer {
	readonly #sessions: SessionsApi;
	readonly #handles = new Map<string, SessionHandle>();
	readonly #streams = new Map<string, Stream>();
	/** The streams that were closed, oldest first; some have ended since. */
	readonly #closed: string[] = [];
	readonly #waits = new Map<string, AbortController>();
	#names = 0;
	#isOver = false;

	readonly #requests: Requests = {
		hello: async ({ version }) => {
			if (version === remoteVersion) return { version };
			throw new KernelError(
				"unsupported",
				`The kernel speaks version ${remoteVersion} of this protocol, not ${version}: run the same version of the program on both sides.`,
			);
		},
		"sessions.create": async ({ options }) => this.#toAcquired(await this.#sessions.create(options)),
		"sessions.acquire": async ({ id, options }) => this.#toAcquired(await this.#sessions.acquire(id, options)),
		"sessions.loaded": async () => [...(await this.#sessions.loaded())],
		"sessions.list": ({ query }) => this.#sessions.list(query),
		"sessions.interrupt": ({ id }) => this.#sessions.interrupt(id),
		"sessions.archive": async ({ id }) => nothing(await this.#sessions.archive(id)),
		"sessions.stop": async () => nothing(await this.#sessions.stop()),
		"handle.start-turn": ({ handle, input }) => this.#handle(handle).startTurn(input),
		"handle.discard": async ({ handle: name }) => {
			const handle = this.#handle(name);
			this.#handles.delete(name);
			return nothing(await handle.discard());
		},
		"session.send": ({ handle, command }) => this.#session(handle).send(command),
		"session.description": ({ handle }) => this.#session(handle).description(),
		"session.attach": async ({ handle, options }) => {
			const session = this.#session(handle);
			this.#refuseMore(this.#streams.size, "streams");
			const attachment = await session.attach(options);
			const { id, snapshot, tools } = attachment;
			return { id, snapshot, tools, stream: this.#open(toEventStream(attachment)) };
		},
		"session.snapshot": ({ handle }) => this.#session(handle).snapshot(),
		"session.conversation": async ({ handle }) => {
			const { systemPrompt, messages } = await this.#session(handle).conversation();
			return { systemPrompt, stream: this.#open(toItemStream(messages)) };
		},
		"session.events": async ({ handle, after }) => ({
			stream: this.#open(toItemStream(this.#session(handle).events(after))),
		}),
		"session.establish": async ({ handle }) => nothing(await this.#session(handle).establish()),
		"session.background-tasks": async ({ handle }) => [...(await this.#session(handle).backgroundTasks())],
		"session.has-background-news": ({ handle }) => this.#session(handle).hasBackgroundNews(),
		"session.end-background-tasks": async ({ handle }) => nothing(await this.#session(handle).endBackgroundTasks()),
		"session.background-task-ended": async ({ handle, wait }) => {
			const session = this.#session(handle);
			const aborting = new AbortController();
			this.#waits.set(wait, aborting);
			try {
				return nothing(await session.backgroundTaskEnded(aborting.signal));
			} finally {
				this.#waits.delete(wait);
			}
		},
		"session.stop": async ({ handle }) => nothing(await this.#session(handle).stop()),
		"stream.next": async ({ stream: name }) => {
			const answer = await this.#stream(name).next();
			if (answer.ended) this.#streams.delete(name);
			return answer;
		},
		"stream.drained": async ({ stream }) => nothing(await this.#streams.get(stream)?.drained()),
	};

	readonly #notifications: Notifications = {
		"handle.release": ({ handle }) => {
			this.#handles.get(handle)?.release();
			this.#handles.delete(handle);
		},
		"session.fail": ({ handle, message }) => this.#handles.get(handle)?.session.fail(new Error(message)),
		"stream.close": ({ stream }) => this.#close(stream),
		"wait.abort": ({ wait }) => this.#waits.get(wait)?.abort(),
	};

	readonly methods: ReadonlyMap<string, Method>;

	constructor(sessions: SessionsApi) {
		this.#sessions = sessions;
		this.methods = new Map([
			...namesOf(requests).map((name) => [name, toRequest(name, this.#requests)] as const),
			...namesOf(notifications).map((name) => [name, toNotification(name, this.#notifications)] as const),
		]);
	}

	/** Gives everything back: the front end is gone. */
	end(): void {
		this.#isOver = true;
		for (const aborting of this.#waits.values()) aborting.abort();
		for (const stream of this.#streams.values()) stream.close();
		this.#streams.clear();
		for (const handle of this.#handles.values()) handle.release();
		this.#handles.clear();
	}

	#toAcquired(handle: SessionHandle): Result<"sessions.acquire"> {
		const { session, info } = handle;
		const name = this.#newName();
		if (this.#isOver || this.#handles.size >= maximumOpen) {
			handle.release();
			this.#refuseMore(this.#handles.size, "sessions in use");
		}
		this.#handles.set(name, handle);
		return { handle: name, sessionId: session.id, workDir: session.workDir, info };
	}

	#handle(name: string): SessionHandle {
		const handle = this.#handles.get(name);
		if (handle === undefined) throw new KernelError("closed", "The session was released.");
		return handle;
	}

	#session(name: string): SessionApi {
		return this.#handle(name).session;
	}

	#open(stream: Stream): string {
		const name = this.#newName();
		this.#streams.set(name, stream);
		if (this.#isOver) stream.close();
		return name;
	}

	/** What it delivered can be read to its end, but nobody has to: only so many are remembered. */
	#close(name: string): void {
		const stream = this.#streams.get(name);
		if (stream === undefined) return;
		stream.close();
		this.#closed.push(name);
		if (this.#closed.length > maximumClosed) this.#streams.delete(this.#closed.shift() ?? "");
	}

	#stream(name: string): Stream {
		const stream = this.#streams.get(name);
		if (stream === undefined) throw new KernelError("closed", "The stream has ended.");
		return stream;
	}

	#refuseMore(count: number, what: string): void {
		if (this.#isOver) throw new KernelError("closed", "The connection is lost.");
		if (count < maximumOpen) return;
		throw new KernelError("overloaded", `One front end may have at most ${maximumOpen} ${what}.`);
	}

	#newName(): string {
		this.#names += 1;
		return String(this.#names);
	}
}

function nothing(_done: unknown): null {
	return null;
}

function namesOf<Name extends string>(declared: Readonly<Record<Name, unknown>>): readonly Name[] {
	// The keys of an object literal are those of its type.
	return Object.keys(declared) as Name[];
}

function toRequest<N extends RequestName>(name: N, handlers: Requests): Method {
	const handle: Requests[N] = handlers[name];
	return defineMethod({ params: requests[name].params, handle });
}

function toNotification<N extends NotificationName>(name: N, handlers: Notifications): Method {
	const handle: Notifications[N] = handlers[name];
	return defineMethod({
		params: notifications[name],
		actsOn: "notifications",
		handle: async (params) => handle(params),
	});
}

function toEventStream({ events, drained, close }: Attachment): Stream {
	const reader = events[Symbol.asyncIterator]();
	return {
		async next() {
			const { value, done } = await reader.next();
			return done === true ? { items: [], ended: true } : { items: [...value], ended: false };
		},
		drained,
		close,
	};
}

/** Batches of the items, of which none is large unless a single item is. */
function toItemStream(items: Iterable<unknown> | AsyncIterable<unknown>): Stream {
	const reader = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
	let isClosed = false;
	return {
		async next() {
			const batch: unknown[] = [];
			for (let size = 0; batch.length < itemsAtOnce && size < sizeAtOnce; ) {
				const { value, done } = isClosed ? { value: undefined, done: true } : await reader.next();
				if (done === true) return { items: batch, ended: true };
				batch.push(value);
				size += textSize(value);
			}
			return { items: batch, ended: false };
		},
		drained: async () => {},
		close() {
			isClosed = true;
			void reader.return?.();
		},
	};
}
