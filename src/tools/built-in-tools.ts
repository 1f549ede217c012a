// The table of the built-in tools by the path that agent files name them with.
import { KernelError } from "../base/errors.ts";
import { createAgent } from "./agent.ts";
import { createAskUserQuestion } from "./ask-user-question.ts";
import { createFetchUrl } from "./fetch-url.ts";
import { createGlob } from "./glob.ts";
import { createGrep } from "./grep.ts";
import { createEnterPlanMode, createExitPlanMode } from "./plan-mode.ts";
import { createReadFile } from "./read-file.ts";
import { createSendDMail } from "./send-d-mail.ts";
import { createSetTodoList } from "./set-todo-list.ts";
import { createShell } from "./shell.ts";
import { createStringReplaceFile } from "./string-replace-file.ts";
import { createTaskList } from "./task-list.ts";
import { createTaskOutput } from "./task-output.ts";
import { createTaskStop } from "./task-stop.ts";
import { createThink } from "./think.ts";
import type { Tool, ToolEnvironment } from "./tool.ts";
import { createWriteFile } from "./write-file.ts";

export type ToolFactory = (environment: ToolEnvironment) => Tool;

const factories: ReadonlyMap<string, ToolFactory> = new Map<string, ToolFactory>([
	["kimi_cli.tools.agent:Agent", createAgent],
	["kimi_cli.tools.ask_user:AskUserQuestion", createAskUserQuestion],
	["kimi_cli.tools.todo:SetTodoList", createSetTodoList],
	["kimi_cli.tools.shell:Shell", createShell],
	["kimi_cli.tools.background:TaskList", createTaskList],
	["kimi_cli.tools.background:TaskOutput", createTaskOutput],
	["kimi_cli.tools.background:TaskStop", createTaskStop],
	["kimi_cli.tools.file:ReadFile", createReadFile],
	["kimi_cli.tools.file:Glob", createGlob],
	["kimi_cli.tools.file:Grep", createGrep],
	["kimi_cli.tools.file:WriteFile", createWriteFile],
	["kimi_cli.tools.file:StrReplaceFile", createStringReplaceFile],
	["kimi_cli.tools.web:FetchURL", createFetchUrl],
	["kimi_cli.tools.plan:ExitPlanMode", createExitPlanMode],
	["kimi_cli.tools.plan.enter:EnterPlanMode", createEnterPlanMode],
	["kimi_cli.tools.think:Think", createThink],
	["kimi_cli.tools.dmail:SendDMail", createSendDMail],
]);

/** The tools of the default agent, in the order in which a model is shown them. */
export const defaultToolPaths: readonly string[] = [
	"kimi_cli.tools.agent:Agent",
	"kimi_cli.tools.ask_user:AskUserQuestion",
	"kimi_cli.tools.todo:SetTodoList",
	"kimi_cli.tools.shell:Shell",
	"kimi_cli.tools.background:TaskList",
	"kimi_cli.tools.background:TaskOutput",
	"kimi_cli.tools.background:TaskStop",
	"kimi_cli.tools.file:ReadFile",
	"kimi_cli.tools.file:Glob",
	"kimi_cli.tools.file:Grep",
	"kimi_cli.tools.file:WriteFile",
	"kimi_cli.tools.file:StrReplaceFile",
	"kimi_cli.tools.web:FetchURL",
	"kimi_cli.tools.plan:ExitPlanMode",
	"kimi_cli.tools.plan.enter:EnterPlanMode",
];

/** Tools that agent files may name and that are not part of this program. */
const absentToolPaths: ReadonlySet<string> = new Set([
	"kimi_cli.tools.file:ReadMediaFile",
	"kimi_cli.tools.web:SearchWeb",
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
	if (factories.has(toolPath)) return "there";
	return absentToolPaths.has(toolPath) ? "absent" : "unknown";
}

/** Whether a subagent may have the tool. */
export function isForSubagents(toolPath: string): boolean {
	return !mainOnlyToolPaths.has(toolPath);
}

export function isBuiltInToolPath(toolPath: string): boolean {
	return factories.has(toolPath);
}

/** Whether it is the name of one of our tools, also of one that the agent at hand does not have. */
export function isBuiltInToolName(name: string): boolean {
	return [...factories.keys()].some((toolPath) => toolPath.slice(toolPath.lastIndexOf(":") + 1) === name);
}

/** Makes the tools in the order of their paths. Throws `invalid-input` that names the paths it does not know. */
export function createTools(toolPaths: readonly string[], environment: ToolEnvironment): Tool[] {
	const unknown = toolPaths.filter((toolPath) => !isBuiltInToolPath(toolPath));
	if (unknown.length > 0) {
		throw new KernelError("invalid-input", `Unknown tools: ${unknown.join(", ")}`, { data: { tools: unknown } });
	}
	return toolPaths.flatMap((toolPath) => factories.get(toolPath)?.(environment) ?? []);
}
