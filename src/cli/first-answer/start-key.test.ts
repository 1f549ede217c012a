import { describe, expect, it } from "vitest";
import { type StartFacts, toStartKey } from "./start-key.ts";

const facts: StartFacts = {
	executable: "/bin/agentwire",
	argv: ["--wire", "--session", "first"],
	environment: { HOME: "/home/a" },
	currentDir: "/work",
	program: "/program",
};

describe("toStartKey", () => {
	it("is the same for the same start, whichever session it names", () => {
		const other = { ...facts, argv: ["--wire", "--session", "second"] };
		expect(toStartKey(other)).toBe(toStartKey(facts));
		expect(toStartKey(facts)).toMatch(/^[0-9a-f]{16}$/);
	});

	it.each<[string, Partial<StartFacts>]>([
		["executable", { executable: "/bin/kimi" }],
		["argument", { argv: ["--wire", "--session", "first", "--yolo"] }],
		["id that may be no name", { argv: ["--wire", "--session", "../first"] }],
		["word in other words", { argv: ["--wire", "--session", "first", "ab"] }],
		["variable", { environment: { HOME: "/home/b" } }],
		["directory", { currentDir: "/elsewhere" }],
		["program", { program: "/another" }],
	])("is another one for another %s", (_name, change) => {
		expect(toStartKey({ ...facts, ...change })).not.toBe(toStartKey(facts));
	});

	it("differs for texts that differ in one character, wherever it is", () => {
		const keys = Array.from({ length: 2000 }, (_, index) => {
			const text = `${"x".repeat(index)}y${"x".repeat(2000 - index)}`;
			return toStartKey({ ...facts, currentDir: text });
		});
		expect(new Set(keys).size).toBe(2000);
	});
});
