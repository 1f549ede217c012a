// The built-in tools by name alone: by the paths that agent files name them with. What they do is built-in-tools.ts.

const builtInToolPaths = [
	"kimi_cli.tools.agent:Agent",
	"kimi_cli.tools.ask_user:AskUserQuestion",
	"kimi_cli.tools.todo:SetTodoList",
	"kimi_cli.tools.shell:Shell",
	"kimi_cli.tools.background:TaskList",
	"kimi_cli.tools.background:TaskOutput",
	"kimi_cli.tools.background:TaskStop",
	"kimi_cli.tools.file:ReadFile",
	"kimi_cli.tools.file:ReadMediaFile",
	"kimi_cli.tools.file:Glob",
	"kimi_cli.tools.file:Grep",
	"kimi_cli.tools.file:WriteFile",
	"kimi_cli.tools.file:StrReplaceFile",
	"kimi_cli.tools.web:SearchWeb",
	"kimi_cli.tools.web:FetchURL",
	"kimi_cli.tools.plan:ExitPlanMode",
	"kimi_cli.tools.plan.enter:EnterPlanMode",
	"kimi_cli.tools.think:Think",
	"kimi_cli.tools.dmail:SendDMail",
] as const;

export type BuiltInToolPath = (typeof builtInToolPaths)[number];

/** The tool of agents that are shown their checkpoints. */
export const mailToolName = "SendDMail";

/** The tools of the default agent, in the order in which a model is shown them. */
export const defaultToolPaths: readonly BuiltInToolPath[] = [
	"kimi_cli.tools.agent:Agent",
	"kimi_cli.tools.ask_user:AskUserQuestion",
	"kimi_cli.tools.todo:SetTodoList",
	"kimi_cli.tools.shell:Shell",
	"kimi_cli.tools.background:TaskList",
	"kimi_cli.tools.background:TaskOutput",
	"kimi_cli.tools.background:TaskStop",
	"kimi_cli.tools.file:ReadFile",
	"kimi_cli.tools.file:ReadMediaFile",
	"kimi_cli.tools.file:Glob",
	"kimi_cli.tools.file:Grep",
	"kimi_cli.tools.file:WriteFile",
	"kimi_cli.tools.file:StrReplaceFile",
	"kimi_cli.tools.web:SearchWeb",
	"kimi_cli.tools.web:FetchURL",
	"kimi_cli.tools.plan:ExitPlanMode",
	"kimi_cli.tools.plan.enter:EnterPlanMode",
];

/** Tools that agent files may name and that are not part of this program. */
const absentToolPaths: ReadonlySet<string> = new Set([
	"kimi_cli.tools.test:Plus",
	"kimi_cli.tools.test:Compare",
	"kimi_cli.tools.test:Panic",
	"kimi_cli.tools.multiagent:Task",
	"kimi_cli.tools.multiagent:CreateSubagent",
]);

/** Tools that work for the person at the session's own agent: a subagent has nobody to ask and no plan of its own. */
const mainOnlyToolPaths: ReadonlySet<string> = new Set([
	"kimi_cli.tools.agent:Agent",
	"kimi_cli.tools.ask_user:AskUserQuestion",
	"kimi_cli.tools.todo:SetTodoList",
	"kimi_cli.tools.background:TaskList",
	"kimi_cli.tools.background:TaskOutput",
	"kimi_cli.tools.background:TaskStop",
	"kimi_cli.tools.plan:ExitPlanMode",
	"kimi_cli.tools.plan.enter:EnterPlanMode",
]);

/** What is to be made of a path in an agent file; `absent` tools are known by name but are not here. */
export function toolStanding(toolPath: string): "there" | "absent" | "unknown" {
	if (isBuiltInToolPath(toolPath)) return "there";
	return absentToolPaths.has(toolPath) ? "absent" : "unknown";
}

/** Whether a subagent may have the tool. */
export function isForSubagents(toolPath: string): boolean {
	return !mainOnlyToolPaths.has(toolPath);
}

export function isBuiltInToolPath(toolPath: string): toolPath is BuiltInToolPath {
	return builtInToolPaths.some((known) => known === toolPath);
}

/** Whether it is the name of one of our tools, also of one that the agent at hand does not have. */
export function isBuiltInToolName(name: string): boolean {
	return builtInToolPaths.some((toolPath) => toolPath.slice(toolPath.lastIndexOf(":") + 1) === name);
}
