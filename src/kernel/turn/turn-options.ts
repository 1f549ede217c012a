// The options of a turn, and those of every turn of a session.
import type { TurnOptions, TurnOptionsChange } from "../../events/turn-options.ts";

/** The options of a turn: its own, and those of every turn that it does not have. Instructions add up. */
export function joinTurnOptions(every: TurnOptions, own: TurnOptions): TurnOptions {
	const instructions = [...(every.instructions ?? []), ...(own.instructions ?? [])];
	return { ...every, ...own, ...(instructions.length === 0 ? {} : { instructions }) };
}

/** Those that are given in place of what there was; null takes one away. */
export function changeTurnOptions(before: TurnOptions, change: TurnOptionsChange): TurnOptions {
	const {
		context = before.context,
		systemPrompt = before.systemPrompt,
		instructions = before.instructions,
		tools = before.tools,
		answerForm = before.answerForm,
		sampling = before.sampling,
	} = change;
	const isGiven = <T>(value: T | null | undefined): value is T => value !== null && value !== undefined;
	return {
		...(isGiven(context) ? { context } : {}),
		...(isGiven(systemPrompt) ? { systemPrompt } : {}),
		...(isGiven(instructions) ? { instructions } : {}),
		...(isGiven(tools) ? { tools } : {}),
		...(isGiven(answerForm) ? { answerForm } : {}),
		...(isGiven(sampling) ? { sampling } : {}),
	};
}
