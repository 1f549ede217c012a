import type { RenderPrompt } from "./prompt-variables.ts";

export interface AgentType {
	readonly name: string;
	readonly whenToUse: string;
	readonly toolPaths: readonly string[];
	readonly model: string | null;
	readonly prompt?: RenderPrompt | null;
	readonly role: string;
	/** Whether a repository state summary precedes its first task. */
	readonly startsWithGit: boolean;
}

const reading = [
	"kimi_cli.tools.file:ReadFile",
	"kimi_cli.tools.file:ReadMediaFile",
	"kimi_cli.tools.file:Glob",
	"kimi_cli.tools.file:Grep",
];
const writing = ["kimi_cli.tools.file:WriteFile", "kimi_cli.tools.file:StrReplaceFile"];
const web = ["kimi_cli.tools.web:SearchWeb", "kimi_cli.tools.web:FetchURL"];
const shell = "kimi_cli.tools.shell:Shell";

const report = `You work for another agent, not for a person: nobody reads along, and nobody can answer questions. Decide what is open, and say what you assumed. Your last message is your report. It must stand by itself: what you found or did, with the paths and line numbers that matter, what you left, and what you are unsure of.`;

export const agentTypes: readonly AgentType[] = [
	{
		name: "coder",
		whenToUse: "does a piece of work that stands by itself: a fix, a feature, a test, a refactoring.",
		toolPaths: [shell, ...reading, ...writing, ...web],
		model: null,
		role: `${report}\n\nDo the task and nothing else. Verify that it works before you report.`,
		startsWithGit: false,
	},
	{
		name: "explore",
		whenToUse: "answers questions about a codebase without changing it: where something is, how it works, who uses it.",
		toolPaths: [shell, ...reading, ...web],
		model: null,
		role: `${report}\n\nYou look and change nothing: no edits, no commands that write. Search broadly first, then read what matters closely.`,
		startsWithGit: true,
	},
	{
		name: "plan",
		whenToUse: "designs how something should be built, from the code as it is, without changing it.",
		toolPaths: [...reading, ...web],
		model: null,
		role: `${report}\n\nYou design and change nothing. Report the steps in order, the files each touches, what could go wrong, and which other way you rejected and why.`,
		startsWithGit: false,
	},
];
