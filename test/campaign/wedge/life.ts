// One process under trial: the real executable, its client's end of the streams, and the heartbeat while it works.
// It notes what came of it as lines of text, and judges nothing.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createDeferred } from "../../../src/base/deferred.ts";
import { isRecord } from "../../../src/base/json.ts";
import { builtExecutable } from "../frame/executable.ts";
import type { Fields, Scene } from "./case.ts";
import { Heart, peakMemory, waitedForProcessor } from "./heart.ts";
import type { Answer, Loopback } from "./loopback.ts";
import { standardReply } from "./replies.ts";
import type { Stage } from "./stage.ts";

/** Milliseconds that the end of a process may take before it is killed. */
const endPatience = 10_000;
/** Milliseconds that a cancelled request may take to be answered. */
const cancelPatience = 2000;

/** Stands for the id of an answer that nobody else waits for: what is wrong enough is answered under none. */
export const anyId = "any";

export interface Reply {
	readonly result?: unknown;
	readonly error?: { readonly code: number; readonly message: string };
}

export interface LifeOptions {
	readonly stage: Stage;
	readonly scene: Scene;
	readonly loopback: Loopback;
	/** The file with the settings. */
	readonly configFile: string;
	/** Of all processes of the campaign: the second one needs not compile again. */
	readonly cacheDir: string;
	/** Milliseconds that a request may take before it is cancelled. */
	readonly patience: number;
}

export class Life {
	readonly dialect: "rpc" | "wire";
	readonly pid: number;
	readonly heart: Heart;
	/** What came of it: results of tools, answers, texts. */
	readonly outcome: string[] = [];
	/** What should never be. */
	readonly complaints: string[] = [];
	/** Milliseconds from the start to the first line. */
	readonly begun: Promise<number>;
	readonly gone: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
	isGone = false;
	stderr = "";
	/** The session of the heartbeat, once it is there. */
	calmSession = "";
	/** The session that the last event was of, apart from that one. */
	hostileSession = "";
	readonly #child: ChildProcessWithoutNullStreams;
	readonly #scene: Scene;
	readonly #loopback: Loopback;
	readonly #patience: number;
	readonly #pending = new Map<string, (reply: Reply | null) => void>();
	readonly #calls = new Map<string, string>();
	readonly #events: { readonly type: string; readonly wake: () => void }[] = [];
	readonly #starting: NodeJS.Timeout;
	#waited = 0;
	#count = 0;
	#rest: Buffer[] = [];

