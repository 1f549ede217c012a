// biome-ignore-all lint/suspicious/noTemplateCurlyInString: scripts are written so.
// Command lines that do more than the words which a rule allows: none of them is allowed.
import { describe, expect, it } from "vitest";
import { type CommandPattern, parseCommandPattern } from "./command-pattern.ts";
import { judgeScript } from "./judge-script.ts";
import { readScript } from "./read-script.ts";

const place = { cwd: "/work", home: "/home/u" };

function patternOf(text: string): { readonly pattern: CommandPattern } {
	const reading = parseCommandPattern(text);
	if (!reading.ok) throw new Error(reading.reason);
	return { pattern: reading.pattern };
}

/** Judges with a rule for the program that the script runs last, and for commands that only read. */
async function judge(script: string, decision: "allow" | "deny", ...patterns: readonly string[]) {
	const rules = { allow: [], ask: [], deny: [], allowsReadOnly: decision === "allow" };
	const reading = await readScript(script, place);
	return judgeScript({ ...rules, [decision]: patterns.map(patternOf) }, place, reading, () => "allow").decision;
}

describe("a rule does not allow", () => {
	it.each([
		["a shell of its own for npm", "export npm_config_script_shell=./x; npm test", "npm test"],
		["options of node through npm", "declare -x npm_config_node_options=--require=./x; npm test", "npm test"],
	])("%s", async (_, script, pattern) => {
		expect(await judge(script, "allow", pattern)).not.toBe("allow");
	});
});
