import type { AgentEvent, EventBody, EventBodyOf } from "../api/values/event.ts";
import { type AnswerEnd, createFailure, type ModelFailure } from "../core/models/model.ts";

/** The index is that of the event that follows the answer. */
export type PlayedEnd =
	| {
			readonly kind: "done";
			readonly index: number;
			readonly status: EventBodyOf<"status.changed">;
			readonly end: AnswerEnd | null;
	  }
	| { readonly kind: "failed"; readonly index: number; readonly failure: ModelFailure; readonly maxAttempts: number }
	/** The turn was cancelled, or the recording ends. */
	| { readonly kind: "cut" };

export interface PlayedAnswer {
	readonly parts: readonly number[];
	readonly end: PlayedEnd;
}

const partTypes: ReadonlySet<EventBody["type"]> = new Set([
	"content.completed",
	"tool.requested",
	"tool-call.fragment",
]);

export function findAnswers(events: readonly AgentEvent[]): PlayedAnswer[] {
	const answers: PlayedAnswer[] = [];
	let parts: number[] | null = null;
	const end = (how: PlayedEnd, isAskedAgain = false) => {
		if (parts !== null) answers.push({ parts, end: how });
		parts = isAskedAgain ? [] : null;
	};
	events.forEach(({ body }, index) => {
		if (body.type === "step.started") parts = [];
		else if (parts === null) return;
		else if (partTypes.has(body.type)) parts.push(index);
		else if (body.type === "status.changed") {
			const calls = parts.some((part) => events[part]?.body.type === "tool.requested");
			const isPaused = !calls && events[index + 1]?.body.type === "step.started";
			const truncated = body.truncated === undefined ? null : ({ kind: "truncated", reason: body.truncated } as const);
			end({
				kind: "done",
				index,
				status: body,
				end: truncated ?? (isPaused ? { kind: "paused", reason: "paused" } : null),
			});
		} else if (body.type === "step.retrying")
			end(
				{ kind: "failed", index: causeOf(events, index), failure: toFailure(body), maxAttempts: body.max_attempts },
				true,
			);
		else if (body.type === "step.interrupted" && body.reason === "error")
			end({ kind: "failed", index: causeOf(events, index), failure: lastFailure(events, index), maxAttempts: 1 });
		else if (body.type === "step.interrupted" || body.type === "turn.ended") end({ kind: "cut" });
	});
	end({ kind: "cut" });
	return answers;
}

function causeOf(events: readonly AgentEvent[], index: number): number {
	let first = index;
	while (isAbandoned(events[first - 1]?.body)) first -= 1;
	return first;
}

function isAbandoned(body: EventBody | undefined): boolean {
	return body?.type === "tool.ended" || (body?.type === "interaction.resolved" && body.by?.kind === "cancelled");
}

const failureKinds: Readonly<Record<string, ModelFailure["kind"]>> = {
	APIConnectionError: "connection",
	APITimeoutError: "timeout",
	APIEmptyResponseError: "empty",
	APIStatusError: "status",
};

function toFailure(retry: EventBodyOf<"step.retrying">): ModelFailure {
	const { error_type, status_code, reason = "", next_attempt, wait_s } = retry;
	const prefix = `HTTP ${status_code}: `;
	const message = reason.startsWith(prefix) ? reason.slice(prefix.length) : reason;
	// Attempts restart after the context was made smaller.
	if (next_attempt === 1 && wait_s === 0) return createFailure("overflow", message, status_code);
	const failure = createFailure(failureKinds[error_type] ?? "provider", message, status_code, 0);
	return failure.kind === "provider" ? { ...failure, isTransient: true } : failure;
}

export function lastFailure(events: readonly AgentEvent[], from: number): ModelFailure {
	const ended = events.slice(from).find(({ body }) => body.type === "turn.ended")?.body;
	const outcome = ended?.type === "turn.ended" ? ended.outcome : null;
	if (outcome?.status !== "failed") return createFailure("provider", "The model failed.");
	const { code, message, retryable, isRefused } = outcome.error;
	if (code === "login-expired") return createFailure("login", message);
	if (code === "internal") return createFailure("defect", message);
	const kind = kindOf(events, from) ?? (retryable === true ? "connection" : "provider");
	const failure = createFailure(kind, message, kind !== "status" ? null : retryable === true ? 503 : 400);
	return isRefused === true ? { ...failure, isRefused } : failure;
}

/** A hook receives the class of the failure. */
function kindOf(events: readonly AgentEvent[], from: number): ModelFailure["kind"] | undefined {
	const next = events[from + 1]?.body;
	return next?.type === "hook.triggered" && next.event === "StopFailure" ? failureKinds[next.target] : undefined;
}
