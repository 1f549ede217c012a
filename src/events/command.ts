// Commands: what a client asks of a session through the one door.

import type { UserInput } from "./content.ts";
import type { Answer, InteractionFailure } from "./interaction.ts";

export type Command =
	/**
	 * Starts a turn; the value names it, its end is told by `turn.ended`. Fails `busy` when one runs. An input that is the
	 * program's own and no person's (`isOwn`) is not shown to hooks of prompts.
	 */
	| { readonly type: "turn.start"; readonly input: UserInput; readonly isOwn?: boolean }
	/** Adds input to the running turn. Fails `no-turn` when idle. */
	| { readonly type: "turn.steer"; readonly input: UserInput }
	/** Stops the running turn. Fails `no-turn` when idle; what it causes follows later. */
	| { readonly type: "turn.cancel" }
	/** Switches plan mode, at any time; the new state is told even when nothing changed. */
	| { readonly type: "plan-mode.set"; readonly enabled: boolean }
	/**
	 * Asks something beside the conversation and outside turns, for a client whose turn runs; its answer is told by
	 * `side-question.ended`. As a prompt, `/btw …`, it has a turn of its own.
	 */
	| { readonly type: "side-question.start"; readonly question: string }
	/** Settles an ask. An unknown or settled id changes nothing. */
	| {
			readonly type: "interaction.respond";
			readonly interactionId: string;
			readonly answer: Answer | InteractionFailure;
	  };

export type CommandType = Command["type"];

/** What each command gives back once accepted. */
export interface CommandValues {
	"turn.start": { readonly turnId: string };
	"turn.steer": null;
	"turn.cancel": null;
	"side-question.start": { readonly id: string };
	"plan-mode.set": { readonly planMode: boolean };
	/** Whether the answer was the one that settled the ask. */
	"interaction.respond": { readonly settled: boolean };
}
