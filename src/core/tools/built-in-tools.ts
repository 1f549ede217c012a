import { KernelError } from "../../base/errors.ts";
import { createAgent } from "./agent.ts";
import { createReadFile } from "./files/read-file.ts";
import { createReadMediaFile } from "./files/read-media-file.ts";
import { createStringReplaceFile } from "./files/string-replace-file.ts";
import { createWriteFile } from "./files/write-file.ts";
import { createGlob } from "./search/glob.ts";
import { createGrep } from "./search/grep.ts";
import { createAskUserQuestion } from "./session/ask-user-question.ts";
import { createEnterPlanMode, createExitPlanMode } from "./session/plan-mode.ts";
import { createSendDMail } from "./session/send-d-mail.ts";
import { createSetTodoList } from "./session/set-todo-list.ts";
import { createThink } from "./session/think.ts";
import { createShell } from "./shell.ts";
import { createTaskList } from "./tasks/task-list.ts";
import { createTaskOutput } from "./tasks/task-output.ts";
import { createTaskStop } from "./tasks/task-stop.ts";
import type { Tool, ToolEnvironment } from "./tool.ts";
import { type BuiltInToolPath, isBuiltInToolPath } from "./tool-paths.ts";
import { createFetchUrl } from "./web/fetch-url.ts";
import { createSearchWeb } from "./web/search-web.ts";

/** Null if the environment lacks a requirement of the tool. */
export type ToolFactory = (environment: ToolEnvironment) => Tool | null;

const factories: Readonly<Record<BuiltInToolPath, ToolFactory>> = {
	"kimi_cli.tools.agent:Agent": (environment) =>
		environment.agents === null ? null : createAgent(environment.agents, environment),
	"kimi_cli.tools.ask_user:AskUserQuestion": createAskUserQuestion,
	"kimi_cli.tools.todo:SetTodoList": createSetTodoList,
	"kimi_cli.tools.shell:Shell": createShell,
	"kimi_cli.tools.background:TaskList": createTaskList,
	"kimi_cli.tools.background:TaskOutput": createTaskOutput,
	"kimi_cli.tools.background:TaskStop": createTaskStop,
	"kimi_cli.tools.file:ReadFile": createReadFile,
	"kimi_cli.tools.file:ReadMediaFile": createReadMediaFile,
	"kimi_cli.tools.file:Glob": createGlob,
	"kimi_cli.tools.file:Grep": createGrep,
	"kimi_cli.tools.file:WriteFile": createWriteFile,
	"kimi_cli.tools.file:StrReplaceFile": createStringReplaceFile,
	"kimi_cli.tools.web:SearchWeb": createSearchWeb,
	"kimi_cli.tools.web:FetchURL": createFetchUrl,
	"kimi_cli.tools.plan:ExitPlanMode": createExitPlanMode,
	"kimi_cli.tools.plan.enter:EnterPlanMode": createEnterPlanMode,
	"kimi_cli.tools.think:Think": createThink,
	"kimi_cli.tools.dmail:SendDMail": createSendDMail,
};

export function createTools(toolPaths: readonly string[], environment: ToolEnvironment): Tool[] {
	const known = toolPaths.filter(isBuiltInToolPath);
	const unknown = toolPaths.filter((toolPath) => !isBuiltInToolPath(toolPath));
	if (unknown.length > 0) {
		throw new KernelError("invalid-input", `Unknown tools: ${unknown.join(", ")}`, { data: { tools: unknown } });
	}
	return known.flatMap((toolPath) => factories[toolPath](environment) ?? []);
}
