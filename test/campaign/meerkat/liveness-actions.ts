// What a client of Meerkat RPC and the models do to a server of many sessions in one interleaving, and how fast-check makes
// such lists.
import fc from "fast-check";
import * as hosted from "../frame/hosted-liveness.ts";
import type { CommonAction } from "../frame/liveness.ts";

export const answerKinds = ["yes", "for-session", "no", "wrong", "null", "error", "other-id", "no-result"] as const;
export type AnswerKind = (typeof answerKinds)[number];

/** What a model calls for: something that needs an approval, a question, a tool of the client's, and what fails. */
export type CallKind = "write" | "ask" | "paint" | "unknown" | "broken";

export type ModelAnswer = hosted.ModelAnswer<CallKind>;

/** What a client of Meerkat RPC and the models do. Sessions are meant by the order of their creation; -1 is the last. */
export type HostedAction =
	| { readonly do: "create"; readonly deferred: boolean; readonly tools: boolean }
	| { readonly do: "turn"; readonly session: number }
	/** Two turns at once: the second is refused. */
	| { readonly do: "turns"; readonly session: number }
	| { readonly do: "interrupt"; readonly session: number }
	| { readonly do: "archive"; readonly session: number }
	| { readonly do: "read"; readonly session: number }
	| { readonly do: "list" }
	| { readonly do: "model"; readonly session: number; readonly answer: ModelAnswer };

export interface HostedSettings extends hosted.HostLimits {
	/** Whether the client answers approvals and questions. */
	readonly answers: boolean;
	/** Whether the client brings a tool. */
	readonly bringsTool: boolean;
	/** Whether the client speaks the present contract. */
	readonly isContract: boolean;
}

const session = fc.integer({ min: 0, max: 5 });
const how = fc.constantFrom<AnswerKind>(...answerKinds, "yes", "yes", "yes");

const answer = hosted.modelAnswers<CallKind>(
	...(["write", "write", "write", "ask", "ask", "paint", "paint", "unknown", "broken"] as const),
);

const on = (kind: "turn" | "turns" | "interrupt" | "archive" | "read") => fc.record({ do: fc.constant(kind), session });

export const hostedActions: readonly fc.WeightedArbitrary<HostedAction>[] = [
	{
		weight: 5,
		arbitrary: fc.record({
			do: fc.constant("create"),
			deferred: fc.constantFrom(false, false, true),
			tools: fc.constantFrom(true, true, true, false),
		}),
	},
	{ weight: 5, arbitrary: on("turn") },
	{ weight: 1, arbitrary: on("turns") },
	{ weight: 2, arbitrary: on("interrupt") },
	{ weight: 1, arbitrary: on("archive") },
	{ weight: 1, arbitrary: on("read") },
	{ weight: 1, arbitrary: fc.constant({ do: "list" }) },
	{ weight: 10, arbitrary: fc.record({ do: fc.constant("model"), session, answer }) },
];

/** A new session whose model calls for something, and the client's first answers. */
export const hostedScenes: fc.Arbitrary<readonly (HostedAction | CommonAction<AnswerKind>)[]> = fc
	.record({
		calls: fc.array(fc.constantFrom<CallKind>("write", "write", "ask", "paint"), { minLength: 1, maxLength: 3 }),
		hows: fc.array(how, { maxLength: 3 }),
	})
	.map(({ calls, hows }) => [
		{ do: "create", deferred: false, tools: true },
		{ do: "model", session: -1, answer: { words: 1, calls, end: "done" } },
		...hows.map((each) => ({ do: "answer" as const, which: 0, how: each })),
	]);

export const hostedSettings: fc.Arbitrary<HostedSettings> = fc.record({
	answers: fc.constantFrom(true, true, true, false),
	bringsTool: fc.constantFrom(true, true, false),
	isContract: fc.constantFrom(false, false, true),
	...hosted.hostLimits,
});
