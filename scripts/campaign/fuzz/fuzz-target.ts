// What the fuzz campaign talks to: a server in memory whose turns wait to be let go, or the built executable.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createLineSplitter } from "../../../src/base/lines.ts";
import type { ModelMove } from "../../../test/support/campaign-model.ts";
import { createCampaignServer, nextTurn } from "../../../test/support/campaign-server.ts";

/** A server at the other end of lines. */
export interface LineTarget {
	/** After this long, in milliseconds, a reply does not come any more. */
	readonly patience: number;
	write(bytes: Buffer): Promise<void>;
	/** The next line; null once the server is gone. */
	read(): Promise<string | null>;
	/** Lets what was caused arrive. */
	rest(): Promise<void>;
	/** Ends the input; what was wrong with the end. */
	close(): Promise<readonly string[]>;
}

export interface FuzzTarget extends LineTarget {
	/** Whether an accepted prompt's turn stays until `letGo`. */
	readonly holdsTurns: boolean;
	/** The text of a prompt that ends well. */
	readonly goodInput: string;
	/** Lets every held turn go to its end; `hold` holds the later ones. */
	release(): void;
	hold(): void;
}

export type OpenTarget = () => Promise<FuzzTarget>;

const question = { question: "Which way?", options: [{ label: "Left" }, { label: "Right" }] };

/** A step that asks the person, where a client can, before the last one. */
const askingMoves: readonly ModelMove[] = [
	{ kind: "call", id: "ask", name: "AskUserQuestion", arguments: JSON.stringify({ questions: [question] }) },
	{ kind: "done", counted: true },
];

export const openMemoryTarget: OpenTarget = async () => {
	const server = await createCampaignServer();
	let ended = false;
	const over = server.serving.ended
		.then(() => server.serving.finish())
		.then(() => {
			ended = true;
		});
	return {
		holdsTurns: true,
		patience: 3000,
		goodInput: "Once more.",
		write: async (bytes) => server.client.write(bytes),
		read: () => server.client.read(),
		release() {
			server.gate.open();
			server.gate.push(askingMoves);
		},
		hold: () => server.gate.close(),
		async rest() {
			for (let turn = 0; turn < 3; turn += 1) await nextTurn();
		},
		async close() {
			server.client.end();
			await over;
			await server.close();
			return ended && server.session.snapshot().turnId === null ? [] : ["the server does not come to its end"];
		},
	};
};

const executable = fileURLToPath(new URL("../../../bin/agentwire", import.meta.url));

const configuration = (scripts: string, agentwire: object) => ({
	agentwire,
	default_model: "scripted",
	models: { scripted: { provider: "scripted", model: "scripted", max_context_size: 1_000_000 } },
	providers: {
		scripted: { type: "_scripted_echo", base_url: "", api_key: "", env: { KIMI_SCRIPTED_ECHO_SCRIPTS: scripts } },
	},
});

/** Answers a process has in store: more than it is asked for. */
const answers = 20_000;

export const openProcessTarget: OpenTarget = async () => ({
	...(await openProcess(["--wire"], {})),
	holdsTurns: false,
	goodInput: "Once more.",
	release() {},
	hold() {},
});

/** The executable with these first arguments, and with a scripted model; `agentwire` is that table of the settings. */
export async function openProcess(argv: readonly string[], agentwire: object): Promise<LineTarget> {
	const root = await mkdtemp(path.join(tmpdir(), "agentwire-fuzz-"));
	await mkdir(path.join(root, "work"));
	const configFile = path.join(root, "config.json");
	const scripts = path.join(root, "scripts.json");
	await writeFile(scripts, JSON.stringify(Array.from({ length: answers }, () => "text: fine")));
	await writeFile(configFile, JSON.stringify(configuration(scripts, agentwire)));
	const child = spawn(executable, [...argv, "--work-dir", path.join(root, "work"), "--config-file", configFile], {
		env: { PATH: process.env["PATH"] ?? "", HOME: root, KIMI_SHARE_DIR: path.join(root, "share") },
	});
	const reader = createReader(child);
	const exited = new Promise<string>((resolve) => child.once("close", (code, signal) => resolve(`${code ?? signal}`)));
	child.stdin.on("error", () => {});
	return {
		patience: 15_000,
		write: (bytes) => new Promise((resolve) => child.stdin.write(bytes, () => resolve())),
		read: reader,
		rest: nextTurn,
		async close() {
			child.stdin.end();
			const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
			const end = await exited;
			clearTimeout(timer);
			await rm(root, { recursive: true, force: true });
			return end === "0" ? [] : [`the process ended with ${end}`];
		},
	};
}

/** Lines of a child as they come, one per call. */
function createReader(child: ChildProcessWithoutNullStreams): () => Promise<string | null> {
	const splitter = createLineSplitter(Number.MAX_SAFE_INTEGER);
	const lines: (string | null)[] = [];
	const waiters: ((line: string | null) => void)[] = [];
	const arrive = (line: string | null) => {
		const waiter = waiters.shift();
		if (waiter === undefined) lines.push(line);
		else waiter(line);
	};
	child.stdout.on("data", (bytes: Buffer) => {
		for (const line of splitter.push(bytes)) arrive(line.kind === "line" ? line.text : "");
	});
	child.stdout.on("close", () => arrive(null));
	// Nothing may stand in the way of the child.
	child.stderr.resume();
	return () => {
		const line = lines.shift();
		if (line !== undefined) return Promise.resolve(line);
		return new Promise((resolve) => waiters.push(resolve));
	};
}
