// What changes a session in memory, and the record of each change in a store of the embedding program.
import * as v from "valibot";
import type { ContextChange } from "../../../api/values/conversation.ts";
import type { AgentEvent } from "../../../api/values/event.ts";
import { KernelError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/json.ts";
import { wholeText } from "../../../base/text/long-text.ts";
import { fromLine, toLine } from "../context-row.ts";
import { fromDelivery, fromEvent, toDeliveryText, toEventText } from "../disk/background/notification-files.ts";
import {
	fromControlFile,
	fromRuntimeFile,
	fromSpecFile,
	toControlFile,
	toRuntimeFile,
	toSpecFile,
} from "../disk/background/task-shapes.ts";
import { parseLine } from "../disk/logs/json-lines.ts";
import { count, fromEventRecord, fromStateRecord, type RecordOrigin, toEventRecord } from "../record.ts";
import type { AgentDescription, SessionState } from "../session-store.ts";
import type { StoredNotification, TaskControl, TaskRuntime, TaskSpec } from "../stored-tasks.ts";

export type SessionChange =
	| {
			readonly type: "commit";
			readonly at: number;
			readonly events: readonly AgentEvent[];
			readonly context: ContextChange | null;
			readonly state: Partial<SessionState>;
	  }
	| { readonly type: "established" }
	| { readonly type: "agent"; readonly description: AgentDescription; readonly context: ContextChange }
	| {
			readonly type: "task";
			readonly spec: TaskSpec;
			readonly runtime: TaskRuntime;
			readonly control: TaskControl;
			readonly output: string;
	  }
	| { readonly type: "task-removed"; readonly id: string }
	| { readonly type: "notification"; readonly stored: StoredNotification };

const contextSchema = v.object({ kind: v.picklist(["append", "replace"]), rows: v.array(v.unknown()) });
const headSchema = v.object({
	type: v.literal("session"),
	version: v.literal(1),
	workDir: v.string(),
	epoch: v.string(),
});
const changeSchema = v.variant("type", [
	v.object({
		type: v.literal("commit"),
		at: v.number(),
		events: v.array(v.unknown()),
		context: v.nullable(contextSchema),
		state: v.unknown(),
	}),
	v.object({ type: v.literal("established") }),
	v.object({
		type: v.literal("agent"),
		description: v.object({
			id: v.string(),
			type: v.string(),
			description: v.string(),
			createdAt: count,
			modelOverride: v.nullable(v.string()),
			effectiveModel: v.nullable(v.string()),
		}),
		context: contextSchema,
	}),
	v.object({
		type: v.literal("task"),
		spec: v.unknown(),
		runtime: v.unknown(),
		control: v.unknown(),
		output: v.string(),
	}),
	v.object({ type: v.literal("task-removed"), id: v.string() }),
	v.object({ type: v.literal("notification"), event: v.unknown(), delivery: v.unknown() }),
]);

export type SessionHead = Pick<v.InferOutput<typeof headSchema>, "workDir" | "epoch">;

export function toHeadRecord({ workDir, epoch }: SessionHead): string {
	return JSON.stringify({ type: "session", version: 1, workDir, epoch });
}

export function fromHeadRecord(record: string, id: string): SessionHead {
	const parsed = v.safeParse(headSchema, parseLine(record));
	return parsed.success ? parsed.output : unreadable(id);
}

export function toChangeRecord(change: SessionChange): string {
	switch (change.type) {
		case "commit": {
			const context = change.context === null ? null : toContext(change.context);
			return JSON.stringify({ ...change, events: change.events.map(toEventRecord), context });
		}
		case "agent":
			return JSON.stringify({ ...change, context: toContext(change.context) });
		case "task": {
			const { spec, runtime, control, ...plain } = change;
			const parts = { spec: toSpecFile(spec), runtime: toRuntimeFile(runtime), control: toControlFile(control) };
			return JSON.stringify({ ...plain, ...parts });
		}
		case "notification": {
			const { notification, delivery } = change.stored;
			return `{"type":"notification","event":${toEventText(notification)},"delivery":${toDeliveryText(delivery)}}`;
		}
		case "established":
		case "task-removed":
			return JSON.stringify(change);
	}
}

/** Fails `storage-failed` for anything that `toChangeRecord` does not write. */
export function fromChangeRecord(record: string, origin: RecordOrigin): SessionChange {
	const parsed = v.safeParse(changeSchema, parseLine(record));
	if (!parsed.success) return unreadable(origin.sessionId);
	const need = <T>(value: T | null): T => value ?? unreadable(origin.sessionId);
	const toChange = ({ kind, rows }: v.InferOutput<typeof contextSchema>): ContextChange => ({
		kind,
		rows: rows.map((row) => need(isRecord(row) ? fromLine(row) : null)),
	});
	const read = parsed.output;
	switch (read.type) {
		case "commit": {
			const { type, at } = read;
			const events = read.events.map((event) => need(fromEventRecord(event, origin)));
			const context = read.context === null ? null : toChange(read.context);
			return { type, at, events, context, state: need(fromStateRecord(read.state)) };
		}
		case "agent":
			return { ...read, context: toChange(read.context) };
		case "task": {
			const { type, output } = read;
			const [spec, runtime] = [need(fromSpecFile(read.spec)), need(fromRuntimeFile(read.runtime))];
			return { type, spec, runtime, control: need(fromControlFile(read.control)), output };
		}
		case "notification": {
			const notification = need(fromEvent(read.event));
			return { type: read.type, stored: { notification, delivery: need(fromDelivery(read.delivery)) } };
		}
		case "established":
		case "task-removed":
			return read;
	}
}

function toContext({ kind, rows }: ContextChange): object {
	return { kind, rows: rows.map((row): unknown => JSON.parse(wholeText(toLine(row)))) };
}

function unreadable(id: string): never {
	throw new KernelError(
		"storage-failed",
		`The session ${id} cannot be read: the store returned a record that this version did not write.`,
	);
}
