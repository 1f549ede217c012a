// The changes of each turn, in order. A restore is a record like a turn and can be undone the same way.
import { addContent, type Change, type ContentId, type Entry, isSameEntry } from "./entry.ts";
import type { LogLine } from "./history-log.ts";

interface PathHistory {
	readonly before: Entry | null;
	after: Entry | null;
	/** Whether it was changed from outside in between. */
	isMixed: boolean;
}

export interface HistoryRecord {
	readonly id: string;
	readonly of: "turn" | "restore";
	readonly at: number;
	readonly paths: Map<string, PathHistory>;
	/** Outside changes between the previous turn's changes and this turn's. */
	readonly outside: Set<string>;
	/** Why the record is incomplete: sentences. */
	readonly reasons: Set<string>;
	/** Whether it may still be changing files. */
	isOpen: boolean;
}

export interface Combined {
	readonly paths: ReadonlyMap<string, Readonly<PathHistory>>;
	readonly outside: ReadonlySet<string>;
	readonly reasons: ReadonlySet<string>;
}

export class HistoryRecords {
	#all: HistoryRecord[] = [];

	get all(): readonly HistoryRecord[] {
		return this.#all;
	}

	begin(
		id: string,
		of: HistoryRecord["of"],
		at: number,
	): { readonly record: HistoryRecord; readonly lines: LogLine[] } {
		const known = this.find(id);
		if (known !== null) return { record: known, lines: [] };
		const record: HistoryRecord = {
			id,
			of,
			at,
			paths: new Map(),
			outside: new Set(),
			reasons: new Set(),
			isOpen: false,
		};
		this.#all.push(record);
		return { record, lines: [{ kind: "begin", id, of, at }] };
	}

	find(id: string): HistoryRecord | null {
		return this.#all.find((record) => record.id === id) ?? null;
	}

	take(line: LogLine): void {
		if (line.kind === "begin") this.begin(line.id, line.of, line.at);
		if (!("id" in line)) return;
		const record = this.find(line.id);
		if (record === null) return;
		if (line.kind === "reason") record.reasons.add(line.reason);
		else if (line.kind === "open") record.isOpen = line.isOpen;
		else if (line.kind === "change" && line.isOutside) record.outside.add(line.change.path);
		else if (line.kind === "change") {
			addChange(record, line.change);
			const known = record.paths.get(line.change.path);
			if (line.isMixed === true && known !== undefined) known.isMixed = true;
		}
	}

	/** Changes of this record and later ones; null for an unknown id. */
	since(id: string): Combined | null {
		const start = this.#all.findIndex((record) => record.id === id);
		if (start === -1) return null;
		return this.#combine(start);
	}

	from(at: number): Combined {
		const start = this.#all.findIndex((record) => record.at >= at);
		return this.#combine(start === -1 ? this.#all.length : start);
	}

	/** Records before the one with this id, or before a time if there is none. */
	until({ id, at }: { readonly id: string; readonly at: number }): readonly HistoryRecord[] {
		const known = this.#all.findIndex((record) => record.id === id);
		const end = known === -1 ? this.#all.findIndex((record) => record.at >= at) : known;
		return end === -1 ? this.#all : this.#all.slice(0, end);
	}

	dropOldest(): void {
		this.#all = this.#all.slice(1);
	}

	addNeeded(needed: Set<ContentId>): void {
		for (const record of this.#all) addContents(record, needed);
	}

	*lines(records: readonly HistoryRecord[] = this.#all): Generator<LogLine> {
		for (const { id, of, at, paths, outside, reasons, isOpen } of records) {
			yield { kind: "begin", id, of, at };
			for (const [path, { before, after, isMixed }] of paths) {
				const change = { path, before, after };
				yield { kind: "change", id, change, isOutside: false, ...(isMixed ? { isMixed } : {}) };
			}
			for (const path of outside) {
				yield { kind: "change", id, change: { path, before: null, after: null }, isOutside: true };
			}
			for (const reason of reasons) yield { kind: "reason", id, reason };
			if (isOpen) yield { kind: "open", id, isOpen };
		}
	}

	#combine(start: number): Combined {
		const paths = new Map<string, PathHistory>();
		const outside = new Set<string>();
		const reasons = new Set<string>();
		for (const record of this.#all.slice(start)) {
			for (const [path, { before, after, isMixed }] of record.paths) {
				const known = paths.get(path);
				if (known === undefined) paths.set(path, { before, after, isMixed });
				else {
					known.isMixed ||= isMixed || !isSameEntry(known.after, before);
					known.after = after;
				}
			}
			for (const path of record.outside) outside.add(path);
			for (const reason of record.reasons) reasons.add(reason);
		}
		return { paths, outside, reasons };
	}
}

export function addContents({ paths }: HistoryRecord, needed: Set<ContentId>): void {
	for (const { before, after } of paths.values()) {
		addContent(before, needed);
		addContent(after, needed);
	}
}

export function addChange({ paths }: HistoryRecord, { path, before, after }: Change): void {
	const known = paths.get(path);
	if (known === undefined) paths.set(path, { before, after, isMixed: false });
	// After a crash, a change may be found again.
	else if (!isSameEntry(known.after, after)) {
		known.isMixed ||= !isSameEntry(known.after, before);
		known.after = after;
	}
}
