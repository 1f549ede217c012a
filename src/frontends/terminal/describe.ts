import type { Token } from "../../base/text/code-tokens.ts";
import { diffLines, hunks } from "../../base/text/line-diff.ts";
import { visibleText } from "../../base/text/visible-text.ts";
import type { Approval, ToolCall } from "../../client/client.ts";

/** The most telling argument by tool name; for other tools the first text. */
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
	SetTodoList: "Update the to-do list",
	EnterPlanMode: "Propose to plan first",
	ExitPlanMode: "Hand in the plan",
};

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

export function oneLine(text: string): string {
	const [first = "", ...rest] = text.trim().split("\n");
	return visibleText(first) + (rest.length > 0 ? " …" : "");
}

export function linesOf(text: string): string[] {
	return text
		.replace(/\n$/, "")
		.split("\n")
		.map((line) => visibleText(line.replace(/\r$/, "")));
}

/** `tokens` is set where colors are known. */
export interface DisplayLine {
	readonly sign: " " | "+" | "-" | "@";
	readonly text: string;
	readonly tokens: readonly Token[] | null;
}

type FindTokens = (text: string, language: string) => readonly (readonly Token[])[] | null;

export function displayLines(display: Approval["display"], find: FindTokens = () => null): DisplayLine[] {
	const plain = (sign: DisplayLine["sign"], text: string) => ({ sign, text: visibleText(text), tokens: null });
	return display.flatMap((block): DisplayLine[] => {
		if (block.type === "brief" && "text" in block) return linesOf(block.text).map((text) => plain(" ", text));
		if (block.type === "shell" && "command" in block) {
			return linesOf(block.command).map((text, index) => plain(" ", `${index === 0 ? "$ " : "  "}${text}`));
		}
		if (block.type !== "diff" || !("old_text" in block)) return [];
		const { path, old_text, new_text, old_start, new_start } = block;
		const language = path.split(".").at(-1) ?? "";
		const [before, after] = [find(old_text, language), find(new_text, language)];
		const shown = hunks(diffLines(old_text, new_text, old_start, new_start)).flatMap((lines, index) => [
			...(index === 0 ? [] : [plain("@", "…")]),
			...lines.map(({ kind, text, old, fresh }) => ({
				...plain(signs[kind], text),
				tokens: (fresh === null ? before?.[(old ?? 0) - old_start] : after?.[fresh - new_start]) ?? null,
			})),
		]);
		return [plain("@", `${path}:${new_start}`), ...shown];
	});
}

const signs = { same: " ", added: "+", removed: "-" } as const;

export function duration(milliseconds: number): string {
	const seconds = Math.floor(milliseconds / 1000);
	return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
