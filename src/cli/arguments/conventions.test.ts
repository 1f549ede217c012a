import { describe, expect, it } from "vitest";
import { parseCommandLine } from "./command-line.ts";
import { toConventions } from "./conventions.ts";

function parse(name: string, environment: Readonly<Record<string, string>>, line: string) {
	const parsed = parseCommandLine(line.split(" "), toConventions(name, environment));
	return parsed.kind === "print" || parsed.kind === "serve" ? parsed.options : parsed;
}

describe("-c", () => {
	it.each([
		["kimi", {}],
		["agentwire", {}],
		["agentwire", { AGENTWIRE_CLI: "" }],
		["kimi-code", { AGENTWIRE_CLI: "kimi-cli" }],
	])("is the prompt under the name %s with %j", (name, environment) => {
		expect(parse(name, environment, "-c hello")).toMatchObject({ prompt: "hello", session: { kind: "new" } });
	});

	it.each([
		["/opt/bin/kimi-code", {}],
		["kimi", { AGENTWIRE_CLI: "kimi-code" }],
		["agentwire", { AGENTWIRE_CLI: "kimi-code" }],
	])("continues under the name %s with %j", (name, environment) => {
		expect(parse(name, environment, "-c -p hello")).toMatchObject({ prompt: "hello", session: { kind: "last" } });
		expect(parse(name, environment, "-cp hello")).toMatchObject({ prompt: "hello", session: { kind: "last" } });
		expect(parse(name, environment, "-S x -p hello")).toMatchObject({ session: { kind: "existing", id: "x" } });
	});
});

describe("print mode", () => {
	const json = { KIMI_MODEL_OUTPUT_FORMAT: "stream-json" };
	it.each([
		["kimi", {}, "-p hi", { lines: "kimi-code", outputFormat: "text", textForm: "people" }],
		["kimi", {}, "-p hi --output-format stream-json", { lines: "kimi-code", outputFormat: "stream-json" }],
		["kimi", json, "-p hi", { lines: "kimi-code", outputFormat: "stream-json" }],
		["kimi", json, "-p hi --output-format text", { lines: "kimi-code", outputFormat: "text" }],
		["kimi", json, "--print -p hi", { lines: "kimi-cli", outputFormat: "text", textForm: "repr" }],
		["kimi-cli", {}, "--print -p hi", { lines: "kimi-cli", textForm: "repr" }],
		["kimi", {}, "--print -p hi --print-format people", { textForm: "people" }],
		["agentwire", {}, "--print -p hi", { lines: "kimi-cli", textForm: "people" }],
		["agentwire", {}, "--print -p hi --print-format repr", { textForm: "repr" }],
		["kimi-code", {}, "--print -p hi --output-format stream-json", { lines: "kimi-cli" }],
		["kimi", { AGENTWIRE_CLI: "kimi-code" }, "--print -p hi", { lines: "kimi-cli", textForm: "people" }],
		["agentwire", { AGENTWIRE_CLI: "kimi-cli" }, "-p hi --output-format stream-json", { lines: "kimi-cli" }],
	])("of %s with %j: %s", (name, environment, line, options) => {
		expect(parse(name, environment, line)).toMatchObject(options);
	});

	it("refuses formats that there are not, and says where the word came from", () => {
		const named = { KIMI_MODEL_OUTPUT_FORMAT: "json" };
		expect(() => parse("kimi", named, "-p hi")).toThrow("KIMI_MODEL_OUTPUT_FORMAT must be text or stream-json.");
		expect(() => parse("kimi", {}, "--print --print-format rich")).toThrow("--print-format must be people or repr.");
		expect(() => parse("kimi", {}, "--quiet --print-format repr")).toThrow("--print-format works only with");
		expect(() => toConventions("kimi", { AGENTWIRE_CLI: "claude" })).toThrow("must be kimi-cli or kimi-code");
	});
});

describe("--auto", () => {
	it("says to a server that nobody is there, and is not stored by a print run", () => {
		expect(parse("agentwire", {}, "--wire --auto")).toMatchObject({ afk: true, yolo: false });
		expect(parse("agentwire", {}, "--auto -p hi")).toMatchObject({ afk: false });
		expect(() => parse("agentwire", {}, "--wire --auto --yolo")).toThrow("Cannot combine --yolo and --auto.");
	});
});
