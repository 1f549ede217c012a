// Measures many sessions of one process: the cost of an idle one, the delay of a turn's begin while others run, and the
// fairness between them. Every session has had a turn before; each call uses a fresh process.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { residentMemory, type Target } from "./child.ts";
import { inParallel } from "./parallel.ts";
import { percentile } from "./report.ts";

export const sessionCount = 1000;
export const turnsAtOnce = 20;
/** As many as one process is expected to hold while nobody uses them. */
export const idleCount = 10_000;
/** Measured turns per session. */
const roundCount = 3;
/** Sessions created before memory is first measured: by then all code is loaded, and the heap has its usual size. */
const firstSessions = sessionCount / 2;

/** The result of one run. Times in milliseconds. */
export interface SessionsMeasurement {
	/** Bytes that a further idle session adds to the process; null where the system does not report memory. */
	readonly memory: number | null;
	/** From `turn/start` to `run_started`. */
	readonly beginning: { readonly median: number; readonly p99: number };
	/** Turns from request to response: the slowest session's median in those of the median one, and the slowest of all. */
	readonly fairness: { readonly slowestSession: number; readonly slowestTurn: number };
	readonly turnsPerSecond: number;
	/** From the end of the input to that of the process. */
	readonly end: number;
}

/** Writes the answers of the scripted model, one for each turn of a session that stays loaded; returns the file. */
export function writeSessionScripts(folder: string): string {
	const file = path.join(folder, "sessions-scripts.json");
	const answer = "usage: input_other=10 output=3\ntext: one \ntext: two \ntext: three";
	writeFileSync(file, JSON.stringify(Array.from({ length: roundCount + 1 }, () => answer)));
	return file;
}

/** One run over `sessionCount` sessions, of which `loaded` may be loaded at once; null for the default. */
export async function measureSessions(
	target: Target,
	workDir: string,
	scripts: string,
	loaded: number | null,
): Promise<SessionsMeasurement> {
	const client = startClient(target, ["rpc", "--work-dir", workDir, "--config", toConfig(scripts, loaded)]);
	let isOver = false;
	try {
		const make = async () => {
			const { result } = await client.run("session/create", { prompt: "hello" });
			return String(result?.["session_id"]);
		};
		const first = await inParallel(firstSessions, turnsAtOnce, make);
		const memoryBefore = client.memory();
		const ids = [...first, ...(await inParallel(sessionCount - firstSessions, turnsAtOnce, make))];
		const memoryAfter = client.memory();
		const startedAt = performance.now();
		const runs = await inParallel(sessionCount * roundCount, turnsAtOnce, async (n) => {
			const session_id = ids[n % sessionCount] ?? "";
			return await client.run("turn/start", { session_id, prompt: "again" }, session_id);
		});
		const seconds = (performance.now() - startedAt) / 1000;
		const perSession = new Map<string, number[]>();
		for (const { sessionId, total } of runs) perSession.set(sessionId, [...(perSession.get(sessionId) ?? []), total]);
		const medians = [...perSession.values()].map((totals) => percentile(totals, 0.5));
		const endedAt = performance.now();
		await client.end();
		isOver = true;
		const end = performance.now() - endedAt;
		const beginnings = runs.map(({ begun }) => begun);
		const totals = runs.map(({ total }) => total);
		return {
			memory:
				memoryBefore === null || memoryAfter === null
					? null
					: (memoryAfter - memoryBefore) / (sessionCount - firstSessions),
			beginning: { median: percentile(beginnings, 0.5), p99: percentile(beginnings, 0.99) },
			fairness: {
				slowestSession: Math.max(...medians) / percentile(medians, 0.5),
				slowestTurn: Math.max(...totals) / percentile(totals, 0.5),
			},
			turnsPerSecond: runs.length / seconds,
			end,
		};
	} finally {
		if (!isOver) await client.end();
	}
}

