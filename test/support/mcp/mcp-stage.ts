// MCP servers for tests of the built executable: the fixture that misbehaves on demand, and published ones.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import type { Stage } from "../executable/executable.ts";
import type { Server, ServerLine } from "../executable/running-server.ts";

const fixtureFile = fileURLToPath(new URL("../../fixtures/mcp/server.mjs", import.meta.url));

/** The entry of a server that behaves as the words say; see the fixture. */
export function fixture(...words: readonly string[]): object {
	return { command: process.execPath, args: [fixtureFile, ...words] };
}

const publishedFiles = {
	everything: new URL("../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
	filesystem: new URL("../../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", import.meta.url),
};

/** The main file of a published server. */
export function published(name: keyof typeof publishedFiles): string {
	return fileURLToPath(publishedFiles[name]);
}

export function writeServers(stage: Stage, servers: Readonly<Record<string, object>>): void {
	writeFileSync(path.join(stage.shareDir, "mcp.json"), JSON.stringify({ mcpServers: servers }));
}

/** Starts the published server of everything on a free port of loopback; gives what ends it, and its address. */
export async function serveEverything(transport: "streamableHttp" | "sse", port?: number) {
	const chosen = port ?? (await freePort());
	const child = spawn(process.execPath, [published("everything"), transport], {
		env: { ...process.env, PORT: String(chosen) },
	});
	await new Promise<void>((resolve, reject) => {
		const look = (bytes: Buffer) => {
			if (/listening|running|started/i.test(bytes.toString("utf8"))) resolve();
		};
		child.stdout.on("data", look);
		child.stderr.on("data", look);
		child.once("exit", () => reject(new Error("the server ended")));
	});
	onTestFinished(() => end(child));
	const url = `http://127.0.0.1:${chosen}/${transport === "sse" ? "sse" : "mcp"}`;
	return { url, port: chosen, end: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null) return;
	const gone = new Promise((resolve) => child.once("exit", resolve));
	child.kill("SIGKILL");
	await gone;
}

function freePort(): Promise<number> {
	return new Promise((resolve) => {
		const server = createServer().listen(0, "127.0.0.1", () => {
			const address = server.address();
			server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
		});
	});
}

/** The lines of a turn, whose approvals are given. Reads up to the response. */
export async function runTurn(server: Server, id = "prompt", input = "go"): Promise<ServerLine[]> {
	server.prompt(input, id);
	const lines: ServerLine[] = [];
	for (;;) {
		const line = await server.read();
		if (line === null) throw new Error(`The output ended: ${server.stderr}`);
		lines.push(line);
		if (line.id === id && line.method === undefined) return lines;
		if (line.params?.type === "ApprovalRequest") server.decide(line, "approve");
	}
}

interface ReturnValue {
	readonly is_error: boolean;
	readonly output: string | readonly { readonly type: string; readonly text?: string }[];
	readonly message: string;
	readonly display: readonly { readonly text?: string }[];
}

/** The results of the tools of a turn, by the ids of their calls. */
export function resultsOf(lines: readonly ServerLine[]): Readonly<Record<string, ReturnValue>> {
	const results = lines
		.filter(({ params }) => params?.type === "ToolResult")
		.map(({ params }) => params?.payload ?? {});
	return Object.fromEntries(
		results.map((payload) => [payload["tool_call_id"], payload["return_value"] as ReturnValue]),
	);
}

/** The text of a result. */
export function textOf(result: ReturnValue | undefined): string {
	if (result === undefined) throw new Error("There is no result.");
	const { output } = result;
	return typeof output === "string" ? output : output.map(({ text = "" }) => text).join("");
}

/** Each step of the loading of servers as a word or two, and the beginning of a step. */
export function loadingOf(lines: readonly ServerLine[]): string[] {
	return lines.flatMap(({ params }) => {
		if (params?.type === "MCPLoadingBegin" || params?.type === "MCPLoadingEnd" || params?.type === "StepBegin") {
			return [params.type];
		}
		const status = params?.type === "StatusUpdate" ? params.payload["mcp_status"] : null;
		if (status === null || status === undefined) return [];
		const { loading, servers } = status as { loading: boolean; servers: { name: string; status: string }[] };
		const words = servers.map((server) => `${server.name} ${server.status}`);
		return [[loading ? "loading" : "loaded", ...words].join(", ")];
	});
}

/** The log of the stage. */
export function logOf(stage: Stage): string {
	const file = path.join(stage.shareDir, "logs", "agentwire.log");
	return existsSync(file) ? readFileSync(file, "utf8") : "";
}

export async function until(condition: () => boolean): Promise<void> {
	await expect.poll(condition, { timeout: 10_000, interval: 20 }).toBe(true);
}
