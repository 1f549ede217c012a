// One table of tool names and inputs for messages, approvals, hooks and history.
import { isRecord } from "../../base/json.ts";

type Input = Readonly<Record<string, unknown>>;
type Convert = (input: Input) => Input;

interface ToolName {
	readonly own: string;
	readonly client: readonly [string, ...string[]];
	readonly toClient: Convert;
	readonly toOwn: Convert;
}

const same: Convert = (input) => input;

/** Renames members; `[own, client]` each. */
function renamed(
	own: string,
	client: ToolName["client"],
	...members: readonly (readonly [string, string])[]
): ToolName {
	const rename = (pairs: ReadonlyMap<string, string>) => (input: Input) =>
		Object.fromEntries(Object.entries(input).map(([key, value]) => [pairs.get(key) ?? key, value]));
	return {
		own,
		client,
		toClient: rename(new Map(members)),
		toOwn: rename(new Map(members.map(([ours, theirs]) => [theirs, ours]))),
	};
}

function withMember(
	name: ToolName,
	[own, client]: readonly [string, string],
	toClient: (value: unknown) => unknown,
	toOwn: (value: unknown) => unknown,
): ToolName {
	const change = (convert: Convert, key: string, to: (value: unknown) => unknown) => (input: Input) => {
		const converted = convert(input);
		return key in converted ? { ...converted, [key]: to(converted[key]) } : converted;
	};
	return { ...name, toClient: change(name.toClient, client, toClient), toOwn: change(name.toOwn, own, toOwn) };
}

const times = (factor: number) => (value: unknown) =>
	typeof value === "number" ? Math.max(1, Math.round(value * factor)) : value;
const word = (from: string, to: string) => (value: unknown) => (value === from ? to : value);
const each = (convert: Convert) => (value: unknown) =>
	Array.isArray(value) ? value.map((item) => (isRecord(item) ? convert(item) : item)) : value;

const edit = renamed("", [""], ["old", "old_string"], ["new", "new_string"]);
const renamedQuestion = renamed("", [""], ["multi_select", "multiSelect"]);
/** Omits empty members, which clients do not know. */
const question: Pick<ToolName, "toClient" | "toOwn"> = {
	toOwn: renamedQuestion.toOwn,
	toClient: (input) =>
		Object.fromEntries(Object.entries(renamedQuestion.toClient(input)).filter(([, value]) => value !== "")),
};
const todo = withMember(
	renamed("", [""], ["title", "content"]),
	["status", "status"],
	word("done", "completed"),
	word("completed", "done"),
);

/** One edit is `Edit`, several are `MultiEdit`. */
const replaceInFile: ToolName = {
	own: "StrReplaceFile",
	client: ["Edit", "MultiEdit"],
	toClient({ path, edit: edits, ...others }) {
		const file = { file_path: path };
		if (Array.isArray(edits)) return { ...file, edits: each(edit.toClient)(edits), ...others };
		return { ...file, ...(isRecord(edits) ? edit.toClient(edits) : {}), ...others };
	},
	toOwn({ file_path, edits, ...others }) {
		if (edits !== undefined) return { path: file_path, edit: each(edit.toOwn)(edits), ...others };
		return { path: file_path, edit: edit.toOwn(others) };
	},
};

const table: readonly ToolName[] = [
	withMember(renamed("Shell", ["Bash"]), ["timeout", "timeout"], times(1000), times(0.001)),
	renamed("ReadFile", ["Read"], ["path", "file_path"], ["line_offset", "offset"], ["n_lines", "limit"]),
	renamed("WriteFile", ["Write"], ["path", "file_path"]),
	replaceInFile,
	renamed("Glob", ["Glob"], ["directory", "path"]),
	withMember(
		renamed("Grep", ["Grep"]),
		["output_mode", "output_mode"],
		word("count_matches", "count"),
		word("count", "count_matches"),
	),
	renamed("FetchURL", ["WebFetch"]),
	renamed("SearchWeb", ["WebSearch"]),
	withMember(
		renamed("SetTodoList", ["TodoWrite"]),
		["todos", "todos"],
		each((item) => ({ activeForm: item["title"], ...todo.toClient(item) })),
		each(({ activeForm: _, ...item }) => todo.toOwn(item)),
	),
	renamed("Agent", ["Task", "Agent"]),
	renamed("TaskOutput", ["BashOutput", "TaskOutput"], ["task_id", "bash_id"]),
	renamed("TaskStop", ["KillShell", "KillBash", "TaskStop"], ["task_id", "shell_id"]),
	withMember(
		renamed("AskUserQuestion", ["AskUserQuestion"]),
		["questions", "questions"],
		each(question.toClient),
		each(question.toOwn),
	),
	{ own: "ExitPlanMode", client: ["ExitPlanMode"], toClient: same, toOwn: same },
	{ own: "EnterPlanMode", client: ["EnterPlanMode"], toClient: same, toOwn: same },
];

const byOwn = new Map(table.map((name) => [name.own, name]));
const byClient = new Map(table.flatMap((name) => name.client.map((client) => [client, name] as const)));

export const clientToolNames: readonly string[] = table.map(({ client: [first] }) => first);

/** Approved by the mode `acceptEdits`. */
export const editingTools: ReadonlySet<string> = new Set(["WriteFile", "StrReplaceFile"]);

export function toOwnName(client: string): string {
	return byClient.get(client)?.own ?? client;
}

export interface ClientCall {
	readonly name: string;
	readonly input: Input;
}

export function toClientCall(own: string, input: unknown): ClientCall {
	const members = isRecord(input) ? input : {};
	const name = byOwn.get(own);
	if (name === undefined) return { name: own, input: members };
	const [first, several = first] = name.client;
	const isSeveral = own === "StrReplaceFile" && Array.isArray(members["edit"]);
	return { name: isSeveral ? several : first, input: name.toClient(members) };
}

export function readClientCall(own: string, written: string | null): ClientCall {
	return toClientCall(own, parseArguments(written));
}

function parseArguments(written: string | null): unknown {
	try {
		return JSON.parse(written ?? "{}");
	} catch {
		return {};
	}
}
