// One round of the orphans campaign: a server, a hostile tree in its Shell tool or in place of an MCP server, an end, and a
// look at what is left.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { createDeferred } from "../../../src/base/deferred.ts";
import { builtExecutable } from "../frame/executable.ts";
import { type HostileTree, toCommand } from "./orphans-trees.ts";

const commonEndings = ["timeout", "exit", "end of input", "SIGTERM", "SIGKILL"] as const;
export const foregroundEndings = ["cancel", ...commonEndings] as const;
export const backgroundEndings = ["SIGKILL of the worker", ...commonEndings] as const;
export const mcpEndings = ["exit", "end of input", "SIGTERM", "SIGKILL"] as const;
export const endings = ["cancel", ...backgroundEndings] as const;
export type Ending = (typeof endings)[number];

export interface Round {
	readonly tree: HostileTree;
	readonly ending: Ending;
	/** Where the tree is grown: by a command, or by what was to be an MCP server. */
	readonly place: "foreground" | "background" | "mcp";
	readonly contain: "auto" | "off";
	/** Milliseconds after the tool call, or the beginning of the wait for MCP servers, at which the end comes; null for when the tree is grown. */
	readonly endAfter: number | null;
	/** Found in the arguments of every process of the tree. */
	readonly token: string;
}

export interface RoundResult {
	/** Arguments of what was still there when the time to go was over. */
	readonly survivors: readonly string[];
	/** Milliseconds from the end until nothing was left. */
	readonly goneAfter: number;
	/** Watchdogs still there. */
	readonly watchdogs: number;
	/** What went wrong with the round itself. */
	readonly trouble: string | null;
}

const patience = 3000;
const growth = 5000;
const answerPatience = 10_000;
const pollInterval = 10;
const secondLook = 30;

interface Found {
	readonly processId: number;
	readonly text: string;
}

/** The living processes whose arguments fit. Zombies have none. */
function findProcesses(fits: (text: string) => boolean): Found[] {
	return readdirSync("/proc").flatMap((name) => {
		if (!/^\d+$/.test(name)) return [];
		try {
			const text = readFileSync(`/proc/${name}/cmdline`, "latin1");
			return text !== "" && fits(text) ? [{ processId: Number(name), text: text.replaceAll("\0", " ").trim() }] : [];
		} catch {
			return [];
		}
	});
}

function watchdogsOf(parentId: number): Found[] {
	return findProcesses((text) => text.includes("agentwire-watchdog")).filter(({ processId }) => {
		try {
			const status = readFileSync(`/proc/${processId}/stat`, "latin1");
			return Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[1]) === parentId;
		} catch {
			return false;
		}
	});
}

function killQuietly(processId: number): void {
	try {
		process.kill(processId, "SIGKILL");
	} catch {
		// It went by itself.
	}
}

interface Wait {
	/** What still is there when the time is over. */
	readonly left: readonly Found[];
	/** Milliseconds until nothing was found. */
	readonly milliseconds: number;
}

/** Polls until nothing is found, and looks again: what is being forked must not slip through. */
async function waitUntilNone(find: () => readonly Found[], limit: number): Promise<Wait> {
	const start = performance.now();
	for (;;) {
		const left = find();
		const milliseconds = performance.now() - start;
		if (left.length === 0) {
			await delay(secondLook);
			if (find().length === 0) return { left, milliseconds };
		}
		if (milliseconds >= limit) return { left, milliseconds };
		await delay(pollInterval);
	}
}

function prepare(root: string, command: string, { ending, contain, place }: Round): void {
	const scriptFile = path.join(root, "scripts.json");
	const call = {
		id: "call",
		name: "Shell",
		arguments: JSON.stringify({
			command,
			timeout: ending === "timeout" ? 1 : 300,
			...(place === "background" ? { run_in_background: true, description: "a tree" } : {}),
		}),
	};
	const calls = place === "mcp" ? [] : [`tool_call: ${JSON.stringify(call)}`];
	writeFileSync(scriptFile, JSON.stringify([...calls, "text: done"]));
	if (place === "mcp") {
		const server = { command: "bash", args: ["-c", command] };
		writeFileSync(path.join(root, "mcp.json"), JSON.stringify({ mcpServers: { server } }));
	}
	writeFileSync(
		path.join(root, "config.toml"),
		[
			'default_model = "m"',
			'[models.m]\nprovider = "p"\nmodel = "scripted_echo"\nmax_context_size = 100000',
			'[providers.p]\ntype = "_scripted_echo"\nbase_url = ""\napi_key = ""',
			`env = { KIMI_SCRIPTED_ECHO_SCRIPTS = ${JSON.stringify(scriptFile)} }`,
			`[agentwire]\ncontain = "${contain}"`,
			"[background]\nkill_grace_period_ms = 300",
		].join("\n"),
	);
}

