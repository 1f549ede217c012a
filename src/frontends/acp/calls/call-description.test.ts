import { describe, expect, it } from "vitest";
import { describeCall } from "./call-description.ts";

const described = (name: string, given: object) => describeCall(name, JSON.stringify(given), "/work");

describe("a tool call for an editor", () => {
	it("that runs a command has the command as its title, and nothing else", () => {
		const command = "cd a && ls 'b c'\n# twice";
		expect(described("Shell", { command })).toEqual({
			title: command,
			kind: "execute",
			locations: [],
			rawInput: { command },
		});
	});

	it("names the files that it is about, absolute and with their line", () => {
		expect(described("ReadFile", { path: "a.ts", line_offset: 7 })).toMatchObject({
			title: "Read a.ts",
			kind: "read",
			locations: [{ path: "/work/a.ts", line: 7 }],
		});
		expect(described("WriteFile", { path: "/b.ts", content: "x" })).toMatchObject({
			title: "Write /b.ts",
			kind: "edit",
			locations: [{ path: "/b.ts" }],
		});
		expect(described("Grep", { pattern: "x", path: "src" })).toMatchObject({
			kind: "search",
			locations: [{ path: "/work/src" }],
		});
		expect(described("Glob", { pattern: "*.ts" })).toMatchObject({ kind: "search", locations: [] });
	});

	it.each([0, -1, 1.5, "7", null])("has no line %j", (line_offset) => {
		expect(described("ReadFile", { path: "a", line_offset }).locations).toEqual([{ path: "/work/a" }]);
	});

	it.each([
		["a tool that nobody knows", "mcp_thing", { a: 1 }, "mcp_thing"],
		["what objects inherit", "constructor", {}, "constructor"],
		["a command that is missing", "Shell", {}, "Shell"],
		["a command that is no text", "Shell", { command: 5 }, "Shell"],
		["arguments that are a list", "ReadFile", ["a"], "ReadFile"],
	])("has the name of its tool as its title for %s", (_, name, given, title) => {
		expect(described(name, given)).toMatchObject({ title, locations: [], rawInput: given });
	});

	it("has arguments that cannot be read as text", () => {
		const deep = `${"[".repeat(5000)}${"]".repeat(5000)}`;
		for (const json of ['{"path":', "nonsense", deep]) {
			expect(describeCall("ReadFile", json, "/work")).toEqual({
				title: "ReadFile",
				kind: "read",
				locations: [],
				rawInput: json,
			});
		}
		expect(describeCall("Think", " ", "/work").rawInput).toEqual({});
	});

	it("has no arguments while they are not complete", () => {
		expect(describeCall("Shell", null, "/work")).toEqual({ title: "Shell", kind: "execute", locations: [] });
	});
});
