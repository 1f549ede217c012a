// What a client of many sessions does with each in the crash and kill campaigns, and what the model of each answers.
import fc from "fast-check";
import { shell } from "../wire/crash-scenarios.ts";
import type { CrashDialect } from "./crash-round.ts";
import { cancelMoment, choose } from "./hostile-lines.ts";

/** What the client does with one session. */
export interface SessionPlan {
	readonly index: number;
	readonly hasTools: boolean;
	/** Prompts in all. */
	readonly prompts: number;
	/** What it decides when it is asked for permission; null for no answer. */
	readonly choice: "approve" | "approve_for_session" | "reject" | null;
	/** Cancels after so many messages about the session; null for never. */
	readonly cancelAfter: number | null;
}

export type Plans = readonly SessionPlan[];

const usage = 'usage: {"input_other": 10, "output": 5}';
export const said = `think: hm\ntext: Hello\ntext:  there\n${usage}`;
const planned = `tool_call: ${JSON.stringify({
	id: "todo",
	name: "SetTodoList",
	arguments: JSON.stringify({ todos: [{ title: "Do it", status: "in_progress" }] }),
})}`;

/** What the model of a session answers in one life, prompt by prompt. */
export function answersOf({ index, hasTools, prompts }: SessionPlan, life: number): readonly string[] {
	if (life > 1) return [shell("call-1", `echo again-${index}-${life} >> effects`), said, said];
	if (!hasTools) return Array.from({ length: prompts }, () => said);
	return Array.from({ length: prompts }, (_, prompt) => {
		const call = (number: number, name: string): string =>
			shell(`call-${prompt}-${number}`, `sleep 0.0${index % 5}; echo ${name}-${index}-${prompt} >> effects`);
		return [`text: I will.\n${planned}\n${call(1, "one")}\n${call(2, "two")}\n${usage}`, said];
	}).flat();
}

/** The commands that the model of a session may call for, whatever the life. */
export function commandsOf(plan: SessionPlan): readonly string[] {
	const answers = [1, 2, 3, 4].flatMap((life) => answersOf(plan, life)).join("\n");
	return [...answers.matchAll(/"command\\":\\"(.*?)\\"/g)].flatMap(([, command]) => command ?? []);
}

/** Sessions of a client, on the average. */
const size = 6;

const plan: fc.Arbitrary<Omit<SessionPlan, "index">> = fc.record({
	hasTools: choose(true, true, true, false),
	prompts: fc.integer({ min: 1, max: 3 }),
	choice: choose<SessionPlan["choice"]>("approve", "approve", "approve_for_session", "reject", null),
	cancelAfter: cancelMoment(16),
});

const plans: fc.Arbitrary<Plans> = fc
	.array(plan, { minLength: 1, maxLength: 2 * size - 1, size: "max" })
	.map((drawn) => drawn.map((each, index) => ({ ...each, index })));

const usual: Plans = Array.from({ length: size }, (_, index) => ({
	index,
	hasTools: index % 3 < 2,
	prompts: 1 + (index % 3),
	choice: "approve",
	cancelAfter: null,
}));

const single = (change: Partial<SessionPlan>): Plans => [
	{ index: 0, hasTools: true, prompts: 1, choice: "approve", cancelAfter: null, ...change },
];

/** What dialects whose scenarios are such plans have in common. */
export const ofPlans = {
	scenarios: [single({}), single({ choice: "reject" }), single({ choice: null }), single({ cancelAfter: 8 })],
	arbitrary: plans,
	processArbitrary: plans,
	describe: (scenario) => scenario.map((each) => JSON.stringify(each)),
	measure: (scenario) =>
		scenario.length === 1
			? { key: JSON.stringify(scenario), whole: scenario, share: 1 }
			: { key: "many sessions", whole: usual, share: scenario.length / size },
	unwinds: () => false,
	sessionsOf: () => [],
	isUsed: (lives) => lives.length > 1,
} satisfies Partial<CrashDialect<Plans>>;
