// Whatever a client may send over the Agent Client Protocol that it should not: each request is answered, nothing else is, and
// the program goes on.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import { lastOf, type Server, type ServerLine } from "../support/executable/running-server.ts";

async function serve(stage: Stage) {
	const server = stage.serve("acp");
	server.request("init", "initialize", { protocolVersion: 1 });
	await server.response("init");
	let asked = 0;
	/** The answer to a request, as a code or "result". */
	const ask = async (method: string, params: unknown): Promise<number | "result"> => {
		asked += 1;
		server.request(`ask-${asked}`, method, params);
		const { error } = await server.response(`ask-${asked}`);
		// The text is for people, and is also where editors look for it.
		if (error !== undefined) expect(error.data).toEqual({ details: error.message });
		return error?.code ?? "result";
	};
	server.request("new", "session/new", { cwd: stage.workDir, mcpServers: [] });
	const sessionId = String((await server.response("new")).result?.["sessionId"]);
	// What is sent of the new session comes before the answer to a later request.
	await ask("session/list", {});
	return { server, sessionId, ask };
}

/** What a line is answered with, so many answers at least: requests are handled concurrently. */
async function answersTo(server: Server, line: string | Buffer, count: number): Promise<readonly ServerLine[]> {
	server.write(line);
	server.write("\n");
	server.request("next", "session/list", {});
	let left = count + 1;
	let isNextSeen = false;
	const lines = await server.readUntil(({ id }) => {
		left -= 1;
		isNextSeen ||= id === "next";
		return isNextSeen && left <= 0;
	});
	return lines.filter(({ id }) => id !== "next");
}

const outline = (lines: readonly ServerLine[]) => lines.map(({ id, error }) => [id, error?.code ?? "result"]);
const deep = (open: string, close: string, depth: number) => `${open.repeat(depth)}${close.repeat(depth)}`;
const request = (id: string, rest = '"method":"session/list","params":{}') => `{"jsonrpc":"2.0","id":${id},${rest}}`;

