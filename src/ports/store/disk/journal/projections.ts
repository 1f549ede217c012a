// Writes `wire.jsonl`, `context.jsonl` and `state.json` from the journal, for other programs. After a failure, the next commit does.

import type { ContextChange, ContextRow } from "../../../../api/values/conversation.ts";
import type { AgentEvent } from "../../../../api/values/event.ts";
import { errorText } from "../../../../base/errors.ts";
import type { Log } from "../../../../base/log.ts";
import type { LineText } from "../../../../base/text/long-text.ts";
import type { Files } from "../../../files/port.ts";
import { toLine } from "../../context-row.ts";
import type { Batch } from "../../session-store.ts";
import type { ContextLog } from "../logs/context-log.ts";
import { toEventLine, toEventLines } from "../logs/event-log.ts";
import type { LineFile } from "../logs/line-file.ts";
import type { StateFile } from "../state-file.ts";
import type { LogSizes } from "./journal-record.ts";
import type { Repair } from "./log-recovery.ts";

export interface JournalContent {
	/** Length of the event log part that precedes the journal, in bytes. */
	readonly historyBytes: number;
	events(): AsyncIterable<AgentEvent>;
	contextRows(): Promise<readonly ContextRow[]>;
}

export interface ProjectionOptions {
	readonly files: Files;
	readonly log: Log;
	readonly directory: string;
	readonly wirePath: string;
	readonly wire: LineFile;
	readonly wireHeader: string;
	readonly contextLines: LineFile;
	readonly context: ContextLog;
	readonly stateFile: StateFile;
	/** The size of the call journal from earlier versions. */
	readonly callsSize: number;
	journal(end: number): JournalContent;
	syncJournal(): Promise<void>;
}

export interface Repairs {
	readonly wire: Repair<readonly LineText[]>;
	readonly context: Repair<readonly ContextRow[]>;
	/** Whether the context was replaced by one the file may lack: then a copy of the old one is kept. */
	readonly isContextReplaced: boolean;
}

export interface Projections {
	/** Current sizes; null for a file that must be rewritten. */
	sizes(): LogSizes;
	/** Updates the files that were incomplete at opening. Never rejects. */
	repair(repairs: Repairs, end: number): Promise<void>;
	/** Writes the journal's content up to this byte; later content follows with the next call. Never rejects. */
	write(batches: readonly Batch[], end: number): Promise<void>;
}

export function createProjections(options: ProjectionOptions): Projections {
	const { log, directory, wire, context, contextLines, stateFile } = options;
	const outdated = new Set<"wire" | "context" | "state">();

	const attempt = async (name: "wire" | "context" | "state", work: () => Promise<void>): Promise<void> => {
		try {
			await work();
			outdated.delete(name);
		} catch (thrown) {
			if (outdated.has(name)) return;
			outdated.add(name);
			log.warn("a file derived from the journal could not be written", {
				directory,
				file: name,
				cause: errorText(thrown),
			});
		}
	};
	const rewriteWire = (end: number): Promise<void> => wire.rewrite(wirePieces(options, end));
	const rewriteContext = (end: number): Promise<void> => contextLines.rewrite(contextPieces(options, end));

	const writeWire = async (batches: readonly Batch[], end: number): Promise<void> => {
		const lines = batches.flatMap(({ events = [] }) => toEventLines(events));
		if (outdated.has("wire")) await attempt("wire", () => rewriteWire(end));
		else if (lines.length > 0) await attempt("wire", () => wire.append(lines));
	};
	const writeContext = async (batches: readonly Batch[], end: number): Promise<void> => {
		const changes = batches.flatMap((batch) => batch.context ?? []);
		if (outdated.has("context")) await attempt("context", () => rewriteContext(end));
		else if (changes.length > 0)
			await attempt("context", async () => {
				// After a power loss, the rename must not meet a journal that only knows the old file.
				if (changes.some(({ kind }) => kind === "replace")) await options.syncJournal();
				for (const change of joinedAppends(changes)) await context.change(change);
			});
	};
	const writeState = async (batches: readonly Batch[]): Promise<void> => {
		const changes = batches.flatMap(({ state }) => state ?? []);
		if (changes.length === 0 && !stateFile.isStale()) return;
		await attempt("state", () => stateFile.update(Object.assign({}, ...changes)));
	};

	return {
		sizes: () => ({
			wire: outdated.has("wire") ? null : wire.length,
			context: outdated.has("context") ? null : contextLines.length,
			calls: options.callsSize,
		}),
		async repair(repairs, end) {
			const repairContext = attempt("context", async () => {
				if (repairs.context.kind === "rewrite") {
					if (!repairs.isContextReplaced || contextLines.length === 0) return rewriteContext(end);
					return context.change({ kind: "replace", rows: await options.journal(end).contextRows() });
				}
				await contextLines.repairEnd();
				if (repairs.context.kind === "append") await contextLines.append(repairs.context.missing.map(toLine));
			});
			const repairWire = attempt("wire", async () => {
				if (repairs.wire.kind === "rewrite") return rewriteWire(end);
				await wire.repairEnd();
				if (repairs.wire.kind === "append") await wire.append(repairs.wire.missing);
			});
			await Promise.all([repairContext, repairWire]);
		},
		async write(batches, end) {
			await Promise.all([writeWire(batches, end), writeContext(batches, end), writeState(batches)]);
		},
	};
}

/** Merges consecutive appends, except those with a prompt, which goes first. */
function joinedAppends(changes: readonly ContextChange[]): readonly ContextChange[] {
	const joined: ContextChange[] = [];
	for (const change of changes) {
		const last = joined.at(-1);
		const continues = change.kind === "append" && change.rows[0]?.type !== "system-prompt";
		if (last?.kind === "append" && continues)
			joined[joined.length - 1] = { ...last, rows: [...last.rows, ...change.rows] };
		else joined.push(change);
	}
	return joined;
}

async function* wirePieces(options: ProjectionOptions, end: number): AsyncGenerator<Buffer> {
	const { files, wirePath, wireHeader } = options;
	const { historyBytes, events } = options.journal(end);
	let left = historyBytes;
	if (left === 0) yield Buffer.from(`${wireHeader}\n`);
	if (left > 0) {
		for await (const piece of files.readPieces(wirePath)) {
			yield piece.subarray(0, left);
			left -= piece.length;
			if (left <= 0) break;
		}
	}
	for await (const event of events()) {
		const line = toEventLine(event);
		if (line !== null) yield* linePieces(line);
	}
}

async function* contextPieces(options: ProjectionOptions, end: number): AsyncGenerator<Buffer> {
	for (const row of await options.journal(end).contextRows()) yield* linePieces(toLine(row));
}

function* linePieces(line: LineText): Generator<Buffer> {
	if (typeof line === "string") yield Buffer.from(`${line}\n`);
	else for (const piece of [...line, "\n"]) yield Buffer.from(piece);
}
