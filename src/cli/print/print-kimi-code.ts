// Text content, text results, and "meta" lines: first the version, last the outcome and how to resume.

import type { ContentPart, TokenUsage, ToolReturn } from "../../api/values/content.ts";
import type { AgentEvent, EventBodyOf, TurnOutcome } from "../../api/values/event.ts";
import { retryCause } from "../../api/values/retry-text.ts";
import { toJsonLine } from "../../base/json.ts";
import { toPrefixedId } from "../sessions/session-prefix.ts";
import type { StreamForm } from "./print-stream-json.ts";
import type { PrintFailure } from "./printer.ts";

export const kimiCodeForm: StreamForm = {
	answer({ content, toolCalls = [] }) {
		const text = toText(content);
		if (text === "" && toolCalls.length === 0) return null;
		return toJsonLine({
			role: "assistant",
			...(text === "" ? {} : { content: text }),
			...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(toCallRow) }),
		});
	},
	result: (toolCallId, result) => toJsonLine({ role: "tool", tool_call_id: toolCallId, content: toResultText(result) }),
	retry: (body) => toJsonLine({ role: "meta", type: "turn.step.retrying", ...toRetryRow(body) }),
	// Its clients know no other lines, and learn about a failure from the closing line.
	news: () => null,
	failure: () => null,
};

/** Programs parse the arguments, which some models omit. */
function toCallRow({ id, function: { name, arguments: text } }: EventBodyOf<"tool.requested">["call"]) {
	return { type: "function", id, function: { name, arguments: (text ?? "").trim() === "" ? "{}" : text } };
}

const toText = (content: readonly ContentPart[]) =>
	content.map((part) => (part.type === "text" ? part.text : "")).join("");

function toResultText({ output, message }: ToolReturn): string {
	if (typeof output !== "string") return JSON.stringify(output);
	return output === "" ? message : output;
}

function toRetryRow(body: EventBodyOf<"step.retrying">) {
	const { next_attempt, max_attempts, wait_s, error_type, status_code } = body;
	return {
		failed_attempt: next_attempt - 1,
		next_attempt,
		max_attempts,
		delay_ms: Math.round(wait_s * 1000),
		error_name: error_type,
		error_message: retryCause(body),
		...(status_code === null ? {} : { status_code }),
	};
}

export interface RunUsage {
	take(event: AgentEvent): void;
	/** With kimi-code's names; the three input counts do not overlap. */
	row(): Readonly<Record<string, number>>;
}

export function createRunUsage(): RunUsage {
	const total = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_creation_tokens: 0 };
	const add = (usage: TokenUsage): void => {
		total.input_tokens += usage.input_other;
		total.output_tokens += usage.output;
		total.cache_read_tokens += usage.input_cache_read;
		total.cache_creation_tokens += usage.input_cache_creation;
	};
	return {
		take({ body }) {
			if (body.type === "status.changed" && body.token_usage !== null) add(body.token_usage);
		},
		row: () => ({ ...total }),
	};
}

export const runStatuses: Readonly<Record<TurnOutcome["status"], string>> = {
	finished: "finished",
	failed: "failed",
	cancelled: "cancelled",
	"max-steps": "max_steps",
	truncated: "truncated",
};

export const openingLine = (version: string): string =>
	`${toJsonLine({ role: "meta", type: "system.version", version })}\n`;

export function closingLine(failure: PrintFailure | null, usage: RunUsage): string {
	const error = failure === null ? {} : { error: { code: failure.code, message: failure.message } };
	const status = runStatuses[failure?.status ?? "finished"];
	return `${toJsonLine({ role: "meta", type: "turn.result", status, usage: usage.row(), ...error })}\n`;
}

/** The line that explains how to resume the session, with a newline. `executableName` is the name the program was called by. */
export function resumeLine(executableName: string, sessionId: string): string {
	const id = toPrefixedId(sessionId);
	const command = `${executableName} -r ${id}`;
	const content = `To resume this session: ${command}`;
	return `${toJsonLine({ role: "meta", type: "session.resume_hint", session_id: id, command, content })}\n`;
}
