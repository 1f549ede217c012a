// A client of Meerkat RPC as strict as the published ones: it starts the executable as they do, shakes hands as they do,
// and stops with an error at anything that they would stumble over.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import * as v from "valibot";
import { onTestFinished } from "vitest";
import type { Stage } from "../executable/executable.ts";
import {
	bareEventShape,
	type ClientEra,
	envelopeShape,
	eventShapes,
	executeShape,
	resultShapes,
} from "./meerkat-shapes.ts";

type Shapes = typeof resultShapes.contract;
type Method = keyof Shapes;
type Result<M extends Method> = v.InferOutput<Shapes[M]>;
export type ClientEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** An error answered by the server, under the name that clients go by. */
export class AnsweredError extends Error {
	readonly code: string;
	readonly number: number;
	readonly data: unknown;

	constructor(error: v.InferOutput<typeof errorShape>) {
		super(error.message);
		this.code = error.data.code;
		this.number = error.code;
		this.data = error.data;
	}
}

const errorShape = v.looseObject({
	code: v.pipe(v.number(), v.integer()),
	message: v.string(),
	data: v.looseObject({ code: v.string() }),
});

export interface ClientTool {
	readonly name: string;
	readonly description: string;
	readonly input_schema: object;
	run(args: Readonly<Record<string, unknown>>): { readonly content: string; readonly is_error: boolean };
}

export interface ConnectOptions {
	readonly era: ClientEra;
	/** What the process is called; `rkat` is given the argument `rpc`, others none. */
	readonly executable: string;
	readonly tools?: readonly ClientTool[];
}

interface Pending {
	readonly method: string;
	resolve(result: unknown): void;
	reject(thrown: Error): void;
}

/** Milliseconds after a response during which a client still accepts its events. */
const lateLimit = 75;

export class MeerkatClient {
	readonly #child: ChildProcessWithoutNullStreams;
	readonly #options: ConnectOptions;
	readonly #pending = new Map<number, Pending>();
	readonly #events = new Map<string, ClientEvent[]>();
	readonly #listeners = new Set<() => void>();
	readonly #answeredAt = new Map<string, number>();
	readonly #sequences = new Map<string, number>();
	/** Events that came after the response to their run. */
	late = 0;
	#nextId = 1;
	#condemned: Error | null = null;
	methods: readonly string[] = [];

