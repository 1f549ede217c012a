// What a session does on request, one row per command: `SessionApi.send` takes the params of a row and returns its value, in
// this process and over a connection alike.
import * as v from "valibot";
import { amount, flag, nullableText, optional, type SchemaOf, text, texts } from "./object-schemas.ts";
import { mcpServersChangeSchema } from "./options.ts";
import { descriptionSchema, modelChoiceSchema, taskSchema } from "./schemas.ts";
import type { ExternalEvent } from "./session-state.ts";
import { userInputSchema } from "./values/content.ts";
import {
	conflictChoices,
	fileDiffSchema,
	filePlanSchema,
	recordedChangesSchema,
	restoredFilesSchema,
	rewoundSchema,
} from "./values/file-changes.ts";
import { answerSchema, settledBySchema } from "./values/interaction.ts";
import { sessionModes } from "./values/session-mode.ts";
import { traceParentSchema, turnKeySchema, turnOptionsChangeSchema, turnOptionsSchema } from "./values/turn-options.ts";

type Given<P extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<P, undefined>>;

interface Row<P extends v.ObjectEntries, V> {
	readonly params: P;
	readonly value: SchemaOf<V>;
	/** Whether it may be sent again when it is not known to have arrived. */
	readonly mayRepeat: (given: Given<P>) => boolean;
}

function row<P extends v.ObjectEntries, V>(
	params: P,
	value: SchemaOf<V>,
	mayRepeat: (given: Given<P>) => boolean = always,
): Row<P, V> {
	return { params, value, mayRepeat };
}

const always = () => true;
const never = () => false;
const nothing = v.null();
const list = <T>(item: SchemaOf<T>): SchemaOf<readonly T[]> => v.array(item);
const mode = v.picklist(sessionModes);
const conflicts = v.picklist(conflictChoices);
const failures = [
	v.object({ kind: v.literal("error-reply"), message: text }),
	v.object({ kind: v.literal("malformed") }),
] as const;

