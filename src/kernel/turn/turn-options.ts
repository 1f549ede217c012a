import type { ToolLimits, TurnOptions, TurnOptionsChange } from "../../api/values/turn-options.ts";

/** Combines a turn's own options with the session-wide defaults. Instructions and limits add up. */
export function joinTurnOptions(every: TurnOptions, own: TurnOptions): TurnOptions {
	const instructions = [...(every.instructions ?? []), ...(own.instructions ?? [])];
	const tools = joinLimits(every.tools, own.tools);
	return {
		...every,
		...own,
		...(instructions.length === 0 ? {} : { instructions }),
		...(tools === undefined ? {} : { tools }),
	};
}

function joinLimits(one: ToolLimits | undefined, other: ToolLimits | undefined): ToolLimits | undefined {
	if (one === undefined || other === undefined) return one ?? other;
	const { allowed } = one;
	return {
		allowed:
			allowed === null || other.allowed === null
				? (allowed ?? other.allowed)
				: allowed.filter((name) => other.allowed?.includes(name)),
		blocked: [...new Set([...one.blocked, ...other.blocked])],
	};
}

export function changeTurnOptions(before: TurnOptions, change: TurnOptionsChange): TurnOptions {
	const {
		context = before.context,
		passingContext = before.passingContext,
		systemPrompt = before.systemPrompt,
		instructions = before.instructions,
		tools = before.tools,
		answerForm = before.answerForm,
		sampling = before.sampling,
	} = change;
	const isGiven = <T>(value: T | null | undefined): value is T => value !== null && value !== undefined;
	return {
		...(isGiven(context) ? { context } : {}),
		...(isGiven(passingContext) ? { passingContext } : {}),
		...(isGiven(systemPrompt) ? { systemPrompt } : {}),
		...(isGiven(instructions) ? { instructions } : {}),
		...(isGiven(tools) ? { tools } : {}),
		...(isGiven(answerForm) ? { answerForm } : {}),
		...(isGiven(sampling) ? { sampling } : {}),
	};
}