	private constructor(child: ChildProcessWithoutNullStreams, options: ConnectOptions) {
		this.#child = child;
		this.#options = options;
		// Splits at more than newlines: what is sent must bear it.
		createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY }).on("line", (line) => {
			try {
				this.#take(line);
			} catch (thrown) {
				this.#condemn(new Error(`${thrown instanceof Error ? thrown.message : thrown} in ${line}`));
			}
		});
		child.stdin.on("error", () => {});
		child.stderr.resume();
		child.once("close", () => this.#condemn(new Error("The process has ended.")));
	}

	static async connect(stage: Pick<Stage, "workDir" | "environment">, options: ConnectOptions): Promise<MeerkatClient> {
		const words = options.executable.endsWith("/rkat") ? ["rpc"] : [];
		const child = spawn(options.executable, words, { cwd: stage.workDir, env: stage.environment });
		onTestFinished(() => void child.kill("SIGKILL"));
		const client = new MeerkatClient(child, options);
		client.methods = (await client.#call("initialize", {})).methods;
		if (options.era === "contract") await client.#call("capabilities/get", {});
		const { tools = [] } = options;
		if (tools.length > 0) {
			const declared = tools.map(({ name, description, input_schema }) => ({ name, description, input_schema }));
			await client.#call("tools/register", { tools: declared });
		}
		return client;
	}

	createSession(prompt: string, more: object = {}): Promise<Result<"session/create">> {
		return this.#run("session/create", { prompt, ...more });
	}

	async createDeferredSession(prompt: string, more: object = {}): Promise<string> {
		const params = { prompt, initial_turn: "deferred", ...more };
		return (await this.#call("session/deferred", params, "session/create")).session_id;
	}

	turn(session_id: string, prompt: string): Promise<Result<"turn/start">> {
		return this.#run("turn/start", { session_id, prompt });
	}

	/** The events of a run as they come, and its result. */
	async *stream(session_id: string, prompt: string): AsyncGenerator<ClientEvent, Result<"turn/start">> {
		let result: Result<"turn/start"> | null = null;
		let failure: unknown = null;
		let given = this.events(session_id).length;
		const over = this.turn(session_id, prompt).then(
			(value) => {
				result = value;
			},
			(thrown: unknown) => {
				failure = thrown;
			},
		);
		for (;;) {
			const event = this.events(session_id)[given];
			if (event !== undefined) {
				given += 1;
				yield event;
			} else if (result !== null) return result;
			else if (failure !== null) throw failure;
			else await Promise.race([over, new Promise<void>((resolve) => this.#listeners.add(resolve))]);
		}
	}

	interrupt(session_id: string): Promise<Result<"turn/interrupt">> {
		return this.#call("turn/interrupt", { session_id });
	}

	archive(session_id: string): Promise<Result<"session/archive">> {
		return this.#call("session/archive", { session_id });
	}

	async listSessions(page: object = {}): Promise<readonly { readonly session_id: string }[]> {
		return (await this.#call("session/list", page)).sessions;
	}

	readSession(session_id: string): Promise<{ readonly session_id: string }> {
		return this.#call("session/read", { session_id });
	}

	history(session_id: string, page: object = {}): Promise<Result<"session/history">> {
		return this.#call("session/history", { session_id, ...page });
	}

	getConfig(): Promise<object> {
		return this.#call("config/get", {});
	}

	/** The events of a session that arrived so far. */
	events(session_id: string): readonly ClientEvent[] {
		return this.#events.get(session_id) ?? [];
	}

	/** Closes as published clients do: input and signal at the same moment. Gives the exit code. */
	async close(): Promise<number | null> {
		const ended = new Promise<number | null>((resolve) => this.#child.once("exit", (code) => resolve(code)));
		const condemned = this.#condemned;
		this.#child.stdin.end();
		this.#child.kill("SIGTERM");
		const code = await ended;
		if (condemned !== null) throw condemned;
		return code;
	}

	async #run(method: "session/create" | "turn/start", params: object): Promise<Result<"turn/start">> {
		const result = await this.#call(method, params);
		this.#answeredAt.set(result.session_id, performance.now());
		return result;
	}

	async #call<M extends Method>(shape: M, params: object, method: string = shape): Promise<Result<M>> {
		if (this.#condemned !== null) throw this.#condemned;
		const id = this.#nextId;
		this.#nextId += 1;
		const answered = new Promise<unknown>((resolve, reject) => this.#pending.set(id, { method, resolve, reject }));
		this.#send({ jsonrpc: "2.0", id, method, params });
		const shapes: Readonly<Record<string, v.GenericSchema>> = resultShapes[this.#options.era];
		const expected = shapes[shape] ?? v.never();
		const parsed = v.safeParse(expected, await answered);
		if (!parsed.success) {
			const [issue] = parsed.issues;
			throw this.#condemn(new Error(`The result of ${method} is wrong: ${v.getDotPath(issue)}: ${issue.message}`));
		}
		return parsed.output as Result<M>;
	}

	#send(message: object): void {
		this.#child.stdin.write(`${JSON.stringify(message)}\n`);
	}

	#condemn(error: Error): Error {
		this.#condemned ??= error;
		for (const { reject } of this.#pending.values()) reject(this.#condemned);
		this.#pending.clear();
		this.#child.kill("SIGKILL");
		return this.#condemned;
	}

	#take(line: string): void {
		if (/[\u2028\u2029]/.test(line)) throw new Error("a line separator that is not escaped");
		const message: unknown = JSON.parse(line);
		const { id, method, params, result, error } = v.parse(
			v.looseObject({
				jsonrpc: v.literal("2.0"),
				id: v.optional(v.unknown()),
				method: v.optional(v.string()),
				params: v.optional(v.unknown()),
				result: v.optional(v.unknown()),
				error: v.optional(v.unknown()),
			}),
			message,
		);
		const hasId = typeof message === "object" && message !== null && "id" in message;
		if (method !== undefined) {
			if (hasId) this.#answerRequest(id, method, params);
			else this.#takeNotification(method, params);
			return;
		}
		const pending = typeof id === "number" ? this.#pending.get(id) : undefined;
		if (typeof id !== "number" || pending === undefined) throw new Error("an answer to nothing");
		this.#pending.delete(id);
		if (error === undefined) pending.resolve(result);
		else pending.reject(new AnsweredError(v.parse(errorShape, error)));
	}

	#answerRequest(id: unknown, method: string, params: unknown): void {
		if (id === null || id === undefined) throw new Error("a notification with an id");
		if (method !== "tool/execute") throw new Error("an unknown request");
		const { name, arguments: args } = v.parse(executeShape, params);
		const tool = this.#options.tools?.find((each) => each.name === name);
		if (tool === undefined) throw new Error("an unknown tool");
		this.#send({ jsonrpc: "2.0", id, result: tool.run(args) });
	}

	#takeNotification(method: string, params: unknown): void {
		const delivered = v.parse(
			v.looseObject({ session_id: v.pipe(v.string(), v.nonEmpty()), event: v.unknown() }),
			params,
		);
		if (method !== "session/event") throw new Error("an unknown notification");
		const event = this.#toEvent(delivered.session_id, delivered.event);
		this.#takeOrder(delivered.session_id, delivered.event);
		if (event.type === "run_started") this.#answeredAt.delete(delivered.session_id);
		const answeredAt = this.#answeredAt.get(delivered.session_id);
		if (answeredAt !== undefined) {
			this.late += 1;
			if (performance.now() - answeredAt > lateLimit) throw new Error("an event that comes too late");
		}
		const events = this.#events.get(delivered.session_id) ?? [];
		events.push(event);
		this.#events.set(delivered.session_id, events);
		this.#wake();
	}

	/** The event itself, whatever carries it. */
	#toEvent(sessionId: string, carried: unknown): ClientEvent {
		const { era } = this.#options;
		if (era === "contract") {
			const { source } = v.parse(envelopeShape, carried);
			if (source.session_id !== sessionId) throw new Error("an event of another session");
		}
		const event = era === "contract" ? v.parse(envelopeShape, carried).payload : v.parse(bareEventShape, carried);
		const shape = eventShapes[era][event.type];
		if (shape === undefined) throw new Error("an unknown type of event");
		v.parse(shape, event);
		return event;
	}

	#takeOrder(sessionId: string, carried: unknown): void {
		if (this.#options.era === "seed") return;
		const { seq } = v.parse(envelopeShape, carried);
		if (seq <= (this.#sequences.get(sessionId) ?? -1)) throw new Error("an event out of order");
		this.#sequences.set(sessionId, seq);
	}

	#wake(): void {
		for (const listener of this.#listeners) listener();
		this.#listeners.clear();
	}
}
