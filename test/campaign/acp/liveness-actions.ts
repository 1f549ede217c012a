// What an editor and the models do to a server of the Agent Client Protocol in one interleaving, and how fast-check makes such
// lists.
import fc from "fast-check";
import * as hosted from "../frame/hosted-liveness.ts";
import type { CommonAction } from "../frame/liveness.ts";

export const answerKinds = ["yes", "always", "no", "cancelled", "wrong", "null", "error", "other-id"] as const;
export type AnswerKind = (typeof answerKinds)[number];

/** What a model calls for: something that needs a permission, reading, a question, a plan, and what fails. */
export type CallKind = "write" | "read" | "ask" | "todo" | "unknown" | "broken";

export type ModelAnswer = hosted.ModelAnswer<CallKind>;

/** What a prompt says: words for the model, or a command. */
export type PromptKind = "plain" | "question" | "compact" | "unknown-command";

export const modeIds = ["default", "plan", "auto", "yolo", "nothing"] as const;

/** Sessions are meant by the order in which the editor learned of them; -1 is the last. */
export type AcpAction =
	| { readonly do: "new" }
	| { readonly do: "prompt"; readonly session: number; readonly kind: PromptKind; readonly times: 1 | 2 }
	| { readonly do: "cancel" | "close" | "load" | "resume" | "delete" | "steer"; readonly session: number }
	/** Withdraws the n-th request without a response, counted round. */
	| { readonly do: "withdraw"; readonly which: number }
	| { readonly do: "mode"; readonly session: number; readonly mode: (typeof modeIds)[number] }
	| { readonly do: "option"; readonly session: number; readonly option: string; readonly value: string }
	| { readonly do: "list" }
	/** A notification about a session that there is not. */
	| { readonly do: "cancel-unknown" }
	| { readonly do: "model"; readonly session: number; readonly answer: ModelAnswer };

export interface AcpSettings extends hosted.HostLimits {
	/** Whether the editor shows forms. */
	readonly forms: boolean;
	/** Whether the editor has the files. */
	readonly files: boolean;
}

const session = fc.integer({ min: 0, max: 5 });
const how = fc.constantFrom<AnswerKind>(...answerKinds, "yes", "yes", "yes");

const answer = hosted.modelAnswers<CallKind>(
	...(["write", "write", "write", "read", "ask", "ask", "todo", "unknown", "broken"] as const),
);

const prompt = fc.record({
	do: fc.constant("prompt"),
	session,
	kind: fc.constantFrom<PromptKind>(
		...(["plain", "plain", "plain", "plain", "question", "compact", "unknown-command"] as const),
	),
	times: fc.constantFrom<1 | 2>(1, 1, 1, 2),
});
const on = (kind: "cancel" | "close" | "load" | "resume" | "delete" | "steer") =>
	fc.record({ do: fc.constant(kind), session });

export const acpActions: readonly fc.WeightedArbitrary<AcpAction>[] = [
	{ weight: 5, arbitrary: fc.constant({ do: "new" }) },
	{ weight: 7, arbitrary: prompt },
	{ weight: 2, arbitrary: on("cancel") },
	{ weight: 1, arbitrary: on("close") },
	{ weight: 2, arbitrary: on("load") },
	{ weight: 1, arbitrary: on("resume") },
	{ weight: 1, arbitrary: on("delete") },
	{ weight: 1, arbitrary: on("steer") },
	{ weight: 2, arbitrary: fc.record({ do: fc.constant("withdraw"), which: fc.nat({ max: 5 }) }) },
	{ weight: 2, arbitrary: fc.record({ do: fc.constant("mode"), session, mode: fc.constantFrom(...modeIds) }) },
	{
		weight: 1,
		arbitrary: fc.record({
			do: fc.constant("option"),
			session,
			option: fc.constantFrom("mode", "thinking", "nothing"),
			value: fc.constantFrom("plan", "default", "on"),
		}),
	},
	{ weight: 1, arbitrary: fc.constant({ do: "list" }) },
	{ weight: 1, arbitrary: fc.constant({ do: "cancel-unknown" }) },
	{ weight: 10, arbitrary: fc.record({ do: fc.constant("model"), session, answer }) },
];

/** A prompt whose model calls for something, and the editor's first answers. */
export const acpScenes: fc.Arbitrary<readonly (AcpAction | CommonAction<AnswerKind>)[]> = fc
	.record({
		calls: fc.array(fc.constantFrom<CallKind>("write", "write", "ask", "read"), { minLength: 1, maxLength: 3 }),
		hows: fc.array(how, { maxLength: 3 }),
		end: fc.constantFrom<AcpAction["do"] | null>("cancel", "load", "close", "withdraw", null, null),
	})
	.map(({ calls, hows, end }) => [
		{ do: "new" },
		{ do: "model", session: -1, answer: { words: 1, calls, end: "done" } },
		{ do: "prompt", session: -1, kind: "plain", times: 1 },
		...hows.map((each) => ({ do: "answer" as const, which: 0, how: each })),
		...(end === "cancel" || end === "load" || end === "close" ? [{ do: end, session: -1 }] : []),
		...(end === "withdraw" ? [{ do: end, which: 0 }] : []),
	]);

export const acpSettings: fc.Arbitrary<AcpSettings> = fc.record({
	forms: fc.boolean(),
	files: fc.boolean(),
	...hosted.hostLimits,
});
