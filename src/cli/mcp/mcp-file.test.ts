import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { McpError } from "./mcp-error.ts";
import { editMcpEntries, readMcpEntries } from "./mcp-file.ts";

let root: string;
let file: string;
beforeEach(() => {
	root = mkdtempSync(path.join(tmpdir(), "agentwire-mcp-file-"));
	file = path.join(root, "mcp.json");
});
afterEach(() => rmSync(root, { recursive: true }));

const place = () => ({ files: createDiskFiles(), clock: systemClock, shareDir: root });
const add = (name: string, entry: object = { command: "new" }) =>
	editMcpEntries(place(), (entries) => ({ ...entries, [name]: entry }));
const content = () => readFileSync(file, "utf8");

describe("mcp.json", () => {
	it("has no entries without a file, and is then created for the owner only", async () => {
		expect(await readMcpEntries(place())).toEqual({});
		expect(existsSync(file)).toBe(false);
		await add("new");
		expect(content()).toBe('{\n  "mcpServers": {\n    "new": {\n      "command": "new"\n    }\n  }\n}\n');
		expect(statSync(file).mode & 0o777).toBe(0o600);
	});

	it("is created together with the share directory", async () => {
		const shareDir = path.join(root, "not/yet");
		await editMcpEntries({ ...place(), shareDir }, () => ({ a: { command: "a" } }));
		expect(await readMcpEntries({ ...place(), shareDir })).toEqual({ a: { command: "a" } });
	});

	it("preserves unrelated content, order and file mode", async () => {
		const other = { url: "https://a", headers: { K: "V" }, extra: [1, { deep: null }], timeout: 1.5 };
		const before = { inputs: [{ id: "x" }], mcpServers: { other, "": 7 }, $schema: "s" };
		writeFileSync(file, `\ufeff${JSON.stringify(before)}`, { mode: 0o640 });
		await add("new");
		const after = { ...before, mcpServers: { ...before.mcpServers, new: { command: "new" } } };
		expect(content()).toBe(`${JSON.stringify(after, null, 2)}\n`);
		expect(statSync(file).mode & 0o777).toBe(0o640);
	});

	it.each([
		["at the root", { a: { command: "a" }, note: "x" }, { a: { command: "a" }, note: "x", new: { command: "new" } }],
		["nowhere", { note: "x" }, { note: "x", mcpServers: { new: { command: "new" } } }],
		["under a key that is null", { mcpServers: null }, { mcpServers: { new: { command: "new" } } }],
	])("gets a server next to the others: %s", async (_, before, after) => {
		writeFileSync(file, JSON.stringify(before));
		await add("new");
		expect(JSON.parse(content())).toEqual(after);
		expect(Object.keys(await readMcpEntries(place()))).not.toContain("note");
	});

	it("accepts any name", async () => {
		for (const name of ["__proto__", "constructor", "a b", "7"]) await add(name);
		expect(Object.keys(await readMcpEntries(place())).sort()).toEqual(["7", "__proto__", "a b", "constructor"]);
	});

	it("may be a link", async () => {
		const target = path.join(root, "elsewhere.json");
		symlinkSync("elsewhere.json", file);
		await add("new");
		expect(JSON.parse(readFileSync(target, "utf8"))).toEqual({ mcpServers: { new: { command: "new" } } });
	});

	it("loses nothing in concurrent edits", async () => {
		const names = Array.from({ length: 8 }, (_, n) => `server-${n}`);
		await Promise.all(names.map((name) => add(name)));
		expect(Object.keys(await readMcpEntries(place())).sort()).toEqual(names);
	});

	it("stays unchanged when the edit is refused", async () => {
		writeFileSync(file, "{}");
		const refused = editMcpEntries(place(), () => {
			throw new McpError("no");
		});
		await expect(refused).rejects.toThrow("no");
		expect(content()).toBe("{}");
	});

	it("is not changed when it is not UTF-8: a value would come back as another one", async () => {
		const before = Buffer.from('{"mcpServers":{"x":{"command":"caf\xe9"}}}', "latin1");
		writeFileSync(file, before);
		await expect(add("new")).rejects.toThrow(`${file} is not UTF-8`);
		expect(readFileSync(file).equals(before)).toBe(true);
		expect(Object.keys(await readMcpEntries(place()))).toEqual(["x"]);
	});

	it.each([
		["", "is not JSON"],
		['{\n\t"mcpServers": {]\n}', "is not JSON at line 2, column 17: "],
		["[]", "does not contain a JSON object"],
		["null", "does not contain a JSON object"],
		['{"mcpServers": []}', "mcpServers is not an object"],
	])("is not changed when it contains %j", async (broken, reason) => {
		writeFileSync(file, broken);
		for (const attempt of [() => add("new"), () => readMcpEntries(place())]) {
			const thrown = await attempt().catch((error: unknown) => error);
			expect(thrown).toBeInstanceOf(McpError);
			expect(String(thrown)).toContain(file);
			expect(String(thrown)).toContain(reason);
		}
		expect(content()).toBe(broken);
	});
});
