// What a session keeps does not depend on the dialect that was spoken: the same turn through each leaves the same files,
// and a session that one began goes on in the others.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import { isResponse, lastOf, type Server } from "../support/executable/running-server.ts";

interface Dialect {
	readonly name: string;
	/** Runs one turn of a new session, approves what is asked, and gives the session's id. */
	run(stage: Stage): Promise<string>;
}

const fixedId = "11111111-2222-4333-8444-555555555555";

const dialects: readonly Dialect[] = [
	{
		name: "Kimi Wire",
		async run(stage) {
			const server = stage.serve("--wire", "--session", fixedId);
			server.initialize();
			server.prompt("go");
			server.decide(await server.message("ApprovalRequest"), "approve");
			expect((await server.response("prompt")).result).toMatchObject({ status: "finished" });
			await end(server);
			return fixedId;
		},
	},
	{
		name: "legacy",
		async run(stage) {
			const server = stage.serve("--wire", "--session", fixedId);
			server.request("run", "run", { input: "go" });
			const request = await server.message("approval");
			server.answer(request.id ?? "", { response: "approve" });
			expect((await server.response("run")).result).toEqual({ status: "finished" });
			await end(server);
			return fixedId;
		},
	},
	{
		name: "Meerkat RPC",
		async run(stage) {
			const server = stage.serve("rpc");
			server.request("initialize", "initialize", { requests: ["approval/request"] });
			await server.response("initialize");
			server.request("create", "session/create", { prompt: "go", enable_builtins: true, enable_shell: true });
			const request = lastOf(await server.readUntil(({ id, method }) => id !== undefined && method !== undefined));
			server.answer(request.id ?? "", { decision: "approve" });
			const { result } = await server.response("create");
			expect(result).toMatchObject({ text: "Done.", turns: 2, tool_calls: 2 });
			await end(server);
			return String(result?.["session_id"]);
		},
	},
];

async function end(server: Server): Promise<void> {
	server.endInput();
	await server.readAll();
	expect(await server.exited).toBe(0);
}

/** Only the host of many sessions stores creation options. */
function withoutMaking(state: string): string {
	const { made_with, ...rest } = JSON.parse(state);
	return JSON.stringify(rest, null, 2);
}

/**
 * All files of a session, ids numbered in the order of their appearance; times and paths of the run are left out. The
 * results of concurrent tools are in the log in the order in which the tools end, so they are moved to its end; in the context
 * they are in the model's order.
 */
/** The records of a journal but for its summaries: calls that run at once are recorded in any order. */
function withoutOrder(text: string): string {
	const lines = text.split("\n").filter((line) => !/^\{"(summary|state":\{"creationOptions)"/.test(line));
	return lines
		.map((line) => line.replace(/"seq":\d+,/, "").replace(',"more":true', ""))
		.sort()
		.join("\n");
}

function retainedFiles(stage: Stage, id: string): Readonly<Record<string, string>> {
	const numbers = new Map<string, number>();
	const directory = stage.sessionDir(id);
	const normal = (text: string) =>
		text
			.replaceAll(stage.workDir, "WORK")
			.replace(/"(timestamp|at)": ?[\d.]+/g, '"$1":0')
			.replace(/"[0-9a-f]{32}"/g, '"HEX"')
			.replace(/\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)/g, "TIME")
			.replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, (found) => {
				const number = numbers.get(found) ?? numbers.size;
				numbers.set(found, number);
				return `ID-${number}`;
			});
	return Object.fromEntries(
		readdirSync(directory, { withFileTypes: true })
			.filter((entry) => entry.isFile())
			.map((entry) => entry.name)
			.sort()
			.map((name) => {
				const text = normal(readFileSync(path.join(directory, name), "utf8"));
				if (name === "state.json") return [name, withoutMaking(text)];
				if (name === "journal.jsonl") return [name, withoutOrder(text)];
				return [name, name === "wire.jsonl" ? withResultsLast(text) : text];
			}),
	);
}

