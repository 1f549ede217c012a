// Commands: a client's requests to a session through the kernel API.
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
			/**
			 * Ends a turn of this session that runs in another process. Without it, the command fails `busy` and names that process.
			 */
			readonly takeOver?: boolean;
			readonly trace?: string;
	  }
	/** Adds input to the running turn. Fails `no-turn` when idle. */
	| { readonly type: "turn.steer"; readonly input: UserInput }
	/** Cancels the running turn. Fails `no-turn` when idle; the effects follow later. */
	| { readonly type: "turn.cancel" }
	/** Switches plan mode, at any time. The new state is emitted even if nothing changed. */
	| { readonly type: "plan-mode.set"; readonly enabled: boolean }
	/**
	 * Sets plan mode, yolo and afk to match this mode, at any time. Fails `invalid-input` if settings forbid the mode,
	 * `unsupported` for plan mode if the agent has no tools for it.
	 */
	| { readonly type: "mode.set"; readonly mode: SessionMode }
	/**
	 * Sets the model (by alias) and whether it thinks, for the next turns; null keeps the current value. Fails `model-not-set`
	 * if the model cannot be used, `invalid-input` if the model does not allow this thinking setting.
	 */
	| { readonly type: "model.set"; readonly model: string | null; readonly thinking: boolean | null }
	/**
	 * Sets the session's title, a single line that later inputs do not replace. Fails `invalid-input` if it has no visible
	 * character or more than 200 characters.
	 */
	| { readonly type: "title.set"; readonly title: string }
	/**
	 * Changes the default options of later turns, stored with the session. Only the given ones change; null removes one. A
	 * turn's own options win.
	 */
	| { readonly type: "turn-options.set"; readonly options: TurnOptionsChange }
	/**
	 * Asks a side question beside a running turn; `side-question.ended` reports the answer. As a prompt, `/btw …`, it gets a
	 * turn of its own.
	 */
	| { readonly type: "side-question.start"; readonly question: string }
	/**
	 * Adds a system message to the context between turns; the model sees it in the next one. Idempotent per name: the same text
	 * again changes nothing, another text fails `invalid-input`. Fails `busy` while a turn runs.
	 */
	| { readonly type: "context.add"; readonly text: string; readonly name: string | null }
	/**
	 * Notifies the model of an outside event at its next step, in this turn or the next. A client that runs such events as turns
	 * passes them in `TurnOptions.events` instead. Stored once per key, like `context.add`. Fails `overloaded` when too many are
	 * waiting.
	 */
	| {
			readonly type: "notification.add";
			/** Chosen by the client. */
			readonly id: string;
			/** A word or two for what happened, such as `build.done`. */
			readonly kind: string;
			/** Media is dropped if the model reads it as a notice at a step. */
			readonly input: UserInput;
			readonly key: string | null;
	  }
	/** Stops answering a side question; only its end still follows. An unknown id changes nothing. */
	| { readonly type: "side-question.cancel"; readonly id: string }
	/** Requests the end of a background task. Fails `invalid-input` for an unknown id. */
	| { readonly type: "task.stop"; readonly id: string }
	/** Completes a partial path that a person types. */
	| { readonly type: "files.find"; readonly query: string }
	/** File changes of turns and restores, oldest first; with an id only that one. Fails `unsupported` without a history. */
	| { readonly type: "files.changes"; readonly id: string | null }
	/** The lines that a turn or restore changed in a file. */
	| { readonly type: "files.diff"; readonly id: string; readonly path: string }
	/** What restoring the files to their state before a turn or restore would do. */
	| { readonly type: "files.plan"; readonly before: string }
	/** Carries out that plan. Fails `busy` while a turn runs. */
	| { readonly type: "files.restore"; readonly before: string; readonly conflicts: ConflictChoice }
	/**
	 * Goes back to before a turn: files, conversation or both. Fails `busy` while a turn runs, `invalid-input` if that part of
	 * the conversation was compacted. If conflicts are set to stop it, nothing changes.
	 */
	| {
			readonly type: "session.rewind";
			readonly before: string;
			readonly files: boolean;
			readonly conversation: boolean;
			readonly conflicts: ConflictChoice;
			readonly dryRun: boolean;
	  }
	/** Settles an interaction. Unknown and settled ids change nothing. */
	| {
			readonly type: "interaction.respond";
			readonly interactionId: string;
			/** The answering client's name from its attachment. */
			readonly clientId?: string;
			readonly answer: Answer | InteractionFailure;
	  };

export type CommandType = Command["type"];

/** The value that each accepted command returns. */
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
	/** As stored. */
	"title.set": { readonly title: string };
	/** False if it was already there. */
	"context.add": { readonly added: boolean };
	/** The same, with the id it was added under. */
	"notification.add": { readonly added: boolean; readonly id: string };
	/** Whether it was still running. */
	"task.stop": { readonly stopped: boolean };
	/**
	 * Relative to the work directory, best match first, limited in number; directories end with a slash. Files that models may
	 * not read are left out.
	 */
	"files.find": { readonly paths: readonly string[]; readonly isPartial: boolean };
	"files.changes": { readonly turns: readonly RecordedChanges[] };
	"files.diff": FileDiff;
	"files.plan": FilePlan;
	"files.restore": RestoredFiles;
	"session.rewind": Rewound;
	/** Whether this answer settled the interaction, and who did, if known. */
	"interaction.respond": { readonly settled: boolean; readonly by: SettledBy | null };
}
