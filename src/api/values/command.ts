// Commands: what a client requests of a session through the kernel API.
import type { UserInput } from "./content.ts";
import type { EventBodyOf } from "./event.ts";
import type { ConflictChoice, FileDiff, FilePlan, RecordedChanges, RestoredFiles, Rewound } from "./file-changes.ts";
import type { Answer, InteractionFailure, SettledBy } from "./interaction.ts";
import type { SessionMode } from "./session-mode.ts";
import type { TurnOptions, TurnOptionsChange } from "./turn-options.ts";

export type Command =
	/**
	 * Starts a turn; the value names it, `turn.ended` reports its end. Fails `busy` when one runs. An input that the
	 * program itself wrote (`isOwn`) is not shown to prompt hooks. With a `key` the value comes once the beginning of the
	 * turn is stored, and the same key gives the same turn again, also in a later process: see `turnKeyLimit`. Fails
	 * `invalid-input` for another input under a known key.
	 */
	| {
			readonly type: "turn.start";
			readonly input: UserInput;
			readonly isOwn?: boolean;
			readonly options?: TurnOptions;
			readonly key?: string;
			/** Ends a turn of the session that runs in another process. Without it the command fails `busy` and names that process. */
			readonly takeOver?: boolean;
			readonly trace?: string;
	  }
	/** Adds input to the running turn. Fails `no-turn` when idle. */
	| { readonly type: "turn.steer"; readonly input: UserInput }
	/** Cancels the running turn. Fails `no-turn` when idle; the effects follow later. */
	| { readonly type: "turn.cancel" }
	/** Switches plan mode, at any time; the new state is emitted even when nothing changed. */
	| { readonly type: "plan-mode.set"; readonly enabled: boolean }
	/**
	 * Sets plan mode, yolo and afk so that this is the mode, at any time. Fails `invalid-input` for a mode that settings
	 * forbid, `unsupported` for plan mode where the agent has no tools for it.
	 */
	| { readonly type: "mode.set"; readonly mode: SessionMode }
	/**
	 * Chooses the model of the next turns, by its alias, and whether it thinks; null leaves that as it is. Fails
	 * `model-not-set` for a model that cannot be used, `invalid-input` for thinking that the model does not leave open.
	 */
	| { readonly type: "model.set"; readonly model: string | null; readonly thinking: boolean | null }
	/**
	 * Gives the session a title, on one line: it stays, whatever the first input is. Fails `invalid-input` for one without
	 * a character to be seen, or of more than 200.
	 */
	| { readonly type: "title.set"; readonly title: string }
	/**
	 * Changes the options that each later turn has which does not have them itself: those that are given, and they stay
	 * with the session. Null takes one away.
	 */
	| { readonly type: "turn-options.set"; readonly options: TurnOptionsChange }
	/**
	 * Asks a side question outside turns, for a client whose turn runs; `side-question.ended` reports the answer. As a
	 * prompt, `/btw …`, it has a turn of its own.
	 */
	| { readonly type: "side-question.start"; readonly question: string }
	/**
	 * Adds a message of the system to the context, between turns; the model sees it in the next one. What was added under
	 * a name is added once: the same again changes nothing, another text fails `invalid-input`. Fails `busy` while a turn
	 * runs.
	 */
	| { readonly type: "context.add"; readonly text: string; readonly name: string | null }
	/**
	 * Notifies the model of an outside event at its next step, in this turn or the next one. A client that runs such events
	 * as turns takes them with `TurnOptions.events` instead. Stored once per key, like `context.add`. Fails `overloaded`
	 * when too many are waiting.
	 */
	| {
			readonly type: "notification.add";
			/** Chosen by the client. */
			readonly id: string;
			/** A word or two for what happened, such as `build.done`. */
			readonly kind: string;
			/** Of an input with media, a notice at a step has the text. */
			readonly input: UserInput;
			readonly key: string | null;
	  }
	/** Stops answering a side question, of which only its end is then to come. An id that is not open changes nothing. */
	| { readonly type: "side-question.cancel"; readonly id: string }
	/** Requests the end of a background task. Fails `invalid-input` when there is none of this id. */
	| { readonly type: "task.stop"; readonly id: string }
	/** Finds files of the work directory for a person who types a part of a path. */
	| { readonly type: "files.find"; readonly query: string }
	/** What the turns and restores changed, oldest first; with an id only that one. Fails `unsupported` without a history. */
	| { readonly type: "files.changes"; readonly id: string | null }
	/** The lines that one turn or restore changed in a file. */
	| { readonly type: "files.diff"; readonly id: string; readonly path: string }
	/** What putting files back as they were before a turn or a restore would do. */
	| { readonly type: "files.plan"; readonly before: string }
	/** Does it. Fails `busy` while a turn runs. */
	| { readonly type: "files.restore"; readonly before: string; readonly conflicts: ConflictChoice }
	/**
	 * Goes back to before a turn: its files, its conversation or both. Fails `busy` while a turn runs, `invalid-input` where the
	 * conversation of that time was compacted. With conflicts that are to stop it, nothing is done.
	 */
	| {
			readonly type: "session.rewind";
			readonly before: string;
			readonly files: boolean;
			readonly conversation: boolean;
			readonly conflicts: ConflictChoice;
			readonly dryRun: boolean;
	  }
	/** Settles an interaction. An unknown or settled id changes nothing. */
	| {
			readonly type: "interaction.respond";
			readonly interactionId: string;
			/** The client that answers, as its attachment names it; absent for none. */
			readonly clientId?: string;
			readonly answer: Answer | InteractionFailure;
	  };

export type CommandType = Command["type"];

/** The value of each command once accepted. */
export interface CommandValues {
	"turn.start": { readonly turnId: string };
	"turn.steer": null;
	"turn.cancel": null;
	"turn-options.set": null;
	"side-question.start": { readonly id: string };
	"side-question.cancel": null;
	"plan-mode.set": { readonly planMode: boolean };
	"mode.set": { readonly mode: SessionMode };
	"model.set": EventBodyOf<"model.changed">["model"];
	/** As it is stored. */
	"title.set": { readonly title: string };
	/** False for what was there already. */
	"context.add": { readonly added: boolean };
	/** The same, and the id under which it was added. */
	"notification.add": { readonly added: boolean; readonly id: string };
	/** Whether it ran until then. */
	"task.stop": { readonly stopped: boolean };
	/**
	 * Relative to the work directory, the best first, of a bounded number; directories end with a slash. Files that no model may
	 * read are left out.
	 */
	"files.find": { readonly paths: readonly string[]; readonly isPartial: boolean };
	"files.changes": { readonly turns: readonly RecordedChanges[] };
	"files.diff": FileDiff;
	"files.plan": FilePlan;
	"files.restore": RestoredFiles;
	"session.rewind": Rewound;
	/** Whether this answer settled the interaction, and who settled it, as far as that is known. */
	"interaction.respond": { readonly settled: boolean; readonly by: SettledBy | null };
}
