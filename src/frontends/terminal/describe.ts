// What calls, approvals and times are to a person at a terminal: plain lines, without escapes of anybody else.
import { visibleText } from "../../base/text/visible-text.ts";
import type { Approval, ToolCall } from "../../client/client.ts";

/** The argument that says most about a call, by the name of the tool; for others the first text among them. */
const telling: Readonly<Record<string, string>> = {
	Shell: "command",
	ReadFile: "path",
	WriteFile: "path",
	StrReplaceFile: "path",
	ReadMediaFile: "path",
	Glob: "pattern",
	Grep: "pattern",
	FetchURL: "url",
	SearchWeb: "query",
	Agent: "description",
};

const verbs: Readonly<Record<string, string>> = {
	Shell: "Run",
	ReadFile: "Read",
	ReadMediaFile: "Look at",
	WriteFile: "Write",
	StrReplaceFile: "Edit",
	Glob: "Find files",
	Grep: "Search",
	FetchURL: "Fetch",
	SearchWeb: "Search the web",
	Agent: "Ask a subagent",
	AskUserQuestion: "Ask you",
};

/** One line, such as `Run npm test`. */
export function callTitle({ name, arguments: text }: ToolCall): string {
	const verb = verbs[name] ?? name;
	const told = tellingArgument(name, text);
	return told === "" ? verb : `${verb} ${told}`;
}

function tellingArgument(name: string, text: string | null): string {
	let args: unknown;
	try {
		args = JSON.parse(text ?? "{}");
	} catch {
		return "";
	}
	if (typeof args !== "object" || args === null) return "";
	const values = new Map<string, unknown>(Object.entries(args));
	const value = values.get(telling[name] ?? "") ?? [...values.values()].find((each) => typeof each === "string");
	return typeof value === "string" ? oneLine(value) : "";
}

/** The first line of a text, without what a terminal would act on. */
export function oneLine(text: string): string {
	const [first = "", ...rest] = text.trim().split("\n");
	return visibleText(first) + (rest.length > 0 ? " …" : "");
}

/** The lines of a text, without what a terminal would act on. */
export function linesOf(text: string): string[] {
	return text
		.replace(/\n$/, "")
		.split("\n")
		.map((line) => visibleText(line.replace(/\r$/, "")));
}

/** What an approval shows: commands, diffs and texts, line by line, with a sign in front of changed ones. */
export function displayLines(
	display: Approval["display"],
): { readonly sign: " " | "+" | "-" | "@"; readonly text: string }[] {
	return display.flatMap((block) => {
		if (block.type === "brief" && "text" in block)
			return linesOf(block.text).map((text) => ({ sign: " " as const, text }));
		if (block.type === "shell" && "command" in block) {
			return linesOf(block.command).map((text, index) => ({
				sign: " " as const,
				text: `${index === 0 ? "$ " : "  "}${text}`,
			}));
		}
		if (block.type === "diff" && "old_text" in block) {
			const old = block.old_text === "" ? [] : linesOf(block.old_text);
			const changed = block.new_text === "" ? [] : linesOf(block.new_text);
			return [
				{ sign: "@" as const, text: visibleText(block.path) },
				...withoutCommon(old, changed).map(([sign, text]) => ({ sign, text })),
			];
		}
		return [];
	});
}

/** Both texts as one, equal lines at both ends once. */
function withoutCommon(old: readonly string[], changed: readonly string[]): ["+" | "-" | " ", string][] {
	let start = 0;
	while (start < old.length && start < changed.length && old[start] === changed[start]) start += 1;
	let end = 0;
	while (end < old.length - start && end < changed.length - start && old.at(-1 - end) === changed.at(-1 - end))
		end += 1;
	return [
		...old.slice(0, start).map((text): [" ", string] => [" ", text]),
		...old.slice(start, old.length - end).map((text): ["-", string] => ["-", text]),
		...changed.slice(start, changed.length - end).map((text): ["+", string] => ["+", text]),
		...old.slice(old.length - end).map((text): [" ", string] => [" ", text]),
	];
}

/** `12 s`, `2 min 5 s`. */
export function duration(milliseconds: number): string {
	const seconds = Math.floor(milliseconds / 1000);
	return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
