import type { ToolCall } from "../api/values/content.ts";
import type { AgentEvent, EventBody, EventBodyOf } from "../api/values/event.ts";
import type { Interaction } from "../api/values/interaction.ts";

export interface PlayedCall {
	readonly call: ToolCall;
	readonly requestedAt: number;
	/** Index of the first event after the request, and of the result. */
	firstAt: number | null;
	resultAt: number | null;
	startedAt: number | null;
	result: EventBodyOf<"tool.result">["result"] | null;
	hasEffect: boolean;
	decided: EventBodyOf<"permission.decided"> | null;
	readonly asked: { readonly index: number; readonly interaction: Interaction }[];
	plan: EventBodyOf<"plan.displayed"> | null;
	/** Plan mode after it; null if unknown. */
	planAfter: boolean | null;
	isRefusal: boolean;
	isOpened: boolean;
}

export function findCalls(events: readonly AgentEvent[]): readonly PlayedCall[] {
	const calls: PlayedCall[] = [];
	const callOf = (id: string) => calls.findLast(({ call }) => call.id === id);
	events.forEach(({ body }, index) => {
		if (body.type === "tool.requested") {
			calls.push({
				call: body.call,
				requestedAt: index,
				firstAt: null,
				resultAt: null,
				startedAt: null,
				result: null,
				hasEffect: false,
				decided: null,
				asked: [],
				plan: null,
				planAfter: null,
				isRefusal: false,
				isOpened: false,
			});
		}
		const id = callIdOf(body);
		const call =
			body.type === "plan.displayed"
				? calls.findLast(({ startedAt, resultAt }) => startedAt !== null && resultAt === null)
				: id === null
					? undefined
					: callOf(id);
		if (call === undefined) return;
		call.firstAt ??= index;
		if (body.type === "permission.decided") call.decided = body;
		else if (body.type === "tool.started") {
			call.startedAt = index;
			call.hasEffect = body.has_effect;
		} else if (body.type === "interaction.requested") call.asked.push({ index, interaction: body.interaction });
		else if (body.type === "plan.displayed") call.plan = body;
		else if (body.type === "tool.result") {
			call.resultAt = index;
			call.result = body.result;
			call.planAfter = planModeAfter(events, index);
			call.isRefusal = body.result.is_error && endsTurn(events, index);
		}
	});
	return calls;
}

function callIdOf(body: EventBody): string | null {
	switch (body.type) {
		case "permission.decided":
		case "tool.started":
		case "tool.result":
			return body.toolCallId;
		case "interaction.requested":
			return body.interaction.kind === "hook" ? null : body.interaction.toolCallId;
		default:
			return null;
	}
}

function planModeAfter(events: readonly AgentEvent[], from: number): boolean | null {
	for (const { body } of events.slice(from))
		if (body.type === "status.changed" && body.plan_mode !== null) return body.plan_mode;
	return null;
}

/** Whether the turn ended after the step's results, although the model would have continued. */
function endsTurn(events: readonly AgentEvent[], from: number): boolean {
	const next = events.slice(from).find(({ body }) => body.type === "step.started" || body.type === "turn.ended");
	if (next?.body.type !== "turn.ended") return false;
	const { outcome } = next.body;
	return outcome === null || (outcome.status === "finished" && outcome.stoppedBy === "refusal");
}
