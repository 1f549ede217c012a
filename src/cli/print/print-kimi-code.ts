// The lines of kimi-code's stream: what was said as text alone, results as text, and lines of the role "meta" about the
// run: the first has the version, the last two say how it ended and how to continue the session.

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
	// Its programs know no other lines, and learn of a failure from the closing one.
	news: () => null,
	failure: () => null,
};

/** Programs parse the arguments, which some models leave out. */
function toCallRow({ id, function: { name, arguments: text } }: EventBodyOf<"tool.requested">["call"]) {
	return { type: "function", id, function: { name, arguments: (text ?? "").trim() === "" ? "{}" : text } };
}

const toText = (content: readonly ContentPart[]) =>
	content.map((part) => (part.type === "text" ? part.text : "")).join("");

/** What the tool returned, or the reason why it did not. */
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

/** Counts what the agents of a run consume. */
export interface RunUsage {
	take(event: AgentEvent): void;
	/** As kimi-code names the counts; the three of the input do not overlap. */
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

/** The status of a run in its closing line. */
export const runStatuses: Readonly<Record<TurnOutcome["status"], string>> = {
	finished: "finished",
	failed: "failed",
	cancelled: "cancelled",
	"max-steps": "max_steps",
	truncated: "truncated",
};

/** The first line, with its newline. */
export const openingLine = (version: string): string =>
	`${toJsonLine({ role: "meta", type: "system.version", version })}\n`;

/** The closing line: how the run ended, with its newline. */
export function closingLine(failure: PrintFailure | null, usage: RunUsage): string {
	const error = failure === null ? {} : { error: { code: failure.code, message: failure.message } };
	const status = runStatuses[failure?.status ?? "finished"];
	return `${toJsonLine({ role: "meta", type: "turn.result", status, usage: usage.row(), ...error })}\n`;
}

/** How to continue the session, with its newline. `executableName` is what the program was called. */
export function resumeLine(executableName: string, sessionId: string): string {
	const id = toPrefixedId(sessionId);
	const command = `${executableName} -r ${id}`;
	const content = `To resume this session: ${command}`;
	return `${toJsonLine({ role: "meta", type: "session.resume_hint", session_id: id, command, content })}\n`;
}