const rows = {
	/**
	 * Starts a turn; the value names it, `turn.ended` reports its end. Fails `busy` when one runs. An input that the program
	 * itself wrote (`isOwn`) is not shown to prompt hooks. With a `key` the value comes once the beginning of the turn is stored,
	 * and the same key gives the same turn again, also in a later process: see `turnKeyLimit`. Fails `invalid-input` for another
	 * input under a known key. `takeOver` ends a turn of this session that runs in another process; without it the command fails
	 * `busy` and names that process.
	 */
	"turn.start": row(
		{
			input: userInputSchema,
			isOwn: optional(flag),
			options: optional(turnOptionsSchema),
			key: optional(turnKeySchema),
			takeOver: optional(flag),
			trace: optional(traceParentSchema),
		},
		v.object({ turnId: text }),
		({ key }) => key !== undefined,
	),
	/** Adds input to the running turn. Fails `no-turn` when idle. */
	"turn.steer": row({ input: userInputSchema }, nothing, never),
	/** Cancels the running turn. Fails `no-turn` when idle; the effects follow later. */
	"turn.cancel": row({}, nothing, never),
	/**
	 * Changes the default options of later turns, stored with the session. Only the given ones change; null removes one. A turn's
	 * own options win.
	 */
	"turn-options.set": row({ options: turnOptionsChangeSchema }, nothing),
	/** Switches plan mode, at any time. The new state is emitted even if nothing changed. */
	"plan-mode.set": row({ enabled: flag }, v.object({ planMode: flag })),
	/**
	 * Sets plan mode, yolo and afk to match this mode, at any time. Fails `invalid-input` if settings forbid the mode,
	 * `unsupported` for plan mode if the agent has no tools for it.
	 */
	"mode.set": row({ mode }, v.object({ mode })),
	/**
	 * Sets the model (by alias) and whether it thinks, for the next turns; null keeps the current value. Fails `model-not-set` if
	 * the model cannot be used, `invalid-input` if the model does not allow this thinking setting.
	 */
	"model.set": row({ model: nullableText, thinking: v.nullable(flag) }, modelChoiceSchema),
	/**
	 * Sets the session's title, a single line that later inputs do not replace; the value is the title as stored. Fails
	 * `invalid-input` if it has no visible character or more than 200 characters.
	 */
	"title.set": row({ title: text }, v.object({ title: text })),
	/**
	 * Asks a side question during a running turn; `side-question.ended` reports the answer. As a prompt, `/btw …`, it gets its
	 * own turn.
	 */
	"side-question.start": row({ question: text }, v.object({ id: text }), never),
	/** Stops answering a side question; only its end still follows. An unknown id changes nothing. */
	"side-question.cancel": row({ id: text }, nothing),
	/**
	 * Adds a system message to the context between turns; the model sees it in the next one. Idempotent per name: the same text
	 * again changes nothing, another text fails `invalid-input`. Fails `busy` while a turn runs.
	 */
	"context.add": row({ text, name: nullableText }, v.object({ added: flag }), ({ name }) => name !== null),
	/**
	 * Notifies the model of an outside event at its next step, in this turn or the next. A client that runs such events as turns
	 * passes them in `TurnOptions.events` instead. The client chooses `id`; `kind` is a word or two for what happened, such as
	 * `build.done`. Media of the input is dropped if the model reads it as a notice at a step. Stored once per key, like
	 * `context.add`; the value has the id that it was stored under. Fails `overloaded` when too many are waiting.
	 */
	"notification.add": row(
		{ id: text, kind: text, input: userInputSchema, key: nullableText },
		v.object({ added: flag, id: text }),
		({ key }) => key !== null,
	),
	/** Outside events that the model has not received yet, oldest first. */
	"notification.list": row({}, list<ExternalEvent>(v.object({ id: text, kind: text, input: userInputSchema }))),
	/**
	 * Background tasks that are running, or whose end was not reported yet, oldest first; and whether notifications of background
	 * work wait for the model.
	 */
	"tasks.list": row({}, v.object({ tasks: list(taskSchema), hasNews: flag })),
	/** Requests the end of a background task; the value says whether it was still running. Fails `invalid-input` for an unknown id. */
	"task.stop": row({ id: text }, v.object({ stopped: flag })),
	/** Ends all background tasks, including those that may outlive the session. */
	"tasks.end": row({}, nothing),
	/** Waits at most these seconds until one of these background tasks has ended; the value says whether one has. */
	"tasks.wait": row({ ids: texts, seconds: amount }, v.object({ ended: flag })),
	/**
	 * Completes a partial path that a person types. The paths are relative to the work directory, best match first, limited in
	 * number; directories end with a slash. Files that models may not read are left out.
	 */
	"files.find": row({ query: text }, v.object({ paths: list(text), isPartial: flag })),
	/** File changes of turns and restores, oldest first; with an id only that one. Fails `unsupported` without a history. */
	"files.changes": row({ id: nullableText }, v.object({ turns: list(recordedChangesSchema) })),
	/** The lines that a turn or restore changed in a file. */
	"files.diff": row({ id: text, path: text }, fileDiffSchema),
	/** A preview of restoring the files to their state before a turn or restore. */
	"files.plan": row({ before: text }, filePlanSchema),
	/** Carries out that plan. Fails `busy` while a turn runs. */
	"files.restore": row({ before: text, conflicts }, restoredFilesSchema, never),
	/**
	 * Rewinds to before a turn: files, conversation or both. Fails `busy` while a turn runs, `invalid-input` if that part of the
	 * conversation was compacted. If conflicts are set to stop it, nothing changes.
	 */
	"session.rewind": row(
		{ before: text, files: flag, conversation: flag, conflicts, dryRun: flag },
		rewoundSchema,
		never,
	),
	/** What does not change while the session is loaded. */
	"session.describe": row({}, descriptionSchema),
	/** Stores the session even if nothing has happened in it yet, so that later processes find it. */
	"session.establish": row({}, nothing),
	/**
	 * Changes the session's MCP servers from its next turn on, until it is unloaded; a process that continues it does not know
	 * them, since they may contain keys. Fails `invalid-input` for an unknown server to reload, and for too many servers.
	 */
	"mcp-servers.change": row({ change: mcpServersChangeSchema }, nothing),
	/**
	 * Settles an interaction; unknown and settled ids change nothing. `clientId` is the answering client's name from its
	 * attachment. The value says whether this answer settled it, and who did, if known.
	 */
	"interaction.respond": row(
		{ interactionId: text, clientId: optional(text), answer: v.union([answerSchema, ...failures]) },
		v.object({ settled: flag, by: v.nullable(settledBySchema) }),
	),
};

type Rows = typeof rows;
export type CommandType = keyof Rows;
export type Command = {
	readonly [T in CommandType]: { readonly type: T } & Given<Rows[T]["params"]>;
}[CommandType];
export type CommandOf<T extends CommandType> = Extract<Command, { type: T }>;
export type CommandValues = { readonly [T in CommandType]: v.InferOutput<Rows[T]["value"]> };

export const commands: {
	readonly [T in CommandType]: {
		readonly value: SchemaOf<CommandValues[T]>;
		readonly mayRepeat: (command: CommandOf<T>) => boolean;
	};
} = rows;

const variants: unknown = v.variant(
	"type",
	Object.entries(rows).map(([type, { params }]) => v.object({ type: v.literal(type), ...params })),
);
// One variant per row; the compiler cannot reassemble the union.
export const commandSchema = variants as SchemaOf<Command>;
