import { inputText, type ToolCall, type ToolReturn, toParts, type UserInput } from "../../api/values/content.ts";
import type { TurnError } from "../../api/values/event.ts";
import {
	denyingPoints,
	type HookDenial,
	type HookErrorData,
	type HookFault,
	type SessionHook,
	type SessionHookPoint,
	type SessionHookVerdict,
} from "../../api/values/hooks/session-hook.ts";
import { workIsOver } from "../../base/abort.ts";
import { sleep } from "../../base/clock.ts";
import { KernelError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { RunHooks } from "../../core/agent/dependencies.ts";
import { isHookFailure } from "../../core/agent/hook-failure.ts";
import { withheldResult } from "../../core/agent/tool-results.ts";
import { allowed, blocked, type HookDecision } from "../../core/hooks/hook.ts";
import { runSessionHook, type SessionHookPlace } from "../../core/hooks/session-hook.ts";
import type { EmitInTurn } from "./turn-emitter.ts";

export interface SessionHooksSettings {
	readonly hooks: readonly SessionHook[];
	readonly sessionId: string;
	readonly place: SessionHookPlace;
	readonly log: Log;
}

/** Milliseconds for background hooks after the end of their run. */
const trailingGrace = 5000;

interface Denied {
	readonly hookId: string;
	readonly denial: HookDenial;
}

export class SessionHooks implements RunHooks {
	readonly #settings: SessionHooksSettings;
	readonly #hooks: readonly SessionHook[];
	readonly #emit: EmitInTurn;
	readonly #signal: AbortSignal;
	readonly #trailing = new AbortController();
	readonly #inBackground = new Set<Promise<unknown>>();
	#requests = 0;
	/** A failure after a call: its result is withheld, and the step fails once all its results have arrived. */
	#pending: KernelError | null = null;

	/** With `isSubagent`, only hooks around tool calls run. */
	constructor(settings: SessionHooksSettings, isSubagent: boolean, emit: EmitInTurn, signal: AbortSignal) {
		this.#settings = settings;
		this.#hooks = settings.hooks
			.filter(({ point }) => !isSubagent || pointsOfCalls.has(point))
			.toSorted((one, other) => one.priority - other.priority);
		this.#emit = emit;
		this.#signal = signal;
	}

	/** Before the run begins. Fails with KernelError `hook-failed`, as do other methods unless stated otherwise. */
	async started(input: UserInput): Promise<void> {
		const content = typeof input === "string" ? input : toParts(input).map(toBlock);
		await this.#run("run_started", { prompt_input: { kind: "content", content }, prompt: inputText(input) });
	}

	async completed(text: string): Promise<void> {
		const denied = await this.#run("run_completed", { ...this.#turnNumber, result: text });
		if (denied !== null) throw deniedRun(denied);
	}

	/** The run is about to end in an error. Never fails: that error stays. */
	async failed({ message }: TurnError): Promise<void> {
		await this.#run("run_failed", { ...this.#turnNumber, error: message }).catch((thrown: unknown) =>
			this.#settings.log.warn("A hook failed after a failed run.", { error: thrown }),
		);
	}

	async request(request: Parameters<RunHooks["request"]>[0]): Promise<void> {
		this.#requests += 1;
		const { messageCount, maxTokens, temperature } = request;
		const input = { message_count: messageCount, max_tokens: maxTokens, temperature };
		await this.#run("pre_llm_request", { ...this.#turnNumber, llm_request: input });
	}

	async answer({ text, calls, usage }: Parameters<RunHooks["answer"]>[0]): Promise<void> {
		const response = {
			assistant_text: text,
			tool_call_names: calls.map((call) => call.function.name),
			stop_reason: calls.length > 0 ? "tool_use" : "end_turn",
			usage:
				usage === null
					? null
					: {
							input_tokens: usage.input_other,
							output_tokens: usage.output,
							cache_creation_tokens: usage.input_cache_creation,
							cache_read_tokens: usage.input_cache_read,
						},
		};
		await this.#run("post_llm_response", { ...this.#turnNumber, llm_response: response });
	}

	async before(call: ToolCall, input: unknown): Promise<HookDecision> {
		const described = { tool_use_id: call.id, name: call.function.name, args: input };
		const denied = await this.#run("pre_tool_execution", { ...this.#turnNumber, tool_call: described }, call.id);
		if (denied === null) return allowed;
		const { message, payload } = denied.denial;
		const text = denialText(denied, "pre_tool_execution", message);
		return blocked(payload === undefined ? text : `${text}\n${JSON.stringify(payload)}`);
	}

	async after(call: ToolCall, result: ToolReturn): Promise<ToolReturn> {
		const { is_error, output, message } = result;
		const parts = toParts(output);
		const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
		const described = {
			tool_use_id: call.id,
			name: call.function.name,
			content: [...texts, message].filter((text) => text !== "").join("\n"),
			content_blocks: parts.map(toBlock),
			is_error,
		};
		try {
			const denied = await this.#run("post_tool_execution", { ...this.#turnNumber, tool_result: described }, call.id);
			return denied === null ? result : withheldResult(denialText(denied, "post_tool_execution", withheld));
		} catch (thrown) {
			if (!isHookFailure(thrown)) throw thrown;
			this.#pending ??= thrown;
			return withheldResult(withheldAfterFailure);
		}
	}

	async stepEnded(): Promise<void> {
		if (this.#pending !== null) throw this.#pending;
		await this.#run("turn_boundary", { ...this.#turnNumber });
	}

	/** Waits for background hooks, or ends them immediately when the run was cancelled. */
	async end(): Promise<void> {
		const { clock } = this.#settings.place;
		if (this.#inBackground.size > 0)
			await Promise.race([Promise.allSettled(this.#inBackground), sleep(clock, trailingGrace, this.#signal)]);
		this.#trailing.abort(workIsOver);
		await Promise.allSettled(this.#inBackground);
	}

	get #turnNumber() {
		return { turn_number: Math.max(0, this.#requests - 1) };
	}

	/** The first denial ends the sequence. Background hooks start once all others have allowed it. */
	async #run(
		point: SessionHookPoint,
		input: Readonly<Record<string, unknown>>,
		toolCallId?: string,
	): Promise<Denied | null> {
		const hooks = this.#hooks.filter((hook) => hook.point === point);
		if (hooks.length === 0) return null;
		const about = { id: "", point, ...(toolCallId === undefined ? {} : { toolCallId }) };
		const whole = { point, session_id: this.#settings.sessionId, ...input };
		for (const hook of hooks.filter(({ isBackground }) => !isBackground)) {
			const verdict = await this.#consult(hook, { ...about, id: hook.id }, whole, this.#signal);
			if (this.#signal.aborted) return null;
			if (verdict.kind === "denied") return { hookId: hook.id, denial: verdict.denial };
			if (verdict.kind === "failed" && !hook.failsOpen) throw failedHook(hook, verdict.fault);
		}
		for (const hook of hooks.filter(({ isBackground }) => isBackground)) {
			const signal = AbortSignal.any([this.#signal, this.#trailing.signal]);
			const work = this.#consult(hook, { ...about, id: hook.id }, whole, signal)
				.catch((thrown: unknown) => this.#settings.log.warn("A hook failed.", { hook: hook.id, error: thrown }))
				.finally(() => this.#inBackground.delete(work));
			this.#inBackground.add(work);
		}
		return null;
	}

	async #consult(
		hook: SessionHook,
		about: { readonly id: string; readonly point: SessionHookPoint; readonly toolCallId?: string },
		input: Readonly<Record<string, unknown>>,
		signal: AbortSignal,
	): Promise<SessionHookVerdict> {
		const { place, log } = this.#settings;
		await this.#emit({ type: "session-hook.started", ...about });
		const startedAt = place.clock.monotonic();
		const answered = await runSessionHook(hook, input, place, signal);
		const verdict = answered.kind === "denied" ? asAllowed(hook, answered) : answered;
		if (verdict.kind !== "completed") log.info("A session hook blocked the run.", { hook: hook.id, verdict });
		const duration = Math.max(0, Math.round(place.clock.monotonic() - startedAt));
		await this.#emit({ type: "session-hook.ended", ...about, duration_ms: duration, verdict });
		return verdict;
	}
}

const pointsOfCalls: ReadonlySet<SessionHookPoint> = new Set(["pre_tool_execution", "post_tool_execution"]);

/** A denial that cannot take effect is a failure, so that it is not mistaken for a block. */
function asAllowed({ point, isBackground }: SessionHook, denied: SessionHookVerdict): SessionHookVerdict {
	if (isBackground) return { kind: "failed", fault: { reason_code: "observe_only_violation" } };
	if (denyingPoints.has(point)) return denied;
	const message = `a hook at ${point} cannot deny anything: it observes`;
	return { kind: "failed", fault: { reason_code: "execution_failed", message } };
}

const spelledPoint = (point: SessionHookPoint) =>
	point.replace("llm", "Llm").replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

const spelledReason = ({ reason_code }: HookDenial) =>
	reason_code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

const withheld = "The result is withheld; the tool's effects remain.";
const withheldAfterFailure = "The result is withheld because a hook after the call failed; the tool's effects remain.";

function denialText({ hookId, denial }: Denied, point: SessionHookPoint, why: string): string {
	return `Hook '${hookId}' denied at ${spelledPoint(point)}: ${spelledReason(denial)} - ${why}`;
}

function deniedRun(denied: Denied): KernelError {
	const data = { hook_id: denied.hookId, point: "run_completed", denial: denied.denial } satisfies HookErrorData;
	const text = denialText(denied, "run_completed", denied.denial.message);
	return new KernelError("hook-failed", text, { data });
}

function failedHook({ id, point, timeout }: SessionHook, fault: HookFault): KernelError {
	const data = { hook_id: id, point, fault } satisfies HookErrorData;
	switch (fault.reason_code) {
		case "timeout":
			return new KernelError("hook-failed", `Hook '${id}' timed out after ${timeout}ms`, { data });
		case "execution_failed":
			return new KernelError("hook-failed", `Hook execution failed for '${id}': ${fault.message}`, { data });
		case "observe_only_violation":
			return new KernelError("hook-failed", `Hook '${id}' may only observe, and denied something`, { data });
	}
}

/** Media are named, not included. */
function toBlock(part: ReturnType<typeof toParts>[number]): Readonly<Record<string, unknown>> {
	return part.type === "text" ? { type: "text", text: part.text } : { type: part.type.replace(/_url$/, "") };
}
