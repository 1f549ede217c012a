import { type ContentPart, type ToolReturn, textPart, toolError, toParts } from "../../api/values/content.ts";
import type { HistoryEntry } from "../../api/values/conversation.ts";
import type { DeniedBy } from "./dependencies.ts";
import { systemText } from "./marked-text.ts";

export function toToolMessage(toolCallId: string, result: ToolReturn): HistoryEntry {
	return { role: "tool", toolCallId, content: resultContent(result) };
}

function resultContent({ is_error, message, output }: ToolReturn): ContentPart[] {
	const parts = output === "" ? [] : toParts(output);
	if (is_error) return [systemPart(`ERROR: ${message}`), ...parts];
	if (message !== "") return [systemPart(message), ...parts];
	if (parts.length === 0) return [systemPart("Tool output is empty.")];
	if (parts.every((part) => part.type !== "text"))
		return [systemPart("The tool returned the following, not text."), ...parts];
	return parts;
}

function systemPart(text: string): ContentPart {
	return textPart(systemText(text));
}

export function unknownTool(name: string): ToolReturn {
	const text = `Tool \`${name}\` not found`;
	return toolError(text, text);
}

export function unparsableArguments(reason: string): ToolReturn {
	return toolError(`Error parsing JSON arguments: ${reason}`, "Invalid arguments");
}

export function unfittingArguments(issue: string): ToolReturn {
	return toolError(`Error validating JSON arguments: ${issue}`, "Invalid arguments");
}

export function crashedTool(reason: string): ToolReturn {
	return toolError(`Error running tool: ${reason}`, "Tool runtime error");
}

/** The result of a user's refusal: without feedback the agent must stop and wait; a subagent must find another way. */
export function rejectedByPerson(feedback: string, isSubagent: boolean): ToolReturn {
	if (feedback !== "") {
		return toolError(`The tool call is rejected by the user. User feedback: ${feedback}`, `Rejected: ${feedback}`);
	}
	return toolError(isSubagent ? rejectedInSubagent : rejectedInTurn, "Rejected by user");
}

const rejectedInTurn =
	"The tool call is rejected by the user. Stop what you are doing and wait for the user to tell you how to proceed.";
const rejectedInSubagent =
	"The tool call is rejected by the user. Do not try the same call again; look for another way to do your task, and if there is none, say in your answer what could not be done and why.";

export function deniedByPolicy(by: DeniedBy, reason: string): ToolReturn {
	return toolError(reason, deniedBriefs[by]);
}

const deniedBriefs: Readonly<Record<DeniedBy, string>> = {
	rule: "Rejected by a rule",
	"session-grant": "Rejected for this session",
	mode: "Rejected by the mode of the session",
	creator: "Rejected by the session's creator",
	default: "Rejected: nobody to ask",
};

export function blockedByHook(reason: string): ToolReturn {
	return toolError(reason === "" ? "Blocked by PreToolUse hook" : reason, "Hook blocked");
}

export function withheldResult(reason: string): ToolReturn {
	return toolError(reason, "Withheld by a hook");
}

export const brokenOffCall = toolError(
	"The call was ended before it was over, because the answer of the model broke off. It may have taken effect in part or in whole. Look before you repeat it.",
	"Broken off",
);

export const incompleteCall = toolError(
	"The call was not run: your answer reached its token limit before the arguments were complete. Make the call again with shorter arguments, or split the work into several calls.",
	"Cut off by the token limit",
);

export function beyondBudget(reason: string): ToolReturn {
	return toolError(`The tool was not run. ${reason}`, "Budget used up");
}
