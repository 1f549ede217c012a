// One entry per event type; `ignored` if it has none. run.ts holds a run's state; nothing here sends anything.
import { inputText, type UserInput } from "../../../api/values/content.ts";
import type { AgentEvent, EventBodyOf, EventType, TurnOutcome } from "../../../api/values/event.ts";
import { type HookErrorData, readHookError } from "../../../api/values/hooks/session-hook.ts";
import { ownEvents } from "../../../api/values/own-events.ts";
import { retryCause } from "../../../api/values/retry-text.ts";
import type { FormedAnswer } from "../../../api/values/turn-options.ts";
import { type BlocksOrText, toBlocks } from "../wire/blocks.ts";
import { toRunId } from "../wire/session-id.ts";
import type { MeerkatEvent, TerminalCause } from "../wire/wire-events.ts";
import { type CountedCall, type ModelName, toAccounting } from "./accounting.ts";
import { toAnswerId } from "./answer-id.ts";
import { type SessionFacts, withEvent } from "./facts.ts";
import { cancelled, deniedByHook, type Failure, toFailure, toHookReason, toOutcome } from "./failures.ts";
import { denyingHooks, hookPlace, toHookEvents } from "./hook-events.ts";
import { denialCode, Run } from "./run.ts";
import { toEventUsage } from "./usage.ts";

export interface RunReport {
	readonly text: string;
	readonly turns: number;
	readonly toolCalls: number;
	readonly calls: readonly CountedCall[];
	/** Why it failed; null if it did not, or if a person cancelled it. */
	readonly cause: TerminalCause | null;
	/** Why a hook refused it, if one did. */
	readonly denial: string | null;
	readonly formed: FormedAnswer | null;
}

export interface Projection {
	take(event: AgentEvent): readonly MeerkatEvent[];
	report(): RunReport;
	facts(): SessionFacts;
	/** Whether calls may be running that were not sent yet. */
	isAnswering(): boolean;
	rounds(): number;
}

export interface ProjectionSettings {
	readonly sessionId: string;
	readonly model: ModelName;
	readonly facts: SessionFacts;
	describe(outcome: Exclude<TurnOutcome, { status: "finished" | "truncated" | "max-steps" }>): string;
}

interface State {
	readonly settings: ProjectionSettings;
	model: ModelName;
	facts: SessionFacts;
	run: Run | null;
	report: RunReport;
	early: Early;
}

interface Early {
	readonly turnId: string | null;
	readonly events: MeerkatEvent[];
	denial: string | null;
}

type Entry<T extends EventType> = (body: EventBodyOf<T>, event: AgentEvent, state: State) => readonly MeerkatEvent[];

const tooManyRequests = 429;
const nothing: readonly MeerkatEvent[] = [];
const ignored = () => nothing;

