import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { answerBeginning, readHandshake, readRemembered, writeRemembered } from "./remembered-answers.ts";

const params = { protocol_version: "1.10" };
const request = { jsonrpc: "2.0", id: "1", method: "initialize", params };
const made = { files: [["/a", "read", "ENOENT"]], outboxBytes: 1 } as const;

function createPlace(): string {
	const root = mkdtempSync(path.join(tmpdir(), "agentwire-answers-"));
	onTestFinished(() => rmSync(root, { recursive: true, force: true }));
	return path.join(root, "answers");
}

describe("readHandshake", () => {
	it("reads a plain request, with or without its version", () => {
		const expected = { id: "1", params: JSON.stringify(params) };
		const { jsonrpc: _version, ...without } = request;
		expect(readHandshake(JSON.stringify(request))).toEqual(expected);
		expect(readHandshake(JSON.stringify(without))).toEqual(expected);
	});

	it.each([
		["no JSON", "{"],
		["another method", JSON.stringify({ ...request, method: "prompt" })],
		["an id that is no text", JSON.stringify({ ...request, id: 1 })],
		["a notification", JSON.stringify({ ...request, id: undefined })],
		["another version", JSON.stringify({ ...request, jsonrpc: "1.0" })],
		["further members", JSON.stringify({ ...request, result: {} })],
		["params that are a list", JSON.stringify({ ...request, params: [] })],
		["deep params", JSON.stringify(request).replace('"1.10"', `${"[".repeat(20_000)}${"]".repeat(20_000)}`)],
		["very long params", JSON.stringify({ ...request, params: { text: "x".repeat(60_000) } })],
	])("leaves %s to the program", (_name, line) => {
		expect(readHandshake(line)).toBeNull();
	});

	it("has the id as the answer writes it", () => {
		const id = 'a"\u2028\\';
		expect(answerBeginning({ id, params: "" })).toBe('{"jsonrpc":"2.0","id":"a\\"\\u2028\\\\",');
	});
});

describe("remembered answers", () => {
	it("are those of the last few params, private, and forgotten when a file has changed", () => {
		const directory = createPlace();
		const file = path.join(directory, "start.json");
		for (const name of ["a", "b", "c", "d", "e"]) writeRemembered(file, made, name, `answer ${name}`);
		expect(Object.keys(readRemembered(file)?.answers ?? {})).toEqual(["b", "c", "d", "e"]);
		expect(statSync(file).mode & 0o777).toBe(0o600);
		writeRemembered(file, { ...made, files: [["/a", "read", "1 2 3"]] }, "f", "answer f");
		expect(readRemembered(file)?.answers).toEqual({ f: "answer f" });
		expect(readdirSync(directory)).toEqual(["start.json"]);
	});

	it.each(["", "{", "null", '{"files":[["/a","read"]],"outboxBytes":1,"answers":{}}', '{"files":[],"answers":{}}'])(
		"are none in the damaged file %j",
		(text) => {
			const directory = createPlace();
			const file = `${directory}.json`;
			writeFileSync(file, text);
			expect(readRemembered(file)).toBeNull();
		},
	);

	it("are kept for 64 starts, the latest", () => {
		const directory = createPlace();
		for (let start = 0; start < 64; start += 1) {
			const file = path.join(directory, `${start}.json`);
			writeRemembered(file, made, "p", "answer");
			utimesSync(file, start, start);
		}
		writeRemembered(path.join(directory, "new.json"), made, "p", "answer");
		const names = readdirSync(directory);
		expect(names).toHaveLength(64);
		expect(names).not.toContain("0.json");
		expect(names).toContain("new.json");
	});
});
