// What the tables of judgements share: rules as text, and a judge of files that protects what is outside of the work
// directory and two places inside it.
import { type CommandPattern, parseCommandPattern } from "./command-pattern.ts";
import { judgeScript, type ScriptVerdict } from "./judge-script.ts";
import { readScript } from "./read-script.ts";

export const place = { cwd: "/work", home: "/home/u" };

export interface TextRules {
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

export async function judgeText(rules: TextRules, script: string): Promise<ScriptVerdict<TextRule>> {
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