/** The client's side of a server: resolves promises as lines come. */
function follow(server: ChildProcessWithoutNullStreams) {
	let stderr = "";
	server.stdin.on("error", () => undefined);
	server.stderr.setEncoding("utf8").on("data", (text: string) => {
		stderr += text;
	});
	const called = createDeferred<void>();
	const answered = createDeferred<void>();
	const gone = new Promise<void>((resolve) => {
		server.once("exit", () => resolve());
		server.once("error", () => resolve());
	});
	/** Rejects when the server goes first; whether anyone listens depends on the round. */
	const orLost = (work: Promise<void>): Promise<void> => {
		const race = Promise.race([work, gone.then(() => Promise.reject(new Error("the server went")))]);
		race.catch(() => undefined);
		return race;
	};
	createInterface({ input: server.stdout }).on("line", (text) => {
		const line: { id?: string; params?: { type?: string } } = JSON.parse(text);
		if (line.params?.type === "ToolCall" || line.params?.type === "MCPLoadingBegin") called.resolve();
		if (line.id === "prompt") answered.resolve();
	});
	const send = (message: object): void =>
		void server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
	return {
		called: orLost(called.promise),
		answered: orLost(answered.promise),
		gone,
		send,
		stderr: () => stderr,
	};
}

async function within(work: Promise<void>, milliseconds: number, what: string): Promise<void> {
	const late = new AbortController();
	const timer = delay(milliseconds, undefined, { signal: late.signal }).then(
		() => Promise.reject(new Error(`no ${what} within ${milliseconds} ms`)),
		() => undefined,
	);
	try {
		await Promise.race([work, timer]);
	} finally {
		late.abort();
	}
}

async function grow({ tree, token, endAfter }: Round): Promise<void> {
	if (endAfter !== null) return void (await delay(endAfter));
	const wanted = Math.max(1, tree.resting);
	const isGrown = (text: string) => (tree.resting === 0 ? text.includes(token) : text.startsWith(token));
	await waitFor(() => findProcesses(isGrown).length >= wanted, "the tree did not grow");
}

async function waitFor(isSo: () => boolean, complaint: string): Promise<void> {
	const deadline = performance.now() + growth;
	while (!isSo()) {
		if (performance.now() > deadline) throw new Error(complaint);
		await delay(pollInterval);
	}
}

/** Ends a command in the background in one of the ways in which one in the foreground does not end. */
async function endInBackground(round: Round, root: string): Promise<void> {
	// The answer comes before the command runs: a look at once would find nothing.
	await waitFor(() => findProcesses((text) => text.includes(round.token)).length > 0, "the tree did not begin");
	if (round.ending !== "SIGKILL of the worker") return;
	await grow(round);
	for (const { processId } of workersOf(root)) killQuietly(processId);
}

const workersOf = (root: string) =>
	findProcesses((text) => text.includes("__background-task-worker") && text.includes(root));

/** Plays one round. What the tree left is killed before it returns. */
export async function playRound(round: Round): Promise<RoundResult> {
	const { tree, token, ending, place } = round;
	const root = mkdtempSync(path.join(tmpdir(), "agentwire-orphans-"));
	prepare(root, toCommand(tree, token, ending === "exit"), round);
	const server = spawn(builtExecutable, ["--wire", "--yolo", "--work-dir", root], {
		cwd: root,
		env: { PATH: process.env["PATH"], HOME: root, KIMI_SHARE_DIR: root },
	});
	const client = follow(server);
	const ofTree = () => findProcesses((text) => text.includes(token));
	let trouble: string | null = null;
	let watchdogs: readonly Found[] = [];
	let start = performance.now();
	try {
		client.send({ id: "prompt", method: "prompt", params: { user_input: "go" } });
		await within(client.called, answerPatience, "tool call");
		const isServerEnd = ending === "end of input" || ending === "SIGTERM" || ending === "SIGKILL";
		// A tree that is left or timed out ends when it likes.
		if (isServerEnd || ending === "cancel") await grow(round);
		watchdogs = [server.pid ?? 0, ...workersOf(root).map(({ processId }) => processId)].flatMap(watchdogsOf);
		start = performance.now();
		if (ending === "cancel") client.send({ id: "cancel", method: "cancel" });
		if (ending === "end of input") server.stdin.end();
		if (ending === "SIGTERM" || ending === "SIGKILL") server.kill(ending);
		await within(isServerEnd ? client.gone : client.answered, answerPatience, isServerEnd ? "end" : "answer");
		if (place === "background" && !isServerEnd) await endInBackground(round, root);
		if (!isServerEnd) start = performance.now();
	} catch (thrown) {
		trouble = `${String(thrown)} ${client.stderr()}`.trim();
	}
	const beforeLook = performance.now() - start;
	const { left, milliseconds } = await waitUntilNone(ofTree, patience);
	const goneAfter = beforeLook + milliseconds;
	for (let tries = 0; tries < 100; tries += 1) {
		const rest = ofTree();
		if (rest.length === 0) break;
		for (const { processId } of rest) killQuietly(processId);
	}
	server.stdin.end();
	await within(client.gone, answerPatience, "end").catch(() => server.kill("SIGKILL"));
	const ids = new Set(watchdogs.map(({ processId }) => processId));
	const lateDogs = await waitUntilNone(
		() => findProcesses((text) => text.includes("agentwire-watchdog")).filter(({ processId }) => ids.has(processId)),
		patience,
	);
	await waitUntilNone(() => workersOf(root), patience);
	rmSync(root, { recursive: true, force: true, maxRetries: 5 });
	return { survivors: left.map(({ text }) => text), goneAfter, watchdogs: lateDogs.left.length, trouble };
}
