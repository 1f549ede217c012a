// The built-in tools' paths in agent files, without their code, which built-in-tools.ts loads.

interface ToolHolders {
	readonly isDefault: boolean;
	readonly isForSubagents: boolean;
}

const everyone: ToolHolders = { isDefault: true, isForSubagents: true };
/** For the main agent only: subagents cannot ask the user and have no plan. */
const mainAgent: ToolHolders = { isDefault: true, isForSubagents: false };
const whoNamesIt: ToolHolders = { isDefault: false, isForSubagents: true };

/** In the order shown to the model. */
const holders = {
	"kimi_cli.tools.agent:Agent": mainAgent,
	"kimi_cli.tools.ask_user:AskUserQuestion": mainAgent,
	"kimi_cli.tools.todo:SetTodoList": mainAgent,
	"kimi_cli.tools.shell:Shell": everyone,
	"kimi_cli.tools.background:TaskList": mainAgent,
	"kimi_cli.tools.background:TaskOutput": mainAgent,
	"kimi_cli.tools.background:TaskStop": mainAgent,
	"kimi_cli.tools.file:ReadFile": everyone,
	"kimi_cli.tools.file:ReadMediaFile": everyone,
	"kimi_cli.tools.file:Glob": everyone,
	"kimi_cli.tools.file:Grep": everyone,
	"kimi_cli.tools.file:WriteFile": everyone,
	"kimi_cli.tools.file:StrReplaceFile": everyone,
	"kimi_cli.tools.web:SearchWeb": everyone,
	"kimi_cli.tools.web:FetchURL": everyone,
	"kimi_cli.tools.plan:ExitPlanMode": mainAgent,
	"kimi_cli.tools.plan.enter:EnterPlanMode": mainAgent,
	"kimi_cli.tools.think:Think": whoNamesIt,
	"kimi_cli.tools.dmail:SendDMail": whoNamesIt,
};

export type BuiltInToolPath = keyof typeof holders;

const builtInToolPaths = Object.keys(holders).filter(isBuiltInToolPath);

/** The default agent's tools, in the order shown to the model. */
export const defaultToolPaths: readonly BuiltInToolPath[] = builtInToolPaths.filter(
	(toolPath) => holders[toolPath].isDefault,
);

/** The tool for agents that see their checkpoints. */
export const mailToolName = "SendDMail";

const planToolPaths: ReadonlySet<string> = new Set<BuiltInToolPath>([
	"kimi_cli.tools.plan:ExitPlanMode",
	"kimi_cli.tools.plan.enter:EnterPlanMode",
]);

/** Tools that agent files may name but this program does not implement. */
const absentToolPaths: ReadonlySet<string> = new Set([
	"kimi_cli.tools.test:Plus",
	"kimi_cli.tools.test:Compare",
	"kimi_cli.tools.test:Panic",
	"kimi_cli.tools.multiagent:Task",
	"kimi_cli.tools.multiagent:CreateSubagent",
]);

/** Whether the tool of a path exists; `absent` for a known tool that this program does not implement. */
export function toolAvailability(toolPath: string): "there" | "absent" | "unknown" {
	if (isBuiltInToolPath(toolPath)) return "there";
	return absentToolPaths.has(toolPath) ? "absent" : "unknown";
}

export function servesPlanMode(toolPaths: readonly string[]): boolean {
	return toolPaths.some((toolPath) => planToolPaths.has(toolPath));
}

export function isForSubagents(toolPath: string): boolean {
	return !isBuiltInToolPath(toolPath) || holders[toolPath].isForSubagents;
}

export function isBuiltInToolPath(toolPath: string): toolPath is BuiltInToolPath {
	return Object.hasOwn(holders, toolPath);
}

/** Whether it is the name of a built-in tool, even if the agent lacks it. */
export function isBuiltInToolName(name: string): boolean {
	return builtInToolPaths.some((toolPath) => toolPath.slice(toolPath.lastIndexOf(":") + 1) === name);
}
