// The table of the built-in tools by the path that agent files name them with.
import { KernelError } from "../base/errors.ts";
import { createGlob } from "./glob.ts";
import { createGrep } from "./grep.ts";
import { createReadFile } from "./read-file.ts";
import { createSetTodoList } from "./set-todo-list.ts";
import { createShell } from "./shell.ts";
import { createStringReplaceFile } from "./string-replace-file.ts";
import { createThink } from "./think.ts";
import type { Tool, ToolEnvironment } from "./tool.ts";
import { createWriteFile } from "./write-file.ts";

export type ToolFactory = (environment: ToolEnvironment) => Tool;

const factories: ReadonlyMap<string, ToolFactory> = new Map<string, ToolFactory>([
	["kimi_cli.tools.todo:SetTodoList", createSetTodoList],
	["kimi_cli.tools.shell:Shell", createShell],
	["kimi_cli.tools.file:ReadFile", createReadFile],
	["kimi_cli.tools.file:Glob", createGlob],
	["kimi_cli.tools.file:Grep", createGrep],
	["kimi_cli.tools.file:WriteFile", createWriteFile],
	["kimi_cli.tools.file:StrReplaceFile", createStringReplaceFile],
	["kimi_cli.tools.think:Think", createThink],
]);

/** The tools of the default agent, in the order in which a model is shown them. */
export const defaultToolPaths: readonly string[] = [
	"kimi_cli.tools.todo:SetTodoList",
	"kimi_cli.tools.shell:Shell",
	"kimi_cli.tools.file:ReadFile",
	"kimi_cli.tools.file:Glob",
	"kimi_cli.tools.file:Grep",
	"kimi_cli.tools.file:WriteFile",
	"kimi_cli.tools.file:StrReplaceFile",
];

export function isBuiltInToolPath(toolPath: string): boolean {
	return factories.has(toolPath);
}

/** Makes the tools in the order of their paths. Throws `invalid-input` that names the paths it does not know. */
export function createTools(toolPaths: readonly string[], environment: ToolEnvironment): Tool[] {
	const unknown = toolPaths.filter((toolPath) => !isBuiltInToolPath(toolPath));
	if (unknown.length > 0) {
		throw new KernelError("invalid-input", `Unknown tools: ${unknown.join(", ")}`, { data: { tools: unknown } });
	}
	return toolPaths.flatMap((toolPath) => factories.get(toolPath)?.(environment) ?? []);
}
