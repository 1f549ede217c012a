// The Agent Client Protocol next to Kimi Wire: how long a person waits for the first text, and how fast a conversation
// is loaded.
import { spawn } from "node:child_process";
import type { Target } from "./child.ts";
import { logSizeOf } from "./long-session.ts";
import type { BenchFiles } from "./measurements.ts";

interface Message {
	readonly id?: string;
	readonly method?: string;
	readonly result?: { readonly sessionId?: string };
	readonly error?: { readonly message: string };
}

/** A process whose lines are awaited by what they say. */
function start({ command: [file, ...rest], environment }: Target, words: readonly string[]) {
	const startedAt = performance.now();
	const child = spawn(file, [...rest, ...words], { env: environment, stdio: ["pipe", "pipe", "ignore"] });
	const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
	let waiting: { readonly fits: (line: string) => boolean; take(line: string): void } | null = null;
	// Reading must cost as little as possible: it shares the processors with what is measured.
	let partial = "";
	child.stdout.on("data", (bytes: Buffer) => {
		const lines = (partial + bytes.toString("latin1")).split("\n");
		partial = lines.pop() ?? "";
		for (const line of lines) {
			if (waiting?.fits(line) !== true) continue;
			const { take } = waiting;
			waiting = null;
			take(line);
		}
	});
	const line = (fits: (line: string) => boolean) => new Promise<string>((take) => (waiting = { fits, take }));
	return {
		startedAt,
		send: (id: string, method: string, params: object) =>
			void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`),
		line,
		/** The reply to a request; fails for an error. Nearly all lines are events: they are not parsed. */
		async reply(id: string, onEvent: () => void = () => {}): Promise<Message> {
			const text = await line((each) => {
				if (!each.includes('"method"')) return each.includes(`"id":"${id}"`);
				onEvent();
				return false;
			});
			const message: Message = JSON.parse(text);
			if (message.error !== undefined) throw new Error(message.error.message);
			return message;
		},
		async finish() {
			child.stdin.end();
			await ended;
		},
	};
}

const editorArguments = ({ workDir, shortConfig }: BenchFiles) => [
	"acp",
	"--work-dir",
	workDir,
	"--config-file",
	shortConfig,
];

/** Milliseconds from the start of the process to the first text of an answer, each request sent after the reply before. */
export async function measureWireText(target: Target, { workDir, shortConfig }: BenchFiles): Promise<number> {
	const server = start(target, ["--wire", "--work-dir", workDir, "--config-file", shortConfig]);
	server.send("1", "initialize", { protocol_version: "1.10" });
	await server.reply("1");
	const text = server.line((line) => line.includes('"ContentPart"'));
	server.send("2", "prompt", { user_input: "hello" });
	await text;
	const time = performance.now() - server.startedAt;
	await server.finish();
	return time;
}

/** The same for an editor, which creates a session first. */
export async function measureEditorText(target: Target, files: BenchFiles): Promise<number> {
	const server = start(target, editorArguments(files));
	server.send("1", "initialize", { protocolVersion: 1, clientCapabilities: {} });
	await server.reply("1");
	server.send("2", "session/new", { cwd: files.workDir, mcpServers: [] });
	const sessionId = (await server.reply("2")).result?.sessionId;
	const text = server.line((line) => line.includes('"agent_message_chunk"'));
	server.send("3", "session/prompt", { sessionId, prompt: [{ type: "text", text: "hello" }] });
	await text;
	const time = performance.now() - server.startedAt;
	await server.finish();
	return time;
}

export interface LoadMeasurement {
	/** Megabytes of the stored log per second, from the request to load the session to the reply. */
	readonly rate: number;
	/** The same from the first update on: what it takes to open the session is not in it. */
	readonly replayRate: number;
	/** Milliseconds to the first update. */
	readonly opening: number;
}

/** Loads a session whose log has many events. */
export async function measureLoad(target: Target, files: BenchFiles, sessionId: string): Promise<LoadMeasurement> {
	const server = start(target, editorArguments(files));
	server.send("1", "initialize", { protocolVersion: 1, clientCapabilities: {} });
	await server.reply("1");
	let opened = 0;
	const begun = performance.now();
	server.send("2", "session/load", { sessionId, cwd: files.workDir, mcpServers: [] });
	await server.reply("2", () => {
		if (opened === 0) opened = performance.now();
	});
	const ended = performance.now();
	await server.finish();
	const megabytes = logSizeOf(target.environment["KIMI_SHARE_DIR"] ?? "", files.workDir, sessionId) / 1_000_000;
	return {
		rate: (megabytes * 1000) / (ended - begun),
		replayRate: (megabytes * 1000) / (ended - opened),
		opening: opened - begun,
	};
}