const entries: { readonly [T in EventType]: Entry<T> } = {
	"turn.started": ({ input }, event, state) => {
		// A nested turn is part of the run.
		if (state.run !== null) return nothing;
		state.run = new Run(state.model);
		const { events, denial } = earlyOf(event, state);
		state.run.denial = denial;
		state.early = noEarly(null);
		const prompt = typeof input === "string" ? input : inputText(input);
		const begun = {
			session_id: state.settings.sessionId,
			prompt,
			input: { kind: "content" as const, content: toContent(input) },
		};
		return [{ type: "run_started", ...begun, ...identityOf(event) }, ...events];
	},
	"turn.ended": ({ outcome }, event, state) => (outcome === null ? nothing : endRun(outcome, event, state)),
	"step.started": ({ n }, { turnId }, { run }) => run?.beginCall(toAnswerId(turnId, n)) ?? nothing,
	"step.interrupted": ignored,
	"step.retrying": (body, _event, { run, model }) => {
		const { next_attempt, max_attempts, wait_s, status_code } = body;
		const attempt = next_attempt - 1;
		const retries = max_attempts - 1;
		const delay = Math.round(wait_s * 1000);
		const message = retryCause(body);
		return [
			...(run?.retry() ?? []),
			{
				type: "retrying",
				attempt,
				max_attempts: retries,
				error: message,
				delay_ms: delay,
				retry: {
					failure: {
						provider: model.provider,
						kind: status_code === tooManyRequests ? "rate_limited" : "retryable_provider_error",
						message,
					},
					plan: {
						attempt,
						max_retries: retries,
						computed_delay_ms: delay,
						selected_delay_ms: delay,
						rate_limit_floor_applied: false,
						budget_capped: false,
					},
				},
				...run?.answer,
			},
		];
	},
	"compaction.started": ignored,
	"compaction.ended": ignored,
	"mcp.loading-started": ignored,
	"mcp.loading-ended": ignored,
	"status.changed": ({ token_usage, plan_mode, truncated }, _event, { run }) => {
		// The status after an answer contains the plan mode even when the usage is unknown.
		if (token_usage === null && plan_mode === null) return nothing;
		return run?.answered(token_usage, truncated !== undefined) ?? nothing;
	},
	...ownEvents(ignored),
	"budget.warning": ({ budget, used, limit }) => [
		{
			type: "budget_warning",
			budget_type: budget === "tool-calls" ? "tool_calls" : budget,
			used: Math.round(used),
			limit: Math.round(limit),
			percent: used / limit,
		},
	],
	"notification.raised": ignored,
	"content.delta": ({ part }, _event, { run }) => {
		if (part.type === "think") return run?.addReasoning(part.think) ?? nothing;
		// The text of a refused prompt is the hook's reason, which the end of the run reports.
		if (run === null || run.denial !== null || part.type !== "text" || part.text === "") return nothing;
		return run.addText(part.text);
	},
	"content.completed": ignored,
	"tool-call.started": ignored,
	"tool-call.delta": ignored,
	"tool.requested": ({ call }, { at }, { run }) => {
		run?.addCall(call, at);
		return nothing;
	},
	"tool-call.fragment": ignored,
	"tool.started": ({ toolCallId }, { agentPath }, { run }) =>
		agentPath.length === 0 ? (run?.startCall(toolCallId) ?? nothing) : nothing,
	"tool.progress": ignored,
	"tool.outcome-unknown": ignored,
	"tool.result": ({ toolCallId, result }, { at }, { run }) => run?.settleCall(toolCallId, result, at) ?? nothing,
	"interaction.requested": ignored,
	"interaction.resolved": ignored,
	"model.changed": ({ model: { name, provider } }, _event, state) => {
		state.model = { provider, model: name };
		return nothing;
	},
	"title.changed": ignored,
	"steer.consumed": ignored,
	"plan.displayed": ignored,
	"hook.triggered": ({ event }, triggered, state) => {
		const place = hookPlace(event);
		return place === null ? nothing : deliveredInRun([{ type: "hook_started", ...place }], triggered, state);
	},
	"hook.resolved": ({ event, target, action, reason, duration_ms }, resolved, state) => {
		const place = hookPlace(event);
		if (place === null) return nothing;
		const delivered: MeerkatEvent[] = [{ type: "hook_completed", ...place, duration_ms }];
		if (action === "block" && denyingHooks.has(event)) {
			delivered.push({ type: "hook_denied", ...place, reason_code: denialCode, message: reason });
		}
		if (action === "block" && event === "PreToolUse") state.run?.deny(target, reason);
		if (action === "block" && event === "UserPromptSubmit") earlyOf(resolved, state).denial = reason;
		return deliveredInRun(delivered, resolved, state);
	},
	"session-hook.started": ({ id, point, toolCallId }, started, state) =>
		ofHook([{ type: "hook_started", hook_id: id, point }], toolCallId, started, state),
	"session-hook.ended": ({ id, point, toolCallId, duration_ms, verdict }, ended, state) => {
		const place = { hook_id: id, point };
		if (toolCallId !== undefined && verdict.kind === "denied") state.run?.denyCall(toolCallId, place, verdict.denial);
		return ofHook(toHookEvents(place, duration_ms, verdict), toolCallId, ended, state);
	},
	"side-question.started": ignored,
	"side-question.ended": ignored,
};

function toContent(input: UserInput): BlocksOrText {
	const blocks = toBlocks(input);
	if (typeof blocks === "string" || blocks.length > 1) return blocks;
	const [only] = blocks;
	if (only === undefined) return "";
	return only.type === "text" ? only.text : blocks;
}

/** Hook events about a call follow the call; all others are sent at once. */
function ofHook(
	events: readonly MeerkatEvent[],
	toolCallId: string | undefined,
	event: AgentEvent,
	state: State,
): readonly MeerkatEvent[] {
	return toolCallId === undefined ? events : deliveredInRun(events, event, state);
}

/** Hook events from before the run's beginning are sent after it. */
function deliveredInRun(events: readonly MeerkatEvent[], event: AgentEvent, state: State): readonly MeerkatEvent[] {
	if (state.run !== null) return state.run.addHooks(events);
	earlyOf(event, state).events.push(...events);
	return nothing;
}

const noEarly = (turnId: string | null): Early => ({ turnId, events: [], denial: null });

function earlyOf({ turnId }: AgentEvent, state: State): Early {
	if (state.early.turnId !== turnId) state.early = noEarly(turnId);
	return state.early;
}

