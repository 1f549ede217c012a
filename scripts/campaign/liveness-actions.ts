// What a client, a model and time do to a server in one interleaving, and how fast-check makes such lists.
import fc from "fast-check";
import type { ModelMove } from "../../test/support/campaign-model.ts";

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
] as const;
export type AnswerKind = (typeof answerKinds)[number];

export type Action =
	| { readonly do: "prompt" }
	| { readonly do: "steer" }
	| { readonly do: "cancel" }
	| { readonly do: "replay" }
	| { readonly do: "initialize"; readonly tools: boolean }
	| { readonly do: "plan-mode" }
	/** Answers the n-th open request, counted round. */
	| { readonly do: "answer"; readonly which: number; readonly how: AnswerKind }
	/** Answers a request that was answered or settled before. */
	| { readonly do: "answer-late"; readonly which: number; readonly how: AnswerKind }
	| { readonly do: "model"; readonly moves: readonly ModelMove[] }
	| { readonly do: "wait"; readonly seconds: number }
	| { readonly do: "pause" }
	| { readonly do: "resume" };

/** What is let happen before the next action: nothing, some turns of the event loop, or all there is to happen. */
export type Rest = number | "all";

export interface Step {
	readonly action: Action;
	readonly rest: Rest;
}

export type Finish = "answer" | "time" | "cancel" | "end" | "gone";

export interface Interleaving {
	readonly steps: readonly Step[];
	readonly finish: Finish;
	/** How the client introduces itself before anything else. */
	readonly greeting: "none" | "plain" | "tools";
	/** Turns of the event loop per write to the store. */
	readonly latency: number;
	/** The first write to the store that fails, and how many do from there on; null for a store that works. */
	readonly failure: { readonly from: number; readonly count: number } | null;
	/** Whether asks have deadlines. */
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

const call = (name: string, n: number, id: number): ModelMove => ({
	kind: "call",
	id: `call-${id}`,
	name,
	arguments: argumentTexts[n] ?? null,
});

const callMove = fc
	.tuple(
		fc.constantFrom("Touch", "Touch", "Poke", "Look", "Doze", "ClientTool", "ClientTool", "Nothing"),
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

const which = fc.integer({ min: 0, max: 3 });
const how = fc.constantFrom<AnswerKind>(...answerKinds, "approve", "approve", "approve");

const action: fc.Arbitrary<Action> = fc.oneof(
	{ weight: 4, arbitrary: fc.constant<Action>({ do: "prompt" }) },
	{ weight: 2, arbitrary: fc.constant<Action>({ do: "steer" }) },
	{ weight: 2, arbitrary: fc.constant<Action>({ do: "cancel" }) },
	{ weight: 1, arbitrary: fc.constant<Action>({ do: "replay" }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("initialize" as const), tools: fc.boolean() }) },
	{ weight: 1, arbitrary: fc.constant<Action>({ do: "plan-mode" }) },
	{ weight: 5, arbitrary: fc.record({ do: fc.constant("answer" as const), which, how }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("answer-late" as const), which, how }) },
	{ weight: 6, arbitrary: fc.record({ do: fc.constant("model" as const), moves: answerMoves }) },
	{ weight: 1, arbitrary: fc.constantFrom(1, 10, 40).map((seconds): Action => ({ do: "wait", seconds })) },
	{ weight: 1, arbitrary: fc.constant<Action>({ do: "pause" }) },
	{ weight: 1, arbitrary: fc.constant<Action>({ do: "resume" }) },
);

const rest: fc.Arbitrary<Rest> = fc.constantFrom<Rest>("all", "all", "all", 0, 0, 1, 2, 4);

export const interleaving: fc.Arbitrary<Interleaving> = fc.record({
	steps: fc.array(fc.record({ action, rest }), { minLength: 1, maxLength: 16, size: "max" }),
	finish: fc.constantFrom<Finish>("answer", "answer", "time", "cancel", "end", "end", "gone"),
	greeting: fc.constantFrom("none", "none", "plain", "tools"),
	latency: fc.constantFrom(0, 0, 1, 2),
	failure: fc.option(fc.record({ from: fc.integer({ min: 1, max: 40 }), count: fc.integer({ min: 1, max: 6 }) }), {
		freq: 4,
		nil: null,
	}),
	deadlines: fc.boolean(),
	outboxLimit: fc.constantFrom(262_144, 262_144, 400),
});
