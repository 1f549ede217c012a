// The Python class names of tool results, which kimi-cli bridges see.
import type { ToolReturn } from "../../api/values/content.ts";

/** Tools whose successful results use the plain class; all others, including MCP tools, use `ToolOk`. */
const plainSuccess: ReadonlySet<string> = new Set([
	...["Agent", "AskUserQuestion", "TaskList", "TaskOutput", "TaskStop", "Grep", "StrReplaceFile", "WriteFile"],
	...["EnterPlanMode", "ExitPlanMode", "Shell", "SetTodoList", "FetchURL", "SearchWeb"],
]);

/** Tools whose own failures use the plain class; all others use `ToolError`. */
const plainFailure: ReadonlySet<string> = new Set(["Shell", "FetchURL", "SearchWeb"]);

const rejectedName = "ToolRejectedError";

/** Failures reported by the loop instead of the tool, by message prefix. */
const ofTheLoop = [
	["Error parsing JSON arguments: ", "ToolParseError"],
	["Error validating JSON arguments: ", "ToolValidateError"],
	["Error running tool: ", "ToolRuntimeError"],
	["The tool call is rejected by the user.", rejectedName],
] as const;

/** `tool` is undefined for an unknown call. */
export function resultClass(tool: string | undefined, { is_error: isError, message }: ToolReturn): string {
	if (tool === undefined) return "ToolReturnValue";
	if (!isError) return plainSuccess.has(tool) ? "ToolReturnValue" : "ToolOk";
	if (message === `Tool \`${tool}\` not found`) return "ToolNotFoundError";
	const [, name] = ofTheLoop.find(([beginning]) => message.startsWith(beginning)) ?? [];
	return name ?? (plainFailure.has(tool) ? "ToolReturnValue" : "ToolError");
}

export function membersOf(name: string, { message }: ToolReturn): Readonly<Record<string, boolean>> {
	return name === rejectedName ? { has_feedback: message.includes("User feedback: ") } : {};
}
