// What a client of Kimi Wire and a model do to a server in one interleaving, and how fast-check makes such lists.
import fc from "fast-check";
import type { ModelMove } from "../../support/models/campaign-model.ts";
import type { CommonAction } from "../frame/liveness.ts";

export const answerKinds = [
	"approve",
	"approve-for-session",
	"reject",
	"reject-with-words",
	"wrong-value",
	"null",
	"no-result",
	"deep",
	"error",
	"bad-error",
	"other-id",
	"event",
] as const;
export type AnswerKind = (typeof answerKinds)[number];

/** A subscription to the hooks of one point. `timeout` is in seconds. */
export interface HookSubscription {
	readonly event: string;
	readonly matcher: string;
	readonly timeout: number;
}

/** What a client says of itself in a handshake. */
export interface Greeting {
	readonly tools: boolean;
	/** Whether it can put questions to a person and serve plan mode. */
	readonly able: boolean;
	readonly hooks: readonly HookSubscription[];
}

/** What a client of Kimi Wire and the model do; a hook, a question or an approval is answered as with any client. */
export type WireAction =
	| { readonly do: "prompt" }
	/** A prompt that is a slash command. */
	| { readonly do: "command"; readonly text: string }
	/** A side question. */
	| { readonly do: "aside"; readonly question: string }
	| { readonly do: "steer" }
	| { readonly do: "cancel" }
	| { readonly do: "replay" }
	| { readonly do: "initialize"; readonly greeting: Greeting }
	| { readonly do: "plan-mode"; readonly enabled: boolean }
	| { readonly do: "model"; readonly moves: readonly ModelMove[] };

export interface WireSettings {
	/** How the client introduces itself before anything else. */
	readonly greeting: Greeting | null;
	/** Turns of the event loop per write to the store. */
	readonly latency: number;
	/** The first write to the store that fails, and how many do from there on; null for a store that works. */
	readonly failure: { readonly from: number; readonly count: number } | null;
	/** Whether interactions have deadlines. */
	readonly deadlines: boolean;
	/** Bytes. */
	readonly outboxLimit: number;
}

/** Arguments by number: good ones, none, broken ones, and some nested deeper than can be written again. */
const argumentTexts: readonly (string | null)[] = [
	'{"n":0}',
	'{"n":1}',
	null,
	'{"n":',
	"[".repeat(20_000) + "]".repeat(20_000),
];

/** Stands for the id of the subagent that was last heard of. */
export const lastAgent = "<last agent>";

const choice = { question: "Which way?", options: [{ label: "Left" }, { label: "Right" }] };

/** Arguments of the tools that talk: good ones first, bad ones last. */
const talkingArguments: Readonly<Record<string, readonly string[]>> = {
	AskUserQuestion: [
		{ questions: [choice] },
		{ questions: [choice, { ...choice, question: "How far?", multi_select: true }] },
		{ questions: [] },
	].map((value) => JSON.stringify(value)),
	Agent: [
		{ description: "part one", prompt: "Do the first part." },
		{ description: "part two", prompt: "Do the second part.", subagent_type: "coder" },
		{ description: "more of it", prompt: "Go on.", resume: lastAgent },
		{ description: "nothing", prompt: "Do it.", subagent_type: "nobody" },
	].map((value) => JSON.stringify(value)),
	ExitPlanMode: [{}, { options: [{ label: "One" }, { label: "Two" }] }].map((value) => JSON.stringify(value)),
};

const call = (name: string, n: number, id: number): ModelMove => ({
	kind: "call",
	id: `call-${id}`,
	name,
	arguments: talkingArguments[name]?.[n] ?? argumentTexts[n] ?? null,
});

const callMove = fc
	.tuple(
		fc.constantFrom(
			...["Touch", "Touch", "Touch", "Poke", "Look", "Doze", "ClientTool", "ClientTool", "Nothing"],
			...["AskUserQuestion", "AskUserQuestion", "Agent", "Agent", "Agent", "Agent"],
			...["EnterPlanMode", "EnterPlanMode", "WritePlan", "ExitPlanMode", "ExitPlanMode"],
		),
		fc.constantFrom(0, 0, 0, 0, 1, 1, 1, 2, 3, 4),
	)
	.map(([name, n]) => ({ name, n }));

/** An answer of the model: some words, some calls with ids of their own, and an end. */
const answerMoves: fc.Arbitrary<readonly ModelMove[]> = fc
	.record({
		words: fc.constantFrom<readonly ModelMove[]>(
			[],
			[{ kind: "say", text: "So" }],
			[
				{ kind: "think", text: "Hm" },
				{ kind: "say", text: "Yes" },
			],
			Array.from({ length: 40 }, (): ModelMove => ({ kind: "say", text: "many words ".repeat(5) })),
			// A report that is long enough.
			[{ kind: "say", text: "It is done. ".repeat(20) }],
			// More than is held for a client that does not read.
			Array.from({ length: 300 }, (): ModelMove => ({ kind: "say", text: "w" })),
		),
		calls: fc.array(callMove, { maxLength: 3 }),
		firstId: fc.integer({ min: 1, max: 3 }),
		end: fc.constantFrom<readonly ModelMove[]>(
			[{ kind: "done", counted: true }],
			[{ kind: "done", counted: true }],
			[{ kind: "done", counted: false }],
			[{ kind: "done", counted: true }],
			[],
			[{ kind: "break" }],
			[{ kind: "fail", failure: "status", status: 500 }],
			[{ kind: "fail", failure: "status", status: 400 }],
			[{ kind: "fail", failure: "connection", status: null }],
			[{ kind: "fail", failure: "defect", status: null }],
		),
	})
	.map(({ words, calls, firstId, end }) => [
		...words,
		...calls.map(({ name, n }, index) => call(name, n, firstId + index)),
		...end,
	]);

