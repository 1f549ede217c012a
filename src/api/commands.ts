// The schemas of commands and of their values.
import * as v from "valibot";
import { flag, nullableText, objectOf, optional, type SchemaOf, text, texts } from "./object-schemas.ts";
import type { Command, CommandType, CommandValues } from "./values/command.ts";
import { userInputSchema } from "./values/content.ts";
import {
	conflictChoices,
	fileDiffSchema,
	filePlanSchema,
	recordedChangesSchema,
	restoredFilesSchema,
	rewoundSchema,
} from "./values/file-changes.ts";
import { answerSchema, type InteractionFailure, settledBySchema } from "./values/interaction.ts";
import { sessionModes } from "./values/session-mode.ts";
import { traceParentSchema, turnKeySchema, turnOptionsChangeSchema, turnOptionsSchema } from "./values/turn-options.ts";

type Failure<Kind extends InteractionFailure["kind"]> = Extract<InteractionFailure, { kind: Kind }>;
const failureSchema: SchemaOf<InteractionFailure> = v.union([
	objectOf<Failure<"error-reply">>({ kind: v.literal("error-reply"), message: text }),
	objectOf<Failure<"malformed">>({ kind: v.literal("malformed") }),
]);

type CommandOf<T extends CommandType> = Extract<Command, { type: T }>;
const commandSchemas: { readonly [T in CommandType]: SchemaOf<CommandOf<T>> } = {
	"turn.start": objectOf<CommandOf<"turn.start">>({
		type: v.literal("turn.start"),
		input: userInputSchema,
		isOwn: optional(flag),
		options: optional(turnOptionsSchema),
		key: optional(turnKeySchema),
		takeOver: optional(flag),
		trace: optional(traceParentSchema),
	}),
	"turn.steer": objectOf<CommandOf<"turn.steer">>({ type: v.literal("turn.steer"), input: userInputSchema }),
	"turn.cancel": objectOf<CommandOf<"turn.cancel">>({ type: v.literal("turn.cancel") }),
	"plan-mode.set": objectOf<CommandOf<"plan-mode.set">>({ type: v.literal("plan-mode.set"), enabled: flag }),
	"mode.set": objectOf<CommandOf<"mode.set">>({ type: v.literal("mode.set"), mode: v.picklist(sessionModes) }),
	"model.set": objectOf<CommandOf<"model.set">>({
		type: v.literal("model.set"),
		model: nullableText,
		thinking: v.nullable(flag),
	}),
	"title.set": objectOf<CommandOf<"title.set">>({ type: v.literal("title.set"), title: text }),
	"turn-options.set": objectOf<CommandOf<"turn-options.set">>({
		type: v.literal("turn-options.set"),
		options: turnOptionsChangeSchema,
	}),
	"side-question.start": objectOf<CommandOf<"side-question.start">>({
		type: v.literal("side-question.start"),
		question: text,
	}),
	"context.add": objectOf<CommandOf<"context.add">>({
		type: v.literal("context.add"),
		text,
		name: nullableText,
	}),
	"notification.add": objectOf<CommandOf<"notification.add">>({
		type: v.literal("notification.add"),
		id: text,
		kind: text,
		input: userInputSchema,
		key: nullableText,
	}),
	"side-question.cancel": objectOf<CommandOf<"side-question.cancel">>({
		type: v.literal("side-question.cancel"),
		id: text,
	}),
	"task.stop": objectOf<CommandOf<"task.stop">>({ type: v.literal("task.stop"), id: text }),
	"files.find": objectOf<CommandOf<"files.find">>({ type: v.literal("files.find"), query: text }),
	"files.changes": objectOf<CommandOf<"files.changes">>({ type: v.literal("files.changes"), id: nullableText }),
	"files.diff": objectOf<CommandOf<"files.diff">>({ type: v.literal("files.diff"), id: text, path: text }),
	"files.plan": objectOf<CommandOf<"files.plan">>({ type: v.literal("files.plan"), before: text }),
	"files.restore": objectOf<CommandOf<"files.restore">>({
		type: v.literal("files.restore"),
		before: text,
		conflicts: v.picklist(conflictChoices),
	}),
	"session.rewind": objectOf<CommandOf<"session.rewind">>({
		type: v.literal("session.rewind"),
		before: text,
		files: flag,
		conversation: flag,
		conflicts: v.picklist(conflictChoices),
		dryRun: flag,
	}),
	"interaction.respond": objectOf<CommandOf<"interaction.respond">>({
		type: v.literal("interaction.respond"),
		interactionId: text,
		clientId: optional(text),
		answer: v.union([answerSchema, failureSchema]),
	}),
};

export const commandSchema: SchemaOf<Command> = v.union(Object.values(commandSchemas));

export const commandValueSchemas: { readonly [T in CommandType]: SchemaOf<CommandValues[T]> } = {
	"turn.start": v.object({ turnId: text }),
	"turn.steer": v.null(),
	"turn.cancel": v.null(),
	"plan-mode.set": v.object({ planMode: flag }),
	"mode.set": v.object({ mode: v.picklist(sessionModes) }),
	"turn-options.set": v.null(),
	"model.set": v.object({ alias: nullableText, name: text, provider: text, thinking: flag }),
	"title.set": v.object({ title: text }),
	"side-question.start": v.object({ id: text }),
	"context.add": v.object({ added: flag }),
	"notification.add": v.object({ added: flag, id: text }),
	"side-question.cancel": v.null(),
	"task.stop": v.object({ stopped: flag }),
	"files.find": v.object({ paths: texts, isPartial: flag }),
	"files.changes": v.object({ turns: v.array(recordedChangesSchema) }),
	"files.diff": fileDiffSchema,
	"files.plan": filePlanSchema,
	"files.restore": restoredFilesSchema,
	"session.rewind": rewoundSchema,
	"interaction.respond": v.object({ settled: flag, by: v.nullable(settledBySchema) }),
};