describe("lines", () => {
	it.each<[string, string | Buffer, readonly (readonly [string | number | null, number | "result"])[]]>([
		["that is not JSON", "hello", [[null, -32_700]]],
		["that is no UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), [[null, -32_700]]],
		["that is blank", " \t ", []],
		["of a batch", `[${request("1")}]`, [[null, -32_600]]],
		["of an empty batch", "[]", [[null, -32_600]]],
		["of a number", "7", [[null, -32_600]]],
		["without a version", '{"id":1,"method":"session/list","params":{}}', [[1, -32_600]]],
		["with a method that is a number", request("1", '"method":5'), [[1, -32_600]]],
		["with an id that is a fraction", request("1.5"), [[null, -32_600]]],
		["with an id that is an object", request("{}"), [[null, -32_600]]],
		["with an id that is true", request("true"), [[null, -32_600]]],
		["with an empty id", request('""'), [["", "result"]]],
		["with a negative id", request("-7"), [[-7, "result"]]],
		["of an unknown method", request('"u"', '"method":"nope"'), [["u", -32_601]]],
		["of a method named as a property of objects", request('"u"', '"method":"__proto__"'), [["u", -32_601]]],
		["of a notification as a request", request('"u"', '"method":"session/cancel","params":{}'), [["u", -32_601]]],
		["of an unknown notification", '{"jsonrpc":"2.0","method":"nope","params":{}}', []],
		["of a notification with wrong params", '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":7}}', []],
		["that withdraws nothing", '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":99}}', []],
		["that answers nothing", '{"jsonrpc":"2.0","id":"z","result":{}}', []],
		[
			"nested deeply in params",
			request('"d"', `"method":"session/list","params":{"_meta":{"a":${deep("[", "]", 20_000)}}}`),
			[["d", "result"]],
		],
		["nested deeply everywhere", deep("[", "]", 100_000), [[null, -32_600]]],
		["with carriage returns", `${request('"c"')}\r`, [["c", "result"]]],
	])("%s", async (_what, line, expected) => {
		const { server } = await serve(createStage());
		expect(outline(await answersTo(server, line, expected.length))).toEqual(expected);
	});

	it("of 100 MiB is refused, and the next one served", async () => {
		const { server, sessionId } = await serve(createStage());
		const text = "a".repeat(100 * 1024 * 1024);
		const params = `"method":"session/prompt","params":{"sessionId":"${sessionId}","prompt":[{"type":"text","text":"${text}"}]}`;
		expect(outline(await answersTo(server, request('"big"', params), 1))).toEqual([[null, -32_700]]);
	});

	it("with one id twice are both answered", async () => {
		const { server } = await serve(createStage());
		const lines = await answersTo(server, `${request('"twin"')}\n${request('"twin"')}`, 2);
		expect(outline(lines)).toEqual([
			["twin", "result"],
			["twin", "result"],
		]);
	});
});

describe("params", () => {
	const ids: readonly (readonly [unknown, number])[] = [
		["unknown", -32_002],
		["__proto__", -32_002],
		["", -32_602],
		[7, -32_602],
		[null, -32_602],
		["../../etc", -32_602],
		["a\0b", -32_602],
		["x".repeat(100_000), -32_602],
	];

	it.each([
		["session/prompt", { prompt: [{ type: "text", text: "hi" }] }],
		["session/load", { mcpServers: [] }],
		["session/resume", {}],
		["session/close", {}],
		["session/set_mode", { modeId: "plan" }],
		["session/set_config_option", { configId: "mode", value: "plan" }],
		["_session/steering", { prompt: [{ type: "text", text: "hi" }] }],
	])("of %s with a session that is none", async (method, rest) => {
		const stage = createStage();
		const { ask } = await serve(stage);
		for (const [sessionId, code] of ids)
			expect([sessionId, await ask(method, { sessionId, cwd: stage.workDir, ...rest })]).toEqual([sessionId, code]);
	});

	it("of session/new with a directory that is none", async () => {
		const stage = createStage();
		const file = path.join(stage.workDir, "file");
		writeFileSync(file, "");
		const { ask } = await serve(stage);
		for (const cwd of ["relative", "", ".", "~", 7, null, `${stage.workDir}/none`, file, "/a\0b"])
			expect([cwd, await ask("session/new", { cwd, mcpServers: [] })]).toEqual([cwd, -32_602]);
		for (const params of [[], "x", 7]) expect(await ask("session/new", params)).toBe(-32_602);
	});

	it("of session/new with servers that are none", async () => {
		const stage = createStage();
		const { ask } = await serve(stage);
		const odd = { name: "a", type: "odd", url: "http://127.0.0.1:1/" };
		for (const server of [7, null, {}, { name: "a" }, { name: "a", command: 7 }, { name: "a", type: "http" }, odd])
			expect([server, await ask("session/new", { cwd: stage.workDir, mcpServers: [server] })]).toEqual([
				server,
				-32_602,
			]);
	});

	it("of session/new with servers that do not start, which costs nothing but their tools", async () => {
		const stage = createStage();
		const { server, ask } = await serve(stage);
		const mcpServers = [
			{ name: "gone", command: "/none/of/these", args: [], env: [] },
			{ name: "odd name/\0", command: "x", args: ["\0"], env: [{ name: "A=B", value: "\0" }] },
			{ name: "__proto__", command: "/bin/false", args: [], env: [{ name: "__proto__", value: "1" }] },
			{ name: "bad", type: "http", url: "nope", headers: [] },
			{ name: "closed", type: "http", url: "http://127.0.0.1:1/", headers: [{ name: "bad name", value: "\n" }] },
		];
		server.request("odd", "session/new", { cwd: stage.workDir, mcpServers });
		const sessionId = (await server.response("odd")).result?.["sessionId"];
		expect(await ask("session/prompt", { sessionId, prompt: [{ type: "text", text: "hi" }] })).toBe("result");
	});

	it("of session/list with a cursor that is none", async () => {
		const { ask } = await serve(createStage());
		for (const cursor of ["garbage", "", 7]) expect(await ask("session/list", { cursor })).toBe(-32_602);
		expect(await ask("session/list", { cwd: "relative" })).toBe(-32_602);
	});

	it("of session/prompt with blocks that are none", async () => {
		const { sessionId, ask } = await serve(createStage());
		const pdf = { type: "resource", resource: { uri: "file:///a", blob: "AAAA", mimeType: "application/pdf" } };
		const blocks = [
			{},
			null,
			[],
			"x",
			{ type: "text" },
			{ type: "text", text: 7 },
			{ type: "odd" },
			{ type: "image" },
			pdf,
		];
		for (const block of blocks)
			expect([block, await ask("session/prompt", { sessionId, prompt: [block] })]).toEqual([block, -32_602]);
		for (const prompt of [[], "x", null, 7]) expect(await ask("session/prompt", { sessionId, prompt })).toBe(-32_602);
		expect(await ask("session/prompt", { sessionId, prompt: [{ type: "text", text: "" }] })).toBe("result");
	});

	it("of choices that are none", async () => {
		const { sessionId, ask } = await serve(createStage());
		for (const modeId of ["odd", "", "__proto__", 7, null])
			expect(await ask("session/set_mode", { sessionId, modeId })).toBe(-32_602);
		const options: readonly (readonly [string, unknown])[] = [
			["odd", "x"],
			["__proto__", "x"],
			["mode", "odd"],
			["mode", true],
			["mode", 7],
			["model", "odd"],
		];
		for (const [configId, value] of options)
			expect(await ask("session/set_config_option", { sessionId, configId, value })).toBe(-32_602);
		expect(await ask("authenticate", { methodId: "odd" })).toBe(-32_602);
	});
});

describe("an answer to a permission that is none", () => {
	it.each([
		["a result of null", { result: null }],
		["a result that is a text", { result: "approve" }],
		["no outcome", { result: {} }],
		["an outcome that nobody knows", { result: { outcome: { outcome: "odd" } } }],
		["no option", { result: { outcome: { outcome: "selected" } } }],
		["an option that is a number", { result: { outcome: { outcome: "selected", optionId: 3 } } }],
		["an error without a text", { error: { code: -32_603 } }],
		["an error that is a text", { error: "no" }],
		["an error that is null", { error: null }],
		["neither a result nor an error", {}],
	])("rejects it at once: %s", async (_what, answer) => {
		const stage = createStage({ scripts: [toolCall("c1", "Shell", { command: "touch made" }), "text: ok"] });
		const { server, sessionId } = await serve(stage);
		server.request("p", "session/prompt", { sessionId, prompt: [{ type: "text", text: "hi" }] });
		const isAsked = ({ id, method }: ServerLine) => method !== undefined && typeof id === "string";
		const { id } = lastOf(await server.readUntil(isAsked));
		server.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
		expect((await server.response("p")).result).toEqual({ stopReason: "end_turn" });
	});
});
