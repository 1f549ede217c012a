// The Python classes of the results of tools, which bridges of kimi-cli see the names of.
import type { ToolReturn } from "../../api/values/content.ts";

/** Tools whose successful results are of the plain class; those of all others, of MCP servers too, are `ToolOk`. */
const plainSuccess: ReadonlySet<string> = new Set([
	...["Agent", "AskUserQuestion", "TaskList", "TaskOutput", "TaskStop", "Grep", "StrReplaceFile", "WriteFile"],
	...["EnterPlanMode", "ExitPlanMode", "Shell", "SetTodoList", "FetchURL", "SearchWeb"],
]);

/** Tools whose own failures are of the plain class; those of all others are `ToolError`. */
const plainFailure: ReadonlySet<string> = new Set(["Shell", "FetchURL", "SearchWeb"]);

const rejectedName = "ToolRejectedError";

/** Failures that the loop reports instead of the tool, by the beginning of their message. */
const ofTheLoop = [
	["Error parsing JSON arguments: ", "ToolParseError"],
	["Error validating JSON arguments: ", "ToolValidateError"],
	["Error running tool: ", "ToolRuntimeError"],
	["The tool call is rejected by the user.", rejectedName],
] as const;

/** `tool` is undefined when the call is not known. */
export function resultClass(tool: string | undefined, { is_error: isError, message }: ToolReturn): string {
	if (tool === undefined) return "ToolReturnValue";
	if (!isError) return plainSuccess.has(tool) ? "ToolReturnValue" : "ToolOk";
	if (message === `Tool \`${tool}\` not found`) return "ToolNotFoundError";
	const [, name] = ofTheLoop.find(([beginning]) => message.startsWith(beginning)) ?? [];
	return name ?? (plainFailure.has(tool) ? "ToolReturnValue" : "ToolError");
}

/** Members that only this class has. */
export function membersOf(name: string, { message }: ToolReturn): Readonly<Record<string, boolean>> {
	return name === rejectedName ? { has_feedback: message.includes("User feedback: ") } : {};
}