	constructor({ stage, scene, loopback, configFile, cacheDir, patience }: LifeOptions) {
		this.#scene = scene;
		this.#loopback = loopback;
		this.#patience = patience;
		this.dialect = scene.dialect ?? "rpc";
		const started = performance.now();
		const mode = this.dialect === "rpc" ? ["rpc"] : ["--wire"];
		const flags = [...mode, "--work-dir", stage.workDir, "--config-file", configFile, ...(scene.flags ?? [])];
		this.#child = spawn(...commandLine(flags), {
			cwd: stage.workDir,
			env: {
				PATH: process.env["PATH"],
				HOME: stage.home,
				KIMI_SHARE_DIR: stage.shareDir,
				XDG_CACHE_HOME: cacheDir,
			},
		});
		this.pid = this.#child.pid ?? 0;
		this.heart = new Heart(this.pid, (number) => this.#sendBeat(number));
		this.#starting = setInterval(() => this.#lookAtWaiting(), 10);
		const begun = createDeferred<number>();
		this.begun = begun.promise;
		this.gone = new Promise((resolve) => {
			this.#child.once("exit", (code, signal) => {
				this.isGone = true;
				begun.resolve(this.#sinceStart(started));
				for (const answer of this.#pending.values()) answer(null);
				for (const { wake } of this.#events.splice(0)) wake();
				resolve({ code, signal });
			});
			this.#child.once("error", (thrown) => this.complaints.push(`not started: ${thrown.message}`));
		});
		this.#child.stdin.on("error", () => {});
		this.#child.stderr.setEncoding("utf8").on("data", (text: string) => {
			if (this.stderr.length < 100_000) this.stderr += text;
		});
		this.#child.stdout.on("data", (bytes: Buffer) => {
			begun.resolve(this.#sinceStart(started));
			this.#take(bytes);
		});
	}

	/** Writes bytes as they are. */
	write(bytes: string | Uint8Array): void {
		this.#child.stdin.write(bytes);
	}

	/** Sends a request and waits for its answer; null when it took too long, also after it was cancelled, or the process went. */
	async ask(method: string, params: Fields, id = `ask-${++this.#count}`): Promise<Reply | null> {
		return await this.answerTo(id, method, () => {
			this.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
		});
	}

	/** Waits for the answer under an id, to what `send` sends; `name` is what it is called in the outcome. */
	async answerTo(id: string, name: string, send: () => void): Promise<Reply | null> {
		if (this.isGone) return null;
		const { promise, resolve } = createDeferred<Reply | null>();
		this.#pending.set(id, resolve);
		const limit = this.#scene.cancelAfter ?? this.#patience;
		const cancelling = setTimeout(() => {
			if (this.#scene.cancelAfter === undefined) this.outcome.push(`${name} cancelled after ${limit} ms`);
			this.cancel();
		}, limit);
		const giving = setTimeout(() => {
			this.complaints.push(`${name} is not answered within ${limit} ms, nor ${cancelPatience} ms after the cancel`);
			resolve(null);
		}, limit + cancelPatience);
		send();
		const reply = await promise;
		clearTimeout(cancelling);
		clearTimeout(giving);
		this.#pending.delete(id);
		if (reply !== null) this.#note(name, reply);
		return reply;
	}

	/** What the hostile model answers next. */
	queue(answers: readonly Answer[]): void {
		this.#loopback.queue(answers);
	}

	/** Cancels what the hostile session does. */
	cancel(): void {
		const params = this.dialect === "rpc" ? { session_id: this.hostileSession } : {};
		const method = this.dialect === "rpc" ? "turn/interrupt" : "cancel";
		this.write(`${JSON.stringify({ jsonrpc: "2.0", id: `cancel-${++this.#count}`, method, params })}\n`);
	}

	/** Resolves with the next event of that type, or with the end of the process. */
	event(type: string): Promise<void> {
		if (this.isGone) return Promise.resolve();
		return new Promise((wake) => this.#events.push({ type, wake }));
	}

	/** Ends the input; the milliseconds until the process was gone, by itself or not. */
	async end(): Promise<number> {
		const started = performance.now();
		this.#child.stdin.end();
		const killing = setTimeout(() => this.#child.kill("SIGKILL"), endPatience);
		await this.gone;
		clearTimeout(killing);
		return performance.now() - started;
	}

	peak(): number {
		return peakMemory(this.pid);
	}

	/** Milliseconds since the start, without those in which the process waited for a processor. */
	#sinceStart(started: number): number {
		this.#lookAtWaiting();
		clearInterval(this.#starting);
		return performance.now() - started - this.#waited;
	}

	/** Of a process that is gone nothing can be read any more. */
	#lookAtWaiting(): void {
		this.#waited = Math.max(this.#waited, waitedForProcessor(this.pid));
	}

	#sendBeat(number: number): void {
		const id = `beat-${number}`;
		const about = this.dialect === "rpc" && this.calmSession !== "";
		this.write(
			about
				? `{"jsonrpc":"2.0","id":"${id}","method":"session/read","params":{"session_id":"${this.calmSession}"}}\n`
				: `{"jsonrpc":"2.0","id":"${id}","method":"beat"}\n`,
		);
	}

	#take(bytes: Buffer): void {
		let start = 0;
		for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
			const piece = bytes.subarray(start, end);
			this.#takeLine(this.#rest.length === 0 ? piece : Buffer.concat([...this.#rest, piece]));
			this.#rest = [];
			start = end + 1;
		}
		if (start < bytes.length) this.#rest.push(bytes.subarray(start));
	}

	#takeLine(line: Buffer): void {
		const [, beat] = /^\{"jsonrpc":"2\.0","id":"beat-(\d+)"/.exec(line.toString("latin1", 0, 60)) ?? [];
		if (beat !== undefined) {
			this.heart.take(Number(beat));
			return;
		}
		let message: unknown;
		try {
			message = JSON.parse(line.toString("utf8"));
		} catch {
			this.complaints.push(`no JSON on stdout: ${line.toString("utf8", 0, 100)}`);
			return;
		}
		if (!isRecord(message)) return;
		const { id, method, params } = message;
		if (typeof method !== "string") (this.#pending.get(String(id)) ?? this.#pending.get(anyId))?.(message);
		else if (id === undefined) this.#takeEvent(isRecord(params) ? params : {});
		else this.#takeRequest(id, method, isRecord(params) ? params : {});
	}

	#takeRequest(id: unknown, method: string, params: Fields): void {
		const result = this.#scene.reply?.(method, params) ?? standardReply(method, params);
		this.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
	}

	#takeEvent(params: Fields): void {
		const { session_id: sessionId, event } = params;
		if (isRecord(event)) {
			if (typeof sessionId === "string" && sessionId !== this.calmSession) this.hostileSession = sessionId;
			if (sessionId !== this.calmSession) this.#noteEvent(String(event["type"]), event);
		} else if (isRecord(params["payload"])) this.#noteEvent(String(params["type"]), params["payload"]);
	}

	#noteEvent(type: string, event: Fields): void {
		for (const waiting of [...this.#events]) {
			if (waiting.type !== type) continue;
			this.#events.splice(this.#events.indexOf(waiting), 1);
			waiting.wake();
		}
		const value = event["return_value"];
		if (type === "tool_execution_completed") {
			this.#noteTool(String(event["name"]), event["is_error"] === true, event["result"]);
		} else if (type === "ToolCall" && isRecord(event["function"])) {
			this.#calls.set(String(event["id"]), String(event["function"]["name"]));
		} else if (type === "ToolResult" && isRecord(value)) {
			const text = value["is_error"] === true ? value["message"] : value["output"];
			this.#noteTool(this.#calls.get(String(event["tool_call_id"])) ?? "", value["is_error"] === true, text);
		} else if (type === "StepRetry" || type === "retrying") {
			this.outcome.push(`${type}: ${brief(event["error"] ?? event["error_message"])}`);
		}
	}

	#noteTool(name: string, isError: boolean, result: unknown): void {
		const text = typeof result === "string" ? result : JSON.stringify(result ?? "");
		if (isError && text.trim() === "") this.complaints.push(`${name} failed without a text`);
		this.outcome.push(`${name} ${isError ? "error" : "ok"}: ${brief(text)}`);
	}

	#note(name: string, { result, error }: Reply): void {
		if (error === undefined) {
			this.outcome.push(`${name}: ${brief(JSON.stringify(result))}`);
			return;
		}
		if (error.message.trim() === "") this.complaints.push(`${name} failed without a text`);
		this.outcome.push(`${name} error ${error.code}: ${brief(error.message)}`);
	}
}

/** Enough to see what a text is, on one line. */
export function brief(value: unknown, length = 160): string {
	const text = (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).slice(0, length * 4);
	const shown = text.replace(/[\p{Cc}\p{Cs}\s]+/gu, " ").trim();
	return shown.length <= length ? shown : `${shown.slice(0, length)}…`;
}

/** With flags of Node, for whoever looks for the reason of a finding: `--cpu-prof --cpu-prof-dir=profiles`. */
function commandLine(flags: readonly string[]): readonly [string, readonly string[]] {
	const ofNode = process.env["AGENTWIRE_CAMPAIGN_NODE_FLAGS"];
	return ofNode === undefined
		? [builtExecutable, flags]
		: [process.execPath, [...ofNode.split(" "), builtExecutable, ...flags]];
}
