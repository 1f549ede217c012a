import { describe, expect, it } from "vitest";
import { impliedMode, isCalledKimi } from "./executable-name.ts";

describe("the name of the executable", () => {
	it.each<[string, "wire" | null]>([
		["kimi", "wire"],
		["/usr/local/bin/kimi", "wire"],
		["./kimi-agent", "wire"],
		["/opt/agentwire/bin/agentwire", null],
		["/home/kimi/bin/agentwire", null],
		["kimi/", "wire"],
		["kimi-cli", null],
		["Kimi", null],
		["", null],
	])("%j implies the mode %s", (executable, mode) => {
		expect(impliedMode(executable)).toBe(mode);
		expect(isCalledKimi(executable)).toBe(mode === "wire");
	});
});
