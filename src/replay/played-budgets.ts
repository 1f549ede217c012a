import type { AgentEvent, TurnError } from "../api/values/event.ts";
import { isRecord } from "../base/json.ts";
import type { SessionParts } from "../kernel/session/session-parts.ts";
import { type Conductor, mainKey } from "./conductor.ts";
import { turnsOf } from "./cues.ts";

interface SpentBudget {
	readonly scope: "session" | "turn";
	readonly budget: "tokens" | "tool-calls";
	readonly limit: number;
}

/** Null for other errors and for time budgets: a replay takes no time. */
function budgetOf({ code, data }: Pick<TurnError, "code" | "data">): SpentBudget | null {
	if (code !== "budget-exhausted" || !isRecord(data)) return null;
	const { scope, budget, limit } = data;
	if (scope !== "session" && scope !== "turn") return null;
	if ((budget !== "tokens" && budget !== "tool-calls") || typeof limit !== "number") return null;
	return { scope, budget, limit };
}

/** Whether the same budget is exhausted again: tokens of requests outside steps are not recorded. */
export function isPlayedBudget(error: Pick<TurnError, "code" | "data">, events: readonly AgentEvent[]): boolean {
	const spent = budgetOf(error);
	const isAsideOfSteps = events.some(
		({ body }) => body.type === "compaction.ended" || body.type === "side-question.ended",
	);
	return spent !== null && (spent.budget === "tool-calls" || !isAsideOfSteps);
}

export function playBudgets(conductor: Conductor): Pick<SessionParts["budgets"], "session" | "turn"> {
	const main = conductor.scores.get(mainKey);
	const spent = turnsOf(conductor).flatMap(({ start, end }) => {
		const body = end === null ? undefined : main?.body(end);
		const failed =
			body?.type === "turn.ended" && body.outcome?.status === "failed" ? budgetOf(body.outcome.error) : null;
		return failed === null || end === null ? [] : [{ ...failed, start, end }];
	});
	const limitOf = (scope: SpentBudget["scope"], budget: SpentBudget["budget"]): number | null => {
		const position = main?.position ?? 0;
		const current = spent.find(({ start, end }) => start < position && end >= position);
		return current?.scope === scope && current.budget === budget ? current.limit : null;
	};
	// Nothing is counted without a limit from the beginning.
	const time = spent.length === 0 ? null : Number.MAX_SAFE_INTEGER;
	const limitsOf = (scope: SpentBudget["scope"]) => ({
		time,
		get tokens() {
			return limitOf(scope, "tokens");
		},
		get "tool-calls"() {
			return limitOf(scope, "tool-calls");
		},
	});
	return { session: limitsOf("session"), turn: limitsOf("turn") };
}
