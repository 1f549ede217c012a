// Sessions that the real kimi 1.49 and this program continue in turn. `AGENTWIRE_KIMI` names its executable:
// `pip install kimi-cli==1.49.0`, with Python 3.13 or later.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { isRecord } from "../../src/base/json.ts";
import { createStage, executablePath, type Stage } from "../support/executable/executable.ts";
import type { Server, ServerLine } from "../support/executable/running-server.ts";

const kimi = process.env["AGENTWIRE_KIMI"] ?? "";
if (kimi === "") console.warn("skipped: sessions continued by kimi (AGENTWIRE_KIMI names no executable)");

const id = "5ac1e9f4-1111-4222-8333-000000000001";
const timeout = 60_000;

/** What the model says in turn `n`: a call that writes a file, and a last word. */
const scriptOf = (workDir: string, n: number) => {
	const written = JSON.stringify({ path: path.join(workDir, `${n}.txt`), content: `file ${n}`, mode: "overwrite" });
	const call = JSON.stringify({ id: `call-${n}`, name: "WriteFile", arguments: written });
	return [`text: I write ${n}.\ntool_call: ${call}`, `text: Done with ${n}.`];
};

/** The messages up to the answer to a request; every approval is given. */
async function ask(server: Server, method: string, params: object): Promise<readonly ServerLine[]> {
	server.request("asked", method, params);
	return await server.readUntil((line) => {
		if (method === "prompt" && line.method === "request") server.decide(line, "approve");
		return line.id === "asked" && line.method === undefined;
	});
}

async function withServer<T>(stage: Stage, executable: string, work: (server: Server) => Promise<T>): Promise<T> {
	const server = stage.serveAs(executable, "--wire", "--session", id, "--work-dir", stage.workDir);
	server.initialize();
	await server.response("initialize");
	const value = await work(server);
	server.endInput();
	await server.exited;
	return value;
}

/** One turn of the session. */
async function play(stage: Stage, executable: string, n: number): Promise<void> {
	stage.setScripts(scriptOf(stage.workDir, n));
	const lines = await withServer(stage, executable, (server) => ask(server, "prompt", { user_input: `prompt ${n}` }));
	expect(lines.at(-1)?.result).toMatchObject({ status: "finished" });
	expect(readFileSync(path.join(stage.workDir, `${n}.txt`), "utf8")).toBe(`file ${n}`);
}

/** What a replay shows of the session: prompts, texts, and whether the calls failed. */
async function replay(stage: Stage, executable: string): Promise<readonly unknown[]> {
	const lines = await withServer(stage, executable, (server) => ask(server, "replay", {}));
	return lines.flatMap(({ params }) => {
		if (params?.type === "TurnBegin") return [params.payload["user_input"]];
		if (params?.type === "ContentPart") return [params.payload["text"]];
		const value = params?.payload["return_value"];
		return params?.type === "ToolResult" && isRecord(value) ? [{ isError: value["is_error"] }] : [];
	});
}

/** The roles and texts of the messages that the model is sent. */
function readContext(stage: Stage): readonly unknown[] {
	return readFileSync(path.join(stage.sessionDir(id), "context.jsonl"), "utf8")
		.split("\n")
		.filter(Boolean)
		.map((line): Record<string, unknown> => JSON.parse(line))
		.filter(({ role }) => role === "user" || role === "assistant")
		.map(({ role, content }) => [role, Array.isArray(content) ? content[0]?.text : content]);
}

const expectedReplay = (count: number) =>
	Array.from({ length: count }, (_, index) => index + 1).flatMap((n) => [
		`prompt ${n}`,
		`I write ${n}.`,
		{ isError: false },
		`Done with ${n}.`,
	]);
const expectedContext = (count: number) =>
	Array.from({ length: count }, (_, index) => index + 1).flatMap((n) => [
		["user", `prompt ${n}`],
		["assistant", `I write ${n}.`],
		["assistant", `Done with ${n}.`],
	]);

describe.skipIf(kimi === "")("a session that kimi 1.49 and this program continue in turn", () => {
	it.each([
		["kimi", [kimi, executablePath, kimi, executablePath]],
		["this program", [executablePath, kimi, executablePath, executablePath, kimi]],
	])("has all turns for both, begun by %s", { timeout }, async (_name, order) => {
		const stage = createStage();
		for (const [index, executable] of order.entries()) await play(stage, executable, index + 1);
		for (const executable of [executablePath, kimi])
			expect(await replay(stage, executable)).toEqual(expectedReplay(order.length));
		expect(readContext(stage)).toEqual(expectedContext(order.length));
	});

	it("is continued by kimi after a projection was lost and mended", { timeout }, async () => {
		const stage = createStage();
		await play(stage, executablePath, 1);
		await play(stage, kimi, 2);
		await play(stage, executablePath, 3);
		writeFileSync(path.join(stage.sessionDir(id), "wire.jsonl"), "");
		await play(stage, executablePath, 4);
		await play(stage, kimi, 5);
		expect(await replay(stage, kimi)).toEqual(expectedReplay(5));
		expect(readContext(stage)).toEqual(expectedContext(5));
	});
});