function endRun(outcome: TurnOutcome, event: AgentEvent, state: State): readonly MeerkatEvent[] {
	const { run, settings, facts } = state;
	state.run = null;
	if (run === null) return nothing;
	const { sessionId } = settings;
	const failure = failureOf(outcome, run, settings);
	const delivered = failure === null ? run.end() : run.breakOff(event.at);
	const { text, turns, toolCalls, calls, denial } = run;
	const formed = outcome.status === "finished" ? (outcome.formed ?? null) : null;
	const formedCalls = (formed?.usage ?? []).map((usage) => ({ usage, model: state.model }));
	state.report = {
		text,
		turns: turns + (formed?.attempts ?? 0),
		toolCalls,
		calls: [...calls, ...formedCalls],
		cause: failure?.cause ?? null,
		denial,
		formed,
	};
	if (failure !== null) return [...delivered, toRunFailed(failure, event, sessionId)];
	const usage = toEventUsage(facts.usage);
	const names = { ...identityOf(event), ...run.answer };
	const completed = { session_id: sessionId, result: text, usage, extraction_required: formed !== null };
	return [
		...delivered,
		{ type: "run_completed", ...completed, ...names },
		...toExtraction(formed, formedCalls, sessionId),
	];
}

interface DescribedFailure extends Failure {
	readonly error: string;
	readonly hook?: HookErrorData;
}

function failureOf(
	outcome: TurnOutcome,
	{ denial, hasRetried }: Run,
	{ describe }: ProjectionSettings,
): DescribedFailure | null {
	if (denial !== null) return { ...deniedByHook, error: denialText(denial) };
	const hookError = outcome.status === "failed" ? readHookError(outcome.error.data) : null;
	if (hookError !== null && outcome.status === "failed") {
		const cause = hookError.denial === undefined ? "hook_failure" : "hook_denied";
		return { errorClass: "hook", cause, error: describe(outcome), hook: hookError };
	}
	switch (outcome.status) {
		case "failed":
			return { ...toFailure(outcome.error, hasRetried), error: describe(outcome) };
		case "cancelled":
			return { ...cancelled, error: describe(outcome) };
		case "finished":
		case "truncated":
		case "max-steps":
			return null;
	}
}

function toRunFailed(
	{ error, errorClass, cause, hook }: DescribedFailure,
	event: AgentEvent,
	sessionId: string,
): Extract<MeerkatEvent, { type: "run_failed" }> {
	const terminal = cause === null ? null : { outcome: toOutcome(cause), cause_kind: cause };
	const reason =
		(hook === undefined ? null : toHookReason(hook)) ??
		(terminal === null ? null : { reason_type: "turn_terminal_cause" as const, ...terminal });
	return {
		type: "run_failed",
		session_id: sessionId,
		error,
		error_class: errorClass,
		error_report: {
			class: errorClass,
			message: error,
			...(reason === null ? {} : { reason }),
		},
		...(cause === null ? {} : { terminal_cause_kind: cause }),
		...identityOf(event),
	};
}

function toExtraction(
	formed: FormedAnswer | null,
	calls: readonly CountedCall[],
	sessionId: string,
): readonly MeerkatEvent[] {
	if (formed === null) return nothing;
	const { attempts } = formed;
	if (formed.kind === "formed") {
		const origin = attempts === 0 ? "final_reply" : "extraction";
		return [{ type: "extraction_succeeded", session_id: sessionId, structured_output: formed.value, origin }];
	}
	const { lastAnswer, reason } = formed;
	const requestUsage = calls.map((call) => ({ ...toEventUsage(call.usage), accounting: toAccounting(call) }));
	const failure = { last_output: lastAnswer, attempts, reason, request_usage: requestUsage };
	return [{ type: "extraction_failed", session_id: sessionId, ...failure }];
}

/** Names the run in contract events, where ids have hyphens. */
function identityOf({ turnId }: AgentEvent): Pick<Extract<MeerkatEvent, { type: "run_started" }>, "identity"> {
	if (turnId === null) return {};
	const id = toRunId(turnId);
	return { identity: { run_id: id, interaction_id: id, turn_input: "typed_text" } };
}

export function denialText(reason: string): string {
	return `Hook denied at RunStarted: PolicyViolation - ${reason}`;
}

export const noReport: RunReport = {
	text: "",
	turns: 0,
	toolCalls: 0,
	calls: [],
	cause: null,
	denial: null,
	formed: null,
};

export function createProjection(settings: ProjectionSettings): Projection {
	const state: State = {
		settings,
		model: settings.model,
		facts: settings.facts,
		run: null,
		report: noReport,
		early: noEarly(null),
	};
	return {
		take(event) {
			state.facts = withEvent(state.facts, event);
			// Clients see subagents' work only in the results of the calls that started them.
			return event.agentPath.length > 0 ? nothing : takeBody(event.body, event, state);
		},
		report: () => state.report,
		facts: () => state.facts,
		isAnswering: () => state.run?.isAnswering === true,
		rounds: () => state.run?.turns ?? 0,
	};
}

function takeBody<T extends EventType>(body: EventBodyOf<T>, event: AgentEvent, state: State): readonly MeerkatEvent[] {
	const entry: Entry<T> = entries[body.type as T];
	return entry(body, event, state);
}