function withResultsLast(log: string): string {
	const lines = log.split("\n");
	const isResult = (line: string) => line.includes('"type":"ToolResult"');
	return [...lines.filter((line) => !isResult(line)), ...lines.filter(isResult).sort()].join("\n");
}

describe("a turn", () => {
	it("leaves the same session whatever dialect it was asked for in", async () => {
		const scripts = [
			[
				"think: Hm.",
				"text: Look.",
				toolCall("call-1", "Glob", { pattern: "*.md" }),
				toolCall("call-2", "Shell", { command: "touch made; echo hi" }),
				'usage: {"input_other": 5, "input_cache_read": 3, "output": 1}',
			].join("\n"),
			'text: Done.\nusage: {"input_other": 9, "output": 2}',
		];
		const persisted: Readonly<Record<string, string>>[] = [];
		for (const { run } of dialects) {
			const stage = createStage({ scripts });
			persisted.push(retainedFiles(stage, await run(stage)));
		}
		const [kimi, legacy, meerkat] = persisted;
		expect(legacy).toEqual(kimi);
		expect(meerkat).toEqual(kimi);

		expect(Object.keys(kimi ?? {})).toEqual(["context.jsonl", "journal.jsonl", "state.json", "wire.jsonl"]);
		const types = kimi?.["wire.jsonl"]?.match(/(?<="message":\{"type":")\w+/g);
		expect(types?.filter((type) => /^T/.test(type))).toEqual([
			"TurnBegin",
			"ToolCall",
			"ToolCall",
			"TurnEnd",
			"ToolResult",
			"ToolResult",
		]);
		expect(kimi?.["journal.jsonl"]).toMatch(/"decision":"approve".*"by":\{"kind":"client"/);
		for (const text of ["Hm.", "Look.", "call-1", "call-2", "Done."]) expect(kimi?.["context.jsonl"]).toContain(text);
	});
});

describe("a session", () => {
	it("that Meerkat RPC began goes on in Kimi Wire, then in legacy, and back", async () => {
		const stage = createStage({ scripts: ['text: one\nusage: {"input_other": 9, "output": 2}'] });
		const meerkat = stage.serve("rpc");
		meerkat.request("create", "session/create", { prompt: "first" });
		const id = String((await meerkat.response("create")).result?.["session_id"]);
		await end(meerkat);

		stage.setScripts(["text: two"]);
		const kimi = stage.serve("--wire", "--session", id);
		kimi.initialize();
		kimi.prompt("second");
		expect((await kimi.response("prompt")).result).toMatchObject({ status: "finished" });
		await end(kimi);

		stage.setScripts(["text: three"]);
		const legacy = stage.serve("--wire", "--session", id);
		legacy.request("run", "run", { input: "third" });
		expect((await legacy.response("run")).result).toEqual({ status: "finished" });
		await end(legacy);

		const replayed = stage.serve("--wire", "--session", id);
		replayed.request("replay", "replay");
		const lines = await replayed.readUntil((line) => isResponse(line, "replay"));
		await end(replayed);
		const payloads = lines.map(({ params }) => params?.payload ?? {});
		expect(payloads.flatMap((payload) => payload["user_input"] ?? [])).toEqual(["first", "second", "third"]);
		expect(payloads.flatMap((payload) => payload["text"] ?? [])).toEqual(["one", "two", "three"]);

		stage.setScripts(["text: four"]);
		const again = stage.serve("rpc");
		again.request("turn", "turn/start", { session_id: id, prompt: "fourth" });
		expect((await again.response("turn")).result).toMatchObject({ session_id: id, text: "four" });
		await end(again);
		const context = readFileSync(path.join(stage.sessionDir(id), "context.jsonl"), "utf8")
			.split("\n")
			.filter((line) => /"role": ?"(user|assistant)"/.test(line));
		const said = context.join().match(/\b(first|one|second|two|third|three|fourth|four)\b/g);
		expect(said).toEqual(["first", "one", "second", "two", "third", "three", "fourth", "four"]);
		expect(stage.sessionIds()).toEqual([id]);
	});
});
