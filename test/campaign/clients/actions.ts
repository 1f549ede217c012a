// What happens in a round, as fast-check generates it.
import fc from "fast-check";
import type { Abilities, CursorChoice, Speed } from "./client.ts";
import type { StageSettings } from "./stage.ts";

export const answerKinds = ["right", "refusal", "wrong-kind", "error", "malformed"] as const;
export type AnswerKind = (typeof answerKinds)[number];

/** `who` and `which` count round what there is. */
export type ClientsAction =
	| { readonly do: "attach"; readonly who: number; readonly cursor: CursorChoice; readonly speed: Speed }
	| { readonly do: "crowd"; readonly count: number; readonly cursor: CursorChoice; readonly speed: Speed }
	| { readonly do: "lose"; readonly who: number }
	| { readonly do: "pace"; readonly who: number; readonly speed: Speed }
	| {
			readonly do: "answer";
			readonly who: number;
			readonly which: number;
			readonly how: AnswerKind;
			readonly isLate: boolean;
	  }
	/** Two clients at the same moment. */
	| { readonly do: "race"; readonly who: number; readonly which: number; readonly how: AnswerKind }
	/** A turn with calls that need approvals, and with a question. */
	| { readonly do: "ask"; readonly who: number; readonly calls: number; readonly isQuestion: boolean }
	| { readonly do: "prompt" | "steer" | "cancel"; readonly who: number }
	| { readonly do: "say" | "think"; readonly pieces: number }
	/** Each piece is an item of its own: as many durable events. */
	| { readonly do: "ramble"; readonly pieces: number }
	| { readonly do: "call"; readonly name: "Touch" | "Look" | "AskUserQuestion"; readonly fragments: number }
	| { readonly do: "done" }
	| { readonly do: "wait"; readonly seconds: number };

export interface ClientsStep {
	readonly action: ClientsAction;
	/** Turns of the event loop afterwards, or until nothing moves. */
	readonly rest: number | "all";
}

export interface ClientsCase {
	readonly settings: StageSettings;
	readonly abilities: readonly Abilities[];
	readonly steps: readonly ClientsStep[];
}

/** Clients of a round. */
export const clientLimit = 50;

const who = fc.nat(clientLimit - 1);
const which = fc.nat(3);
const speed = fc.constantFrom<Speed[]>("never", "slow", "fast", "fast");
const cursor = fc.constantFrom<CursorChoice[]>(
	"none",
	"own",
	"own",
	"own",
	"earlier",
	"first",
	"older-history",
	"beyond",
);
const how = fc.constantFrom<AnswerKind[]>("right", "right", "right", ...answerKinds);

const action: fc.Arbitrary<ClientsAction> = fc.oneof(
	{ weight: 5, arbitrary: fc.record({ do: fc.constant("attach" as const), who, cursor, speed }) },
	{
		weight: 1,
		arbitrary: fc.record({
			do: fc.constant("crowd" as const),
			count: fc.integer({ min: 2, max: clientLimit }),
			cursor,
			speed,
		}),
	},
	{ weight: 3, arbitrary: fc.record({ do: fc.constant("lose" as const), who }) },
	{ weight: 2, arbitrary: fc.record({ do: fc.constant("pace" as const), who, speed }) },
	{ weight: 5, arbitrary: fc.record({ do: fc.constant("answer" as const), who, which, how, isLate: fc.boolean() }) },
	{ weight: 2, arbitrary: fc.record({ do: fc.constant("race" as const), who, which, how }) },
	{ weight: 4, arbitrary: fc.record({ do: fc.constant("prompt" as const), who }) },
	{
		weight: 4,
		arbitrary: fc.record({
			do: fc.constant("ask" as const),
			who,
			calls: fc.integer({ min: 1, max: 3 }),
			isQuestion: fc.boolean(),
		}),
	},
	{ weight: 2, arbitrary: fc.record({ do: fc.constantFrom("steer" as const, "cancel" as const), who }) },
	{
		weight: 4,
		arbitrary: fc.record({
			do: fc.constantFrom("say" as const, "think" as const),
			pieces: fc.integer({ min: 1, max: 6 }),
		}),
	},
	// More than any queue holds.
	{
		weight: 1,
		arbitrary: fc.record({ do: fc.constant("ramble" as const), pieces: fc.integer({ min: 130, max: 400 }) }),
	},
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("say" as const), pieces: fc.integer({ min: 200, max: 600 }) }) },
	{
		weight: 4,
		arbitrary: fc.record({
			do: fc.constant("call" as const),
			name: fc.constantFrom("Touch" as const, "Touch" as const, "Look" as const, "AskUserQuestion" as const),
			fragments: fc.nat(3),
		}),
	},
	{ weight: 4, arbitrary: fc.constant({ do: "done" as const }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), seconds: fc.constantFrom(1, 61) }) },
);

const rest = fc.oneof({ weight: 3, arbitrary: fc.nat(3) }, { weight: 2, arbitrary: fc.constant("all" as const) });

export const clientsCases: fc.Arbitrary<ClientsCase> = fc.record({
	settings: fc.record({
		store: fc.constantFrom("memory" as const, "memory" as const, "memory" as const, "disk" as const),
		latency: fc.constantFrom(0, 0, 1, 3),
		deadline: fc.constantFrom(0, 0, 60),
	}),
	abilities: fc.array(
		fc.record({
			flow: fc.constantFrom("droppable" as const, "droppable" as const, "blocking" as const),
			approves: fc.constantFrom(true, true, true, false),
			answersQuestions: fc.boolean(),
		}),
		{ minLength: 1, maxLength: clientLimit, size: "max" },
	),
	steps: fc.array(fc.record({ action, rest }), { minLength: 1, maxLength: 40, size: "max" }),
});
