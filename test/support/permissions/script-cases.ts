// Scripts with the verdict that rules must have over each of them, as tables.
import { describe, expect, it } from "vitest";
import { type CommandPattern, parseCommandPattern } from "../../../src/core/permissions/shell/command-pattern.ts";
import { judgeScript, type ScriptVerdict } from "../../../src/core/permissions/shell/judge-script.ts";
import { readScript } from "../../../src/core/permissions/shell/read-script.ts";

export const place = { cwd: "/work", home: "/home/u" };

interface TextRules {
	/** Patterns, separated by semicolons. */
	readonly allow?: string;
	readonly ask?: string;
	readonly deny?: string;
	readonly allowsReadOnly?: boolean;
}

interface TextRule {
	readonly text: string;
	readonly pattern: CommandPattern;
}

function patternsOf(texts = ""): readonly TextRule[] {
	return texts
		.split(";")
		.map((text) => text.trim())
		.filter((text) => text !== "")
		.map((text) => {
			const reading = parseCommandPattern(text);
			if (!reading.ok) throw new Error(`${text}: ${reading.reason}`);
			return { text, pattern: reading.pattern };
		});
}

async function judgeText(rules: TextRules, script: string): Promise<ScriptVerdict<TextRule>> {
	const reading = await readScript(script, place);
	const parsed = {
		allow: patternsOf(rules.allow),
		ask: patternsOf(rules.ask),
		deny: patternsOf(rules.deny),
		allowsReadOnly: rules.allowsReadOnly ?? false,
	};
	return judgeScript(parsed, place, reading, ({ path, by }) => {
		if (path?.includes("/secret")) return "deny";
		if (by === "operand") return "allow";
		return path?.startsWith("/work/") && !path.includes("/.git/") && !path.includes("/../") ? "allow" : "ask";
	});
}

type Decision = "allow" | "ask" | "deny" | "none";

export interface Case {
	readonly what: string;
	readonly rules: TextRules;
	readonly decision: Decision;
	/** What the reason, or the piece of the script that it is about, says. */
	readonly fact?: RegExp;
	readonly scripts: readonly string[];
}

export const usual: TextRules = { allow: "git:*; ls:*; echo:*", deny: "rm:*" };

/** Tries each script of each class. */
export function describeScripts(cases: readonly Case[]): void {
	describe("the verdict over a script", () => {
		const rows = cases.flatMap(({ scripts, ...rest }) => scripts.map((script) => ({ ...rest, script })));
		it.each(rows)("$decision for $what: $script", async ({ rules, decision, fact, script }) => {
			const verdict = await judgeText(rules, script);
			expect({ ...verdict, decision: verdict.decision ?? "none" }).toMatchObject({ decision });
			if (fact !== undefined) expect(`${verdict.text} ${verdict.why}`).toMatch(fact);
		});
	});
}
