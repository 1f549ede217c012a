import { describe, expect, it } from "vitest";
import { impliedMode, isCalledKimi, withImpliedCommand } from "./executable-name.ts";

describe("the name of the executable", () => {
	it.each<[string, "wire" | null]>([
		["kimi", "wire"],
		["/usr/local/bin/kimi", "wire"],
		["./kimi-agent", "wire"],
		["/opt/agentwire/bin/agentwire", null],
		["/home/kimi/bin/agentwire", null],
		["kimi/", "wire"],
		["kimi-cli", "wire"],
		["kimi-code", "wire"],
		["Kimi", null],
		["", null],
	])("%j implies the mode %s", (executable, mode) => {
		expect(impliedMode(executable)).toBe(mode);
		expect(isCalledKimi(executable)).toBe(mode === "wire");
	});

	it.each<[string, readonly string[]]>([
		["rkat-rpc", ["rpc", "--yolo"]],
		["agentwire-acp", ["acp", "--yolo"]],
		["/usr/local/bin/kimi-acp", ["acp", "--yolo"]],
		["kimi-cli", ["--yolo"]],
		["kimi-code", ["--yolo"]],
		["acp", ["--yolo"]],
		["constructor", ["--yolo"]],
	])("%j with a flag stands for %j", (executable, argv) => {
		expect(withImpliedCommand(executable, ["--yolo"])).toEqual(argv);
	});
});
