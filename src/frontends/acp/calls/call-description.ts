import path from "node:path";
import { isRecord, isTextNestedWithin } from "../../../base/json.ts";
import type { Location, ToolKind } from "../wire-updates.ts";

/** The command tool, whose calls editors show as a terminal. */
export const shellName = "Shell";

export const planTools: ReadonlySet<string> = new Set(["EnterPlanMode", "ExitPlanMode"]);

export interface CallDescription {
	readonly title: string;
	readonly kind: ToolKind;
	readonly locations: readonly Location[];
	/** The parsed arguments; absent while incomplete. */
	readonly rawInput?: unknown;
}

type Arguments = Readonly<Record<string, unknown>>;

interface ToolDescription {
	readonly kind: ToolKind;
	/** Null for the tool's name. */
	title(given: Arguments): string | null;
	/** The argument that names a file or directory. */
	readonly place?: string;
	/** The argument with the line, counted from 1. */
	readonly line?: string;
}

const text = (given: Arguments, member: string) => {
	const value = given[member];
	return typeof value === "string" && value !== "" ? value : null;
};
const titled = (word: string, member: string) => (given: Arguments) => {
	const value = text(given, member);
	return value === null ? null : `${word} ${value}`;
};
const plain = () => null;
const reading = { kind: "read", place: "path" } as const;
const editing = { kind: "edit", place: "path" } as const;

const known: Readonly<Record<string, ToolDescription>> = {
	// Only the command, because clients highlight it as shell code.
	[shellName]: { kind: "execute", title: (given) => text(given, "command") },
	ReadFile: { ...reading, title: titled("Read", "path"), line: "line_offset" },
	ReadMediaFile: { ...reading, title: titled("Look at", "path") },
	WriteFile: { ...editing, title: titled("Write", "path") },
	StrReplaceFile: { ...editing, title: titled("Edit", "path") },
	Glob: { kind: "search", title: titled("Find", "pattern"), place: "directory" },
	Grep: { kind: "search", title: titled("Search for", "pattern"), place: "path" },
	FetchURL: { kind: "fetch", title: titled("Fetch", "url") },
	SearchWeb: { kind: "fetch", title: titled("Search the web for", "query") },
	Think: { kind: "think", title: plain },
	SetTodoList: { kind: "think", title: () => "Update the plan" },
	Agent: { kind: "think", title: (given) => text(given, "description") },
	EnterPlanMode: { kind: "switch_mode", title: () => "Enter plan mode" },
	ExitPlanMode: { kind: "switch_mode", title: () => "Hand in the plan" },
	AskUserQuestion: { kind: "other", title: () => "Ask questions" },
};

/** Maximum nesting of arguments sent as a value; deeper ones cannot be serialized. */
const argumentsDepth = 1000;

export function describeCall(name: string, json: string | null, workDir: string): CallDescription {
	const tool = Object.hasOwn(known, name) ? known[name] : undefined;
	const kind = tool?.kind ?? "other";
	if (json === null) return { title: name, kind, locations: [] };
	const rawInput = readArguments(json);
	const given: Arguments = isRecord(rawInput) ? rawInput : {};
	return { title: tool?.title(given) ?? name, kind, locations: locate(tool, given, workDir), rawInput };
}

function locate(tool: ToolDescription | undefined, given: Arguments, workDir: string): readonly Location[] {
	if (tool?.place === undefined) return [];
	const named = text(given, tool.place);
	if (named === null) return [];
	const line = tool.line === undefined ? undefined : given[tool.line];
	const isLine = typeof line === "number" && Number.isInteger(line) && line > 0;
	return [{ path: path.resolve(workDir, named), ...(isLine ? { line } : {}) }];
}

/** Invalid JSON, or too deep JSON, stays text. */
function readArguments(json: string): unknown {
	if (json.trim() === "") return {};
	if (!isTextNestedWithin(json, argumentsDepth)) return json;
	try {
		return JSON.parse(json);
	} catch {
		return json;
	}
}
