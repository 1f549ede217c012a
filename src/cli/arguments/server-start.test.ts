import { describe, expect, it } from "vitest";
import { parseCommandLine, type ServeOptions } from "./command-line.ts";
import { toServerStart } from "./server-start.ts";
import { UsageError } from "./usage-error.ts";

const names = ["agentwire", "kimi", "kimi-code", "/opt/bin/kimi"];

function serveOptions(...argv: readonly string[]): ServeOptions {
	const parsed = parseCommandLine(argv);
	if (parsed.kind !== "serve") throw new Error(`parsed as ${parsed.kind}`);
	return parsed.options;
}

describe.each(names)("%s", (name) => {
	it.each([[[]], [["--yolo"]], [["--session", "s"]]])(
		"with %j explains the start on a terminal and does not wait",
		(argv) => {
			expect(toServerStart(serveOptions(...argv), name, true)).toEqual({ kind: "explain" });
		},
	);

	it("serves on a terminal when a flag requests it", () => {
		const options = serveOptions("--wire");
		expect(toServerStart(options, name, true)).toEqual({ kind: "serve", options });
	});

	it("lists the sessions for a flag without an id on a terminal", () => {
		expect(toServerStart(serveOptions("-S"), name, true)).toEqual({ kind: "list-sessions", flag: "-S" });
	});

	it.each(["-S", "--session", "--resume", "-r"])("refuses %s without an id elsewhere, with a hint", (flag) => {
		const start = () => toServerStart(serveOptions(flag), name, false);
		expect(start).toThrow(UsageError);
		expect(start).toThrow(new RegExp(`^${flag} needs the id of a session\\. .*terminal.*--continue`));
	});
});

it.each([[[]], [["--yolo"]], [["--session", "s"]]])("kimi-agent with %j serves Kimi Wire on a terminal", (argv) => {
	const options = serveOptions(...argv);
	const start = { kind: "serve", options: { ...options, mode: "wire" } };
	expect(toServerStart(options, "/usr/local/bin/kimi-agent", true)).toEqual(start);
});

it.each([
	["agentwire", null],
	["kimi", "wire"],
	["kimi-agent", "wire"],
] as const)("%s without a mode serves when there is no terminal, restricted to %j", (name, mode) => {
	const options = serveOptions();
	expect(toServerStart(options, name, false)).toEqual({ kind: "serve", options: { ...options, mode } });
});