/**
 * Bytes that the process needs for each of `idleCount` sessions that have had a turn and are not used, what is loaded for the
 * first of them included; null where the system does not report memory. With the default limit on loaded sessions.
 */
export async function measureIdleSessions(target: Target, workDir: string, scripts: string): Promise<number | null> {
	const client = startClient(target, ["rpc", "--work-dir", workDir, "--config", toConfig(scripts, null)]);
	try {
		await client.run("initialize", {});
		const before = client.memory();
		await inParallel(idleCount, turnsAtOnce, () => client.run("session/create", { prompt: "hello" }));
		const after = client.memory();
		return before === null || after === null ? null : (after - before) / idleCount;
	} finally {
		await client.end();
	}
}

function toConfig(scripts: string, loaded: number | null): string {
	const provider = { type: "_scripted_echo", base_url: "", api_key: "", env: { KIMI_SCRIPTED_ECHO_SCRIPTS: scripts } };
	return JSON.stringify({
		default_model: "scripted",
		models: { scripted: { provider: "scripted", model: "scripted_echo", max_context_size: 1_000_000 } },
		providers: { scripted: provider },
		agentwire: { limits: loaded === null ? {} : { loaded_sessions: loaded } },
	});
}

interface Message {
	readonly id?: string;
	readonly params?: { readonly session_id: string; readonly event: { readonly type: string } };
	readonly result?: Record<string, unknown>;
	readonly error?: { readonly message: string };
}

/** A request with the times at which it was begun and answered, in milliseconds from its sending. */
interface FinishedRequest {
	readonly sessionId: string;
	readonly begun: number;
	readonly total: number;
	readonly result: Message["result"];
}

interface Client {
	/** Rejects when the request fails. `sessionId` names the session whose `run_started` is the beginning. */
	run(method: string, params: object, sessionId?: string): Promise<FinishedRequest>;
	/** Bytes of memory; null where the system does not report it. */
	memory(): number | null;
	end(): Promise<void>;
}

interface OpenRequest {
	readonly sentAt: number;
	readonly sessionId: string;
	begunAt: number;
	readonly resolve: (request: FinishedRequest) => void;
	readonly reject: (error: Error) => void;
}

function startClient({ name, command, environment }: Target, words: readonly string[]): Client {
	const [file, ...rest] = command;
	const child = spawn(file, [...rest, ...words], { env: environment });
	const open = new Map<string, OpenRequest>();
	/** By the id of the session. */
	const beginning = new Map<string, OpenRequest>();
	let count = 0;
	child.stderr.resume();
	child.stdin.on("error", () => {});
	child.on("close", (code) => {
		for (const { reject } of open.values()) reject(new Error(`${name} ended early (${code}).`));
	});
	createInterface({ input: child.stdout }).on("line", (line) => {
		const at = performance.now();
		const { id = "", params, result, error }: Message = JSON.parse(line);
		if (params?.event.type === "run_started") {
			const request = beginning.get(params.session_id);
			if (request !== undefined) request.begunAt = at;
		}
		const request = open.get(id);
		if (request === undefined) return;
		open.delete(id);
		const { sentAt, begunAt, sessionId, resolve, reject } = request;
		if (error === undefined) resolve({ sessionId, begun: begunAt - sentAt, total: at - sentAt, result });
		else reject(new Error(`${name}: ${error.message}`));
	});
	return {
		run: (method, params, sessionId = "") =>
			new Promise((resolve, reject) => {
				count += 1;
				const id = String(count);
				const request = { sentAt: performance.now(), sessionId, begunAt: Number.NaN, resolve, reject };
				open.set(id, request);
				if (sessionId !== "") beginning.set(sessionId, request);
				child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
			}),
		memory: () => residentMemory(child),
		end: () =>
			new Promise((resolve) => {
				if (child.exitCode !== null || child.signalCode !== null) return resolve();
				child.once("close", () => resolve());
				child.stdin.end();
			}),
	};
}
