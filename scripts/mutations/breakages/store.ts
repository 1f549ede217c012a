// What the store of sessions does wrong.
import type { Breakage } from "../breakage.ts";

export const store: readonly Breakage[] = [
	{
		name: "the lease is not looked at before a write",
		file: "store/disk/disk-session.ts",
		find: "await begin();\n\t\tawait lease?.check();",
		replace: "await begin();",
	},
	{
		name: "anybody's lease counts as our own",
		file: "store/disk/lease.ts",
		find: "if (isAsKnown || found?.token === token) {",
		replace: "if (isAsKnown || found !== null) {",
	},
	{
		name: "a process that was stopped writes on, late, in a session that another one has",
		file: "store/disk/lease.ts",
		find: "if (clock.monotonic() - checkedAt > lateWriteTime) await lease.check();",
		replace: "",
	},
	{
		name: "a lease that was replaced in the same moment by two processes belongs to both",
		file: "store/disk/lease.ts",
		find: "showsLaterChanges(status.modifiedAt, now)",
		replace: "true",
	},
	{
		name: "a session that another process created meanwhile is written over",
		file: "store/disk/disk-session.ts",
		find: "if (!wasMissing) return;",
		replace: "return;",
	},
	{
		name: "a half-written last line stays and is glued to the next record",
		file: "store/disk/logs/line-writer.ts",
		find: "await files.truncate(path, rest);",
		replace: "",
	},
	{
		name: "what a failed append left is not cut off",
		file: "store/disk/logs/line-writer.ts",
		find: "if (isOurs) await files.truncate(path, start);",
		replace: "",
	},
	{
		name: "what was appended is not synced",
		file: "store/disk/logs/line-writer.ts",
		find: "this.#unsynced = true;\n\t\tthis.#knownSize = isShort",
		replace: "this.#knownSize = isShort",
	},
	{
		name: "the end of a call settles the newest open one of its id",
		file: "store/journal-summary.ts",
		find: "calls.findIndex(({ toolCallId }) => toolCallId === body.toolCallId);",
		replace: "calls.findLastIndex(({ toolCallId }) => toolCallId === body.toolCallId);",
	},
	{
		name: "a commit that could not be synced stays in the journal",
		file: "store/disk/journal/journal-writer.ts",
		find: "await journal.undo().catch(() => undefined);",
		replace: "",
	},
	{
		name: "records of half a group count",
		file: "store/disk/journal/journal-file.ts",
		find: "if (hasMore(line) || (line === null && open.length > 1)) continue;",
		replace: "",
	},
	{
		name: "opening reads the whole journal",
		file: "store/disk/journal/journal-opening.ts",
		find: "const last = await findLastSummary(files, path, { start, end: size }, origin);",
		replace: "const last = null as Awaited<ReturnType<typeof findLastSummary>>;",
	},
	{
		name: "what another program appended to the log is found again at each opening",
		file: "store/disk/journal/session-log.ts",
		find: "if (history.hasContent) {",
		replace: "if (isNew && history.hasContent) {",
	},
	{
		name: "a changed context of another program is not copied into the journal",
		file: "store/disk/journal/session-log.ts",
		find: "if (rows !== null) records.push(",
		replace: "if (rows !== null && isNew) records.push(",
	},
	{
		name: "an event that cannot be read loses its number",
		file: "store/disk/journal/journal-opening.ts",
		find: "lastSeq = Math.max(lastSeq + (record.seq === null ? 1 : 0), record.seq ?? 0);",
		replace: "",
	},
	{
		name: "nobody watches the lease",
		file: "store/disk/lease-watch.ts",
		find: "if (!lease.isWatchable) return;",
		replace: "return;",
	},
	{
		name: "all leases are looked at in the same moment",
		file: "store/disk/lease-watch.ts",
		find: "if (start > 0) await sleep(clock, pause, never, true);",
		replace: "",
	},
	{
		name: "a lease that was taken over before its watch began is not looked at",
		file: "store/disk/lease-watch.ts",
		find: "				distrust();",
		replace: "",
	},
	{
		name: "a lease is never looked at where the directory shows no change",
		file: "store/disk/lease-watch.ts",
		find: " && skipped + 1 < fullLookEvery",
		replace: "",
	},
	{
		name: "a log that lacks what the journal has is not repaired",
		file: "store/disk/journal/projections.ts",
		find: 'if (repairs.wire.kind === "append") await wire.append(repairs.wire.missing);',
		replace: "",
	},
	{
		name: "the last summary of the journal is not folded into what follows",
		file: "store/disk/journal/journal-opening.ts",
		find: "new RunningSummary(last?.summary)",
		replace: "new RunningSummary()",
	},
	{
		name: "times of the log are milliseconds",
		file: "store/disk/logs/event-log.ts",
		find: "timestamp: event.at / 1000,",
		replace: "timestamp: event.at,",
	},
];
