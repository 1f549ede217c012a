// What a client, the models and time do to a server of many sessions in one interleaving, and how fast-check makes such lists.
import fc from "fast-check";
import type { Rest } from "../liveness/liveness-actions.ts";

export const answerKinds = ["yes", "for-session", "no", "wrong", "null", "error", "other-id", "no-result"] as const;
export type AnswerKind = (typeof answerKinds)[number];

/** What a model calls for: something that needs an approval, a question, a tool of the client's, and what fails. */
export type CallKind = "write" | "ask" | "paint" | "unknown" | "broken";

/** One answer of a model: words, calls, and how it ends. */
export interface ModelAnswer {
	readonly words: number;
	readonly calls: readonly CallKind[];
	readonly end: "done" | "break" | "refuse" | "lose" | "hang";
}

/** Sessions are meant by the order of their making, counted round; -1 is the last one made. */
export type Action =
	| { readonly do: "create"; readonly deferred: boolean; readonly tools: boolean }
	| { readonly do: "turn"; readonly session: number }
	/** Two turns at once: the second is refused. */
	| { readonly do: "turns"; readonly session: number }
	| { readonly do: "interrupt"; readonly session: number }
	| { readonly do: "archive"; readonly session: number }
	| { readonly do: "read"; readonly session: number }
	| { readonly do: "list" }
	| { readonly do: "model"; readonly session: number; readonly answer: ModelAnswer }
	/** Answers the n-th open request, counted round. */
	| { readonly do: "answer"; readonly which: number; readonly how: AnswerKind }
	/** Answers a request that was answered or settled before. */
	| { readonly do: "answer-late"; readonly which: number; readonly how: AnswerKind }
	| { readonly do: "wait"; readonly seconds: number }
	| { readonly do: "pause" }
	| { readonly do: "resume" };

export interface Step {
	readonly action: Action;
	readonly rest: Rest;
}

/** How everything is brought to its end. */
export type Finish = "answer" | "interrupt" | "archive" | "end" | "gone";

export interface HostedInterleaving {
	readonly steps: readonly Step[];
	readonly finish: Finish;
	/** Whether the client answers approvals and questions. */
	readonly answers: boolean;
	/** Whether the client brings a tool. */
	readonly bringsTool: boolean;
	/** Whether the client speaks the present contract. */
	readonly isContract: boolean;
	/** Sessions that may be loaded at once. */
	readonly places: number;
	/** Turns that may run at once. */
	readonly turns: number;
	/** Seconds; 0 for never. */
	readonly unloadAfter: number;
	/** Turns of the event loop that every answer of a provider's takes to begin. */
	readonly latency: number;
	/** Bytes. */
	readonly outboxLimit: number;
}

const session = fc.integer({ min: 0, max: 5 });
const which = fc.integer({ min: 0, max: 5 });
const how = fc.constantFrom<AnswerKind>(...answerKinds, "yes", "yes", "yes");

const answer: fc.Arbitrary<ModelAnswer> = fc.record({
	words: fc.constantFrom(0, 1, 2, 40, 200),
	calls: fc.array(
		fc.constantFrom<CallKind>("write", "write", "write", "ask", "ask", "paint", "paint", "unknown", "broken"),
		{
			maxLength: 3,
		},
	),
	end: fc.constantFrom<ModelAnswer["end"]>("done", "done", "done", "done", "done", "hang", "break", "refuse", "lose"),
});

const on = (kind: "turn" | "turns" | "interrupt" | "archive" | "read") => fc.record({ do: fc.constant(kind), session });

const action: fc.Arbitrary<Action> = fc.oneof(
	{
		weight: 5,
		arbitrary: fc.record({
			do: fc.constant("create" as const),
			deferred: fc.constantFrom(false, false, true),
			tools: fc.constantFrom(true, true, true, false),
		}),
	},
	{ weight: 5, arbitrary: on("turn") },
	{ weight: 1, arbitrary: on("turns") },
	{ weight: 2, arbitrary: on("interrupt") },
	{ weight: 1, arbitrary: on("archive") },
	{ weight: 1, arbitrary: on("read") },
	{ weight: 1, arbitrary: fc.constant<Action>({ do: "list" }) },
	{ weight: 10, arbitrary: fc.record({ do: fc.constant("model" as const), session, answer }) },
	{ weight: 5, arbitrary: fc.record({ do: fc.constant("answer" as const), which, how }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("answer-late" as const), which, how }) },
	{ weight: 1, arbitrary: fc.constantFrom(1, 10, 40).map((seconds): Action => ({ do: "wait", seconds })) },
	{ weight: 1, arbitrary: fc.constantFrom<Action>({ do: "pause" }, { do: "resume" }, { do: "resume" }) },
);

const rest: fc.Arbitrary<Rest> = fc.constantFrom<Rest>("all", "all", "all", 0, 0, 1, 2, 4);

/** A new session that calls for what it is told to, and the client's first answers. */
const scene: fc.Arbitrary<readonly Step[]> = fc
	.record({
		calls: fc.array(fc.constantFrom<CallKind>("write", "write", "ask", "paint"), { minLength: 1, maxLength: 3 }),
		hows: fc.array(how, { maxLength: 3 }),
		rests: fc.array(rest, { minLength: 5, maxLength: 5 }),
	})
	.map(({ calls, hows, rests }) =>
		[
			{ do: "create" as const, deferred: false, tools: true },
			{ do: "model" as const, session: -1, answer: { words: 1, calls, end: "done" as const } },
			...hows.map((each) => ({ do: "answer" as const, which: 0, how: each })),
		].map((one, index) => ({ action: one, rest: rests[index] ?? "all" })),
	);

/** Steps by chance, and in between whole scenes. */
const steps: fc.Arbitrary<readonly Step[]> = fc
	.array(
		fc.oneof(
			{ weight: 7, arbitrary: fc.record({ action, rest }).map((one): readonly Step[] => [one]) },
			{ weight: 1, arbitrary: scene },
		),
		{ minLength: 1, maxLength: 24, size: "max" },
	)
	.map((parts) => parts.flat());

export const hostedInterleaving: fc.Arbitrary<HostedInterleaving> = fc.record({
	steps,
	finish: fc.constantFrom<Finish>("answer", "answer", "interrupt", "interrupt", "archive", "end", "end", "gone"),
	answers: fc.constantFrom(true, true, true, false),
	bringsTool: fc.constantFrom(true, true, false),
	isContract: fc.constantFrom(false, false, true),
	places: fc.constantFrom(2, 3, 1024),
	turns: fc.constantFrom(2, 64, 64),
	unloadAfter: fc.constantFrom(0, 5, 300),
	latency: fc.constantFrom(0, 0, 1, 3),
	outboxLimit: fc.constantFrom(262_144, 262_144, 400),
});
