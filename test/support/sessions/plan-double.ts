// Plan mode and questions as tools see them, with a person who answers what a test says.
import type { PlanOperations, PlanOutcome, PlanReview, Question } from "../../../src/core/tools/operations.ts";

export interface PlanDouble {
	readonly plan: PlanOperations;
	/** What was asked and shown, and each switch, in order. */
	readonly happened: unknown[];
	readonly asked: (readonly Question[])[];
	readonly reviews: PlanReview[];
	isOn: boolean;
	canAsk: boolean;
	canShow: boolean;
	yolo: boolean;
	afk: boolean;
	text: string | null;
	outcome: PlanOutcome;
}

export const planFile = "/share/plans/amber-fern-oak.md";

export function createPlanDouble(changes: Partial<Omit<PlanDouble, "plan">> = {}): PlanDouble {
	const double: PlanDouble = {
		happened: [],
		asked: [],
		reviews: [],
		isOn: false,
		canAsk: true,
		canShow: true,
		yolo: false,
		afk: false,
		text: null,
		outcome: { kind: "dismissed" },
		plan: {
			isOn: () => double.isOn,
			file: () => (double.isOn ? planFile : null),
			read: async () => (double.text === null ? null : { file: planFile, text: double.text }),
			async set(enabled) {
				double.isOn = enabled;
				double.happened.push(enabled ? "on" : "off");
			},
			show: async (content, file) => void double.happened.push(["shown", content, file]),
			canAsk: () => double.canAsk,
			canShow: () => double.canShow,
			entersUnasked: () => double.yolo || double.afk,
			isAway: () => double.afk,
			instructions: (file) => `Plan to ${file}.`,
			async ask(question, review) {
				double.asked.push([question]);
				double.reviews.push(review);
				double.happened.push("asked");
				return double.outcome;
			},
		},
		...changes,
	};
	return double;
}
