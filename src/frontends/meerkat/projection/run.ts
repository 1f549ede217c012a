// The state of one run. The results of a call's tools are sent together, when all are complete.
import type { TokenUsage, ToolCall, ToolReturn } from "../../../api/values/content.ts";
import type { HookDenial } from "../../../api/values/hooks/session-hook.ts";
import { toArguments } from "../interactions.ts";
import type { HookPoint, MeerkatEvent } from "../wire/wire-events.ts";
import { type CountedCall, type ModelName, toAccounting } from "./accounting.ts";
import { addUsage, noUsage } from "./facts.ts";
import { outputText } from "./tool-text.ts";
import { toEventUsage } from "./usage.ts";

interface OpenCall {
	readonly call: ToolCall;
	readonly startedAt: number;
	isStarted: boolean;
	settled: Settled | null;
}

interface Settled {
	readonly result: ToolReturn;
	readonly at: number;
	/** Why a hook refused the call or withholds its result; null if none did. */
	readonly denial: CallDenial | null;
}

interface CallDenial extends HookDenial {
	readonly hook_id: string;
	readonly point: HookPoint;
}

interface Denial {
	readonly tool: string;
	readonly reason: string;
}

interface ModelCall {
	/** Null when its turn has no id. */
	readonly answerId: string | null;
	text: string;
	/** Reasoning that was sent but is not complete. */
	reasoning: string;
	usage: TokenUsage;
	readonly model: ModelName;
	calls: OpenCall[];
	/** Hook events about tool calls that could not be sent yet. */
	early: MeerkatEvent[];
	isAnswered: boolean;
	isTruncated: boolean;
	isOver: boolean;
}

/** A hook gives only a text as its reason. */
export const denialCode = "policy_violation";
const cancelledCall = { error: "execution_failed", message: "The tool call was cut off." };

export class Run {
	readonly #model: ModelName;
	#modelCalls = 0;
	#toolCalls = 0;
	#current: ModelCall | null = null;
	/** Text from a command instead of the model. */
	#plainText = "";
	#denials: Denial[] = [];
	readonly #deniedCalls = new Map<string, CallDenial>();
	denial: string | null = null;

	/** A later change of the model counts from the next run. */
	constructor(model: ModelName) {
		this.#model = model;
	}

	get turns(): number {
		return this.#modelCalls;
	}

	get toolCalls(): number {
		return this.#toolCalls;
	}

	get text(): string {
		return this.#current === null ? this.#plainText : this.#current.text;
	}

	/** Whether calls may run that were not sent yet: they are sent when the model's answer is complete. */
	get isAnswering(): boolean {
		return this.#current !== null && !this.#current.isAnswered;
	}

	readonly calls: CountedCall[] = [];
	hasRetried = false;

	get answer(): { readonly assistant_message_id?: string } {
		const id = this.#current?.answerId ?? null;
		return id === null ? {} : { assistant_message_id: id };
	}

