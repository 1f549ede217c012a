// Tool calls as people say them: a verb and what it is done to.
import type { ApprovalInteraction } from "../src/api/values/interaction.ts";
import type { Subject } from "../src/api/values/subject.ts";

const verbs: Readonly<Record<string, string>> = {
	Agent: "Ask a subagent",
	AskUserQuestion: "Question",
	EnterPlanMode: "Plan first",
	ExitPlanMode: "Present the plan",
	FetchURL: "Fetch",
	Glob: "Find files",
	Grep: "Search for",
	ReadFile: "Read",
	ReadMediaFile: "Look at",
	SearchWeb: "Search the web for",
	SetTodoList: "Update the todo list",
	Shell: "Run",
	StrReplaceFile: "Edit",
	TaskList: "List background tasks",
	TaskOutput: "Read the output of",
	TaskStop: "Stop",
	Think: "Think",
	WriteFile: "Write",
};

/** What a call of this tool does. A tool server's or client's own tool keeps its name. */
export const verbOf = (tool: string): string => verbs[tool] ?? tool;

/** What calls that only look come to, such as `Read 3 files, searched twice`. */
export function lookedWords(tools: readonly string[]): string {
	const count = (...names: string[]) => tools.filter((tool) => names.includes(tool)).length;
	const read = count("ReadFile", "ReadMediaFile");
	const searched = count("Glob", "Grep");
	const online = count("SearchWeb", "FetchURL");
	const other = tools.length - read - searched - online;
	const times = (amount: number) => (amount === 1 ? "once" : amount === 2 ? "twice" : `${amount} times`);
	const words = [
		...(read === 0 ? [] : [`read ${read} ${read === 1 ? "file" : "files"}`]),
		...(searched === 0 ? [] : [`searched ${times(searched)}`]),
		...(online === 0 ? [] : [`looked on the web ${times(online)}`]),
		...(other === 0 ? [] : [`checked ${times(other)}`]),
	].join(", ");
	return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The path as people of this project name it. */
export function withinProject(path: string, workDir: string): string {
	return path.startsWith(`${workDir}/`) ? path.slice(workDir.length + 1) : path;
}

/** The question that an approval puts, such as `Edit src/cart.js?`. */
export function approvalTitle(
	{ subjects = [], display, sender, action }: ApprovalInteraction,
	workDir: string,
): string {
	const [first, ...others] = subjects;
	if (first === undefined)
		return action === "" ? `Use ${sender}?` : `${action.charAt(0).toUpperCase()}${action.slice(1)}?`;
	if (others.length > 0 && subjects.every(({ kind }) => kind === "file")) return `Change ${subjects.length} files?`;
	const isNew = display.some((block) => block.type === "diff" && "old_text" in block && block.old_text === "");
	return `${actOf(first, isNew, workDir)}?`;
}

const fileVerbs = { read: "Read", write: "Write", edit: "Edit" } as const;

function actOf(subject: Subject, isNew: boolean, workDir: string): string {
	switch (subject.kind) {
		case "command":
			return subject.outsideSandbox === true ? "Run this command outside the sandbox" : "Run this command";
		case "file": {
			const verb = subject.operation === "write" && isNew ? "Create" : fileVerbs[subject.operation];
			return `${verb} ${withinProject(subject.path, workDir)}`;
		}
		case "network":
			return `Fetch from ${URL.canParse(subject.url) ? new URL(subject.url).host : subject.url}`;
		case "web-search":
			return "Search the web";
		case "mcp":
			return `Use ${subject.tool} of the tool server ${subject.server}`;
		case "client-tool":
			return `Use ${subject.name}`;
		case "plugin-tool":
			return `Use ${subject.name}, the tool of a plugin`;
		case "task":
			return `Stop the background task ${subject.id}`;
	}
}

/** What the title leaves open: where it happens, and the whole of what it shortens. */
export function placeOf(subject: Subject, workDir: string): string | null {
	switch (subject.kind) {
		case "command":
			return `in ${subject.cwd}`;
		case "file":
			if (subject.named !== undefined) return `named ${subject.named}, a link to ${subject.path}`;
			return subject.path.startsWith(`${workDir}/`) ? null : "outside the project";
		case "network":
			return subject.url;
		case "web-search":
			return `for “${subject.query}”`;
		case "plugin-tool":
			return `in ${subject.directory}`;
		case "mcp":
		case "client-tool":
		case "task":
			return null;
	}
}

/** What an approval for the session covers, from its rule pattern: `npm test …` for `Shell(npm test:*)`. */
export function grantWords(pattern: string, workDir: string): { readonly verb: string; readonly what: string } {
	const [, rule, inner = ""] = /^(\w+)\((.*)\)$/s.exec(pattern) ?? [];
	if (rule === "Shell") return { verb: "", what: inner.replace(/:\*$/, " …") };
	if (rule === "Write") return { verb: "changes to ", what: withinProject(inner, workDir) };
	if (rule === "Read") return { verb: "reading ", what: withinProject(inner, workDir) };
	return { verb: "", what: pattern };
}