const how = fc.constantFrom<AnswerKind>(...answerKinds, "approve", "approve", "approve");

const subscription: fc.Arbitrary<HookSubscription> = fc
	.tuple(
		fc.constantFrom(
			...([
				["PreToolUse", ""],
				["PreToolUse", "Touch|Agent"],
				["PostToolUse", ""],
				["PostToolUse", "Look"],
			] as const),
			...([
				["UserPromptSubmit", ""],
				["Stop", ""],
				["Stop", ""],
				["SubagentStart", ""],
				["SubagentStop", ""],
			] as const),
			...([
				["StopFailure", ""],
				["PostToolUseFailure", ""],
				["SessionEnd", ""],
				["Nothing", ""],
			] as const),
		),
		fc.constantFrom(30, 30, 5, 0),
	)
	.map(([[event, matcher], timeout]) => ({ event, matcher, timeout }));

const greeting: fc.Arbitrary<Greeting> = fc.record({
	tools: fc.boolean(),
	able: fc.constantFrom(true, true, false),
	hooks: fc.oneof(fc.constant([]), fc.array(subscription, { minLength: 1, maxLength: 4 })),
});

export const wireActions: readonly fc.WeightedArbitrary<WireAction>[] = [
	{ weight: 4, arbitrary: fc.constant({ do: "prompt" }) },
	{
		weight: 1,
		arbitrary: fc.record({
			do: fc.constant("command"),
			text: fc.constantFrom("/compact", "/compact the rest", "/clear", "/init", "/nothing"),
		}),
	},
	{ weight: 2, arbitrary: fc.constant({ do: "steer" }) },
	{ weight: 2, arbitrary: fc.constant({ do: "cancel" }) },
	{ weight: 1, arbitrary: fc.constant({ do: "replay" }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("initialize"), greeting }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("plan-mode"), enabled: fc.boolean() }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("aside"), question: fc.constantFrom("Why?", "Why?", "") }) },
	{ weight: 8, arbitrary: fc.record({ do: fc.constant("model"), moves: answerMoves }) },
];

const done: ModelMove = { kind: "done", counted: true };
const longReport: ModelMove = { kind: "say", text: "It is done. ".repeat(20) };

/** A prompt, answered with these calls. */
const opening = (...calls: readonly ModelMove[]): readonly WireAction[] => [
	{ do: "prompt" },
	{ do: "model", moves: [...calls, done] },
];

type AnyAction = WireAction | CommonAction<AnswerKind>;

/** The parts of a dialogue that chance alone seldom puts in a row. */
export const wireScenes: fc.Arbitrary<readonly AnyAction[]> = fc
	.record({
		first: how,
		second: how,
		agents: fc.integer({ min: 1, max: 2 }),
		tool: fc.constantFrom("Touch", "Touch", "Look", "Doze"),
		report: fc.constantFrom<readonly ModelMove[]>([longReport, done], [{ kind: "say", text: "Done." }, done], [done]),
		options: fc.integer({ min: 0, max: 1 }),
		kind: fc.constantFrom<"question" | "plan" | "agent" | "hook">("question", "plan", "agent", "agent", "hook"),
	})
	.map(({ first, second, agents, tool, report, options, kind }): readonly AnyAction[] => {
		const answer = (which: number, choice: AnswerKind): AnyAction => ({ do: "answer", which, how: choice });
		const scenes: Readonly<Record<typeof kind, readonly AnyAction[]>> = {
			question: [...opening(call("AskUserQuestion", options, 1)), answer(0, first)],
			plan: [
				...opening(call("EnterPlanMode", 0, 1)),
				answer(0, first),
				{ do: "model", moves: [call("WritePlan", 0, 2), done] },
				{ do: "model", moves: [call("ExitPlanMode", options, 3), done] },
				answer(0, second),
			],
			agent: [
				...opening(...Array.from({ length: agents }, (_, index) => call("Agent", index, 1 + index))),
				{ do: "model", moves: [call(tool, 0, 1), done] },
				answer(0, first),
				{ do: "model", moves: report },
				answer(0, second),
			],
			hook: [...opening(call(tool, 0, 1)), answer(0, first), answer(0, second)],
		};
		return scenes[kind];
	});

export const wireSettings: fc.Arbitrary<WireSettings> = fc.record({
	greeting: fc.option(greeting, { freq: 4, nil: null }),
	latency: fc.constantFrom(0, 0, 1, 2),
	failure: fc.option(fc.record({ from: fc.integer({ min: 1, max: 40 }), count: fc.integer({ min: 1, max: 6 }) }), {
		freq: 4,
		nil: null,
	}),
	deadlines: fc.boolean(),
	outboxLimit: fc.constantFrom(262_144, 262_144, 400),
});
