// What a program reads of a turn: a closed union of events, made from what the server sends.
import type { Approval, Question } from "./asks.ts";
import type { PublicEvent, ToolResultEvent } from "./protocol-types.ts";

/** What every event has. */
interface Origin {
	/** The subagent that it comes from; null for the session's own agent. */
	readonly agent: string | null;
	/** The position in the session's history, for `events({ after })`; null for what is not stored. */
	readonly cursor: Cursor | null;
}

export interface Cursor {
	readonly epoch: string;
	readonly seq: number;
}

/** A tool call. `arguments` is JSON text as the model wrote it, or null. */
export interface ToolCall {
	readonly id: string;
	readonly name: string;
	readonly arguments: string | null;
}

type Body<Output> =
	/** A piece of what the model says, or of what it thinks. */
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
			/** What people are shown: diffs, a to-do list … */
			readonly display: ToolResultEvent["result"]["display"];
	  }
	/** Somebody has to decide; here or, with a callback, there. */
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
	/** Anything else, also what a later server sends: `name` is the type of the event in the protocol. */
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

/** The position of a durable event; null for others. */
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
	/**
	 * `finished`; `truncated`: the answer reached the model's limit of tokens; `refused`: the provider does not answer this;
	 * `cancelled`; `limit`: steps or a budget are used up; `failed`.
	 */
	readonly outcome: "finished" | "truncated" | "refused" | "cancelled" | "limit" | "failed";
	/** Empty for a turn that did not start. */
	readonly turnId: string;
	/** The last answer of the agent. */
	readonly text: string;
	/** The answer in the form that `output` asked for; null without one, and unless the turn finished. */
	readonly output: Output | null;
	/** What the turn's own model calls consumed, those of subagents apart. */
	readonly usage: Usage;
	/** Why it did not finish; null for `finished` and `cancelled`. */
	readonly error: { readonly code: string; readonly message: string } | null;
}

/** What the event is to a program, apart from what only the session can say: asks and the end. Null for nothing. */
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
		// Their texts are in the pieces, which the turn puts together.
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
