import type { Approval, Question } from "./asks.ts";
import type { PublicEvent, ToolResultEvent } from "./protocol-types.ts";

interface Origin {
	/** The subagent; null for the main agent. */
	readonly agent: string | null;
	/** The position for `events({ after })`; null for events that are not stored. */
	readonly cursor: Cursor | null;
}

export interface Cursor {
	readonly epoch: string;
	readonly seq: number;
}

export interface ToolCall {
	readonly id: string;
	readonly name: string;
	readonly arguments: string | null;
}

type Body<Output> =
	/** A piece of the answer or of the reasoning. */
	| { readonly type: "text"; readonly text: string }
	| { readonly type: "thinking"; readonly text: string }
	/** One model call with its tools begins; `n` counts from 1 in each turn. */
	| { readonly type: "step"; readonly n: number }
	| { readonly type: "call.started"; readonly call: ToolCall }
	/** Output of a running call, as it comes. */
	| { readonly type: "call.output"; readonly callId: string; readonly text: string }
	| {
			readonly type: "call.ended";
			readonly callId: string;
			readonly isError: boolean;
			readonly output: string;
			/** Shown to people: diffs, a to-do list, and so on. */
			readonly display: ToolResultEvent["result"]["display"];
	  }
	/** Needs a decision: here, or in the callback if there is one. */
	| { readonly type: "approval"; readonly ask: Approval }
	| { readonly type: "question"; readonly ask: Question }
	/** An approval or a question was settled, here or by another client. */
	| { readonly type: "settled"; readonly askId: string }
	| { readonly type: "plan"; readonly text: string; readonly file: string }
	| {
			readonly type: "retry";
			readonly attempt: number;
			readonly attempts: number;
			readonly seconds: number;
			readonly reason: string;
	  }
	| { readonly type: "usage"; readonly context: number | null; readonly tokens: Usage | null }
	| { readonly type: "notice"; readonly title: string; readonly text: string }
	| { readonly type: "ended"; readonly result: TurnResult<Output> }
	/** Any other event, including those of later servers, by its protocol type. */
	| { readonly type: "unknown"; readonly name: string; readonly raw: PublicEvent };

export type TurnEvent<Output = unknown> = Origin & Body<Output>;

/** Tokens. The three counts of the input do not overlap. */
export interface Usage {
	readonly input: number;
	readonly cacheRead: number;
	readonly cacheWrite: number;
	readonly output: number;
}

export const noUsage: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

export function addUsage(one: Usage, other: Usage): Usage {
	return {
		input: one.input + other.input,
		cacheRead: one.cacheRead + other.cacheRead,
		cacheWrite: one.cacheWrite + other.cacheWrite,
		output: one.output + other.output,
	};
}

export function cursorOf({ epoch, seq }: Pick<PublicEvent, "epoch" | "seq">): Cursor | null {
	return epoch === undefined || seq === undefined ? null : { epoch, seq };
}

export function originOf(event: PublicEvent): Origin {
	const last = event.agentPath.at(-1)?.agentId;
	return { agent: typeof last === "string" ? last : null, cursor: cursorOf(event) };
}

export function usageOf(event: Extract<PublicEvent, { type: "status.changed" }>): Usage | null {
	const { token_usage: tokens } = event;
	if (tokens === null) return null;
	const { input_other: input, input_cache_read: cacheRead, input_cache_creation: cacheWrite, output } = tokens;
	return { input, cacheRead, cacheWrite, output };
}

type Part = { readonly type: string; readonly text?: string };

/** The text of a tool's output; media are left out. */
export function outputText(output: string | readonly Part[]): string {
	if (typeof output === "string") return output;
	return output.flatMap(({ type, text }) => (type === "text" && text !== undefined ? [text] : [])).join("\n");
}

/** How a turn ended. A promise of it rejects only when the connection to the server is lost. */
export interface TurnResult<Output = unknown> {
	/** `truncated`: the token limit; `refused`: by the provider; `limit`: steps or a budget are used up. */
	readonly outcome: "finished" | "truncated" | "refused" | "cancelled" | "limit" | "failed";
	/** Empty for a turn that did not start. */
	readonly turnId: string;
	/** The agent's last answer. */
	readonly text: string;
	/** The answer in the form of `output`; null without one, or if the turn did not finish. */
	readonly output: Output | null;
	/** Consumed by the turn's own model calls, without subagents. */
	readonly usage: Usage;
	/** Why it did not finish; null for `finished` and `cancelled`. */
	readonly error: { readonly code: string; readonly message: string } | null;
}

export function toBody(event: PublicEvent): Body<never> | null {
	switch (event.type) {
		case "step.started":
			return { type: "step", n: event.n };
		case "tool.requested":
			return {
				type: "call.started",
				call: { id: event.call.id, name: event.call.function.name, arguments: event.call.function.arguments },
			};
		case "tool.progress":
			return { type: "call.output", callId: event.toolCallId, text: event.text };
		case "tool.result": {
			const { is_error: isError, output, message, display } = event.result;
			const text = outputText(output);
			return { type: "call.ended", callId: event.toolCallId, isError, output: text === "" ? message : text, display };
		}
		case "interaction.resolved":
			return { type: "settled", askId: event.interactionId };
		case "plan.displayed":
			return { type: "plan", text: event.content, file: event.file_path };
		case "step.retrying":
			return {
				type: "retry",
				attempt: event.next_attempt,
				attempts: event.max_attempts,
				seconds: event.wait_s,
				reason: event.error_type,
			};
		case "status.changed":
			return { type: "usage", context: event.context_usage, tokens: usageOf(event) };
		case "notification.raised":
			return { type: "notice", title: event.title, text: event.body };
		// The text was already in the pieces.
		case "content.delta":
		case "content.completed":
		case "tool-call.started":
		case "tool-call.delta":
		case "turn.started":
			return null;
		default:
			return { type: "unknown", name: event.type, raw: event };
	}
}
