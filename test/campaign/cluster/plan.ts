// What a turn of the campaign is asked to do. The prompt has it as JSON, and the provider answers by it: so any process that has
// the session goes on with it, whatever became of the one before.
import * as v from "valibot";
import type { Random } from "../random.ts";

const planSchema = v.object({
	/** Unique in the campaign's round. */
	name: v.string(),
	/** The calls of each step but the last. Each appends its id, and the number of the request that it answers, to the file of effects. */
	steps: v.array(v.array(v.string())),
	/** Milliseconds that the provider takes for each step. */
	pause: v.number(),
	/** Seconds that each call takes. */
	toil: v.number(),
	/** Pieces of the last answer. */
	pieces: v.number(),
});
export type Plan = v.InferOutput<typeof planSchema>;

const mark = "plan: ";

export function makePlan(random: Random, name: string): Plan {
	const steps = Array.from({ length: random.below(4) }, (_, step) =>
		Array.from({ length: 1 + random.below(2) }, (__, call) => `${name}-${step}-${call}`),
	);
	return {
		name,
		steps,
		pause: random.chance(15) ? 300 + random.below(1_200) : random.below(300),
		toil: random.pick([0, 0, 0.1, 0.5]),
		pieces: 1 + random.below(20),
	};
}

export function toPrompt(plan: Plan): string {
	return `${mark}${JSON.stringify(plan)}`;
}

/** The plan in a prompt; null for another text. */
export function fromPrompt(text: string): Plan | null {
	if (!text.startsWith(mark)) return null;
	const parsed = v.safeParse(planSchema, JSON.parse(text.slice(mark.length)));
	return parsed.success ? parsed.output : null;
}

/** The name of the turn to which a call belongs. */
export function turnOf(callId: string): string {
	return callId.replace(/-\d+-\d+-\d+$/, "");
}