	beginCall(answerId: string | null): MeerkatEvent[] {
		const before = this.#finish();
		this.#modelCalls += 1;
		this.hasRetried = false;
		this.#current = {
			answerId,
			text: "",
			reasoning: "",
			usage: noUsage,
			model: this.#model,
			calls: [],
			early: [],
			isAnswered: false,
			isTruncated: false,
			isOver: false,
		};
		return [...before, { type: "turn_started", turn_number: this.#modelCalls - 1, ...this.answer }];
	}

	addReasoning(delta: string): MeerkatEvent[] {
		if (this.#current !== null) this.#current.reasoning += delta;
		return [{ type: "reasoning_delta", delta, ...this.answer }];
	}

	addText(delta: string): MeerkatEvent[] {
		if (this.#current === null) this.#plainText += delta;
		else this.#current.text += delta;
		return [...this.#endReasoning(), { type: "text_delta", delta, ...this.answer }];
	}

	#endReasoning(): MeerkatEvent[] {
		const content = this.#current?.reasoning ?? "";
		if (this.#current === null || content === "") return [];
		this.#current.reasoning = "";
		return [{ type: "reasoning_complete", content, ...this.answer }];
	}

	addCall(call: ToolCall, at: number): void {
		this.#current?.calls.push({ call, startedAt: at, isStarted: false, settled: null });
	}

	/** The call was allowed and begins to act. */
	startCall(id: string): MeerkatEvent[] {
		const current = this.#current;
		const open = current?.calls.find(
			({ call, isStarted, settled }) => call.id === id && !isStarted && settled === null,
		);
		if (current === null || open === undefined) return [];
		open.isStarted = true;
		return current.isAnswered ? [{ type: "tool_execution_started", ...place(open.call) }] : [];
	}

	settleCall(id: string, result: ToolReturn, at: number): MeerkatEvent[] {
		const open = this.#current?.calls.find(({ call, settled }) => call.id === id && settled === null);
		if (open !== undefined) open.settled = { result, at, denial: this.#takeDenial(open.call, result) };
		return this.#finishIfSettled();
	}

	/** Adds hook events, to be sent after the calls that they are about. */
	addHooks(events: readonly MeerkatEvent[]): readonly MeerkatEvent[] {
		if (this.#current === null || this.#current.isAnswered) return events;
		this.#current.early.push(...events);
		return [];
	}

	/** A hook refused a call of this tool. */
	deny(tool: string, reason: string): void {
		this.#denials.push({ tool, reason });
	}

	/** A hook refused this call, or withholds its result. */
	denyCall(id: string, place: Pick<CallDenial, "hook_id" | "point">, denial: HookDenial): void {
		this.#deniedCalls.set(id, { ...place, ...denial });
	}

	retry(): readonly MeerkatEvent[] {
		this.hasRetried = true;
		if (this.#current === null) return [];
		const { early } = this.#current;
		this.#current = { ...this.#current, text: "", reasoning: "", calls: [], early: [] };
		return early;
	}

	answered(usage: TokenUsage | null, isTruncated = false): MeerkatEvent[] {
		const current = this.#current;
		if (current === null || current.isAnswered) return [];
		current.isAnswered = true;
		current.isTruncated = isTruncated;
		current.usage = addUsage(current.usage, usage ?? noUsage);
		this.calls.push({ usage: current.usage, model: current.model });
		this.#toolCalls += current.calls.length;
		const events = this.#endReasoning();
		if (current.text !== "") events.push({ type: "text_complete", content: current.text, ...this.answer });
		for (const { call } of current.calls) {
			events.push({ type: "tool_call_requested", ...place(call), args: toArguments(call.function.arguments) });
		}
		for (const { call, isStarted } of current.calls)
			if (isStarted) events.push({ type: "tool_execution_started", ...place(call) });
		return [...events, ...current.early, ...this.#finishIfSettled()];
	}

	end(): MeerkatEvent[] {
		const isPlain = this.#current === null && this.#plainText !== "";
		return isPlain ? [{ type: "text_complete", content: this.#plainText }] : this.#finish();
	}

	/** The run ended otherwise: running tools are reported as interrupted. */
	breakOff(at: number): MeerkatEvent[] {
		const current = this.#current;
		if (current === null || current.isOver) return [];
		current.isOver = true;
		return current.isAnswered ? current.calls.flatMap((open) => toResults(open, at)) : current.early;
	}

	/** Takes the hook's refusal that becomes this call's result. */
	#takeDenial({ id, function: { name } }: ToolCall, { is_error, message }: ToolReturn): CallDenial | null {
		const named = this.#deniedCalls.get(id);
		if (named !== undefined) {
			this.#deniedCalls.delete(id);
			return named;
		}
		const index = this.#denials.findIndex(({ tool, reason }) => tool === name && reason === message);
		if (!is_error || index === -1) return null;
		this.#denials.splice(index, 1);
		return { hook_id: "PreToolUse", point: "pre_tool_execution", reason_code: denialCode, message };
	}

	#finish(): MeerkatEvent[] {
		return [...this.answered(null), ...this.#over(true)];
	}

	#finishIfSettled(): MeerkatEvent[] {
		return this.#over(false);
	}

	/** Ends the call once all its tools have results, or if forced. */
	#over(isForced: boolean): MeerkatEvent[] {
		const current = this.#current;
		if (current === null || !current.isAnswered || current.isOver) return [];
		if (!isForced && current.calls.some(({ settled }) => settled === null)) return [];
		current.isOver = true;
		const stopReason = current.isTruncated ? "max_tokens" : current.calls.length > 0 ? "tool_use" : "end_turn";
		return [
			...current.calls.flatMap((open) => toResults(open, open.startedAt)),
			{
				type: "turn_completed",
				stop_reason: stopReason,
				usage: { ...toEventUsage(current.usage), accounting: toAccounting(current) },
				...this.answer,
			},
		];
	}
}

function place({ id, function: { name } }: ToolCall): { readonly id: string; readonly name: string } {
	return { id, name };
}

function toResults({ call, startedAt, settled }: OpenCall, at: number): MeerkatEvent[] {
	const isError = settled?.result.is_error ?? true;
	const result = resultText(settled);
	const duration = Math.max(0, Math.round((settled?.at ?? at) - startedAt));
	const content = [{ type: "text" as const, text: result }];
	return [
		{ type: "tool_execution_completed", ...place(call), result, is_error: isError, duration_ms: duration, content },
		{ type: "tool_result_received", ...place(call), is_error: isError, content },
	];
}

function resultText(settled: Settled | null): string {
	if (settled === null) return JSON.stringify(cancelledCall);
	const { result, denial } = settled;
	if (denial === null) return outputText(result);
	const { message: _, ...data } = denial;
	return JSON.stringify({ error: "hook_denied", reason_code: denial.reason_code, message: result.message, data });
}
