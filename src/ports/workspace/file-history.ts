// What each turn changed in a session's directories, to revert it. Loads and scans nothing before a call may change files.
import { mkdir, realpath } from "node:fs/promises";
import path from "node:path";
import { never } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { createDeferred } from "../../base/deferred.ts";
import { errorText, KernelError } from "../../base/errors.ts";
import { createKeyedQueue } from "../../base/keyed-queue.ts";
import type { Log } from "../../base/log.ts";
import type { GitPlace } from "../processes/git/git.ts";
import { type Checkout, type CheckoutRequest, checkOut } from "./checkout.ts";
import { type Change, type ContentId, type Entry, type FileEntry, isSameEntry, whyNotRestorable } from "./entry.ts";
import { GitSource } from "./git-source.ts";
import { linkObjects } from "./history-copy.ts";
import { HistoryLog, type LogLine } from "./history-log.ts";
import type { HistoryMirror, HistoryPlace } from "./history-place.ts";
import { addChange, type HistoryRecord, HistoryRecords } from "./history-records.ts";
import type { HistorySpace } from "./history-space.ts";
import { ObjectStore } from "./object-store.ts";
import {
	carryOut,
	type LeftPath,
	type RestoreList,
	type RestoreStep,
	readList,
	removeList,
	temporaryName,
	writeList,
} from "./restore.ts";
import { type Scan, TreeIndex, type TreeLimits } from "./tree-index.ts";
import { look } from "./walk.ts";

export interface HistoryLimits extends TreeLimits {
	readonly turns: number;
}

export interface FileHistorySettings {
	/** Exclusive to this history. Its parent exists once something is recorded, unless it is saved elsewhere. */
	readonly directory: string;
	/** Saves it for other machines; absent if it stays on this one. */
	readonly mirror?: HistoryMirror | undefined;
	readonly workDir: string;
	/** Scanned directories; absolute. */
	roots(): readonly string[];
	readonly home: string;
	readonly excluded: readonly string[];
	readonly limits: HistoryLimits;
	/** Limits the total size of all histories. */
	readonly space: Pick<HistorySpace, "note">;
	readonly git: GitPlace;
	/** Whether work started by a turn runs between its calls. */
	hasBackgroundWork(): Promise<boolean>;
	readonly clock: Clock;
	readonly log: Log;
}

/** The files a call may change: these, or any. */
export type Extent = { readonly kind: "files"; readonly paths: readonly string[] } | { readonly kind: "anything" };

/** A turn's changes, as in its end event. */
export interface TurnChanges {
	readonly complete: boolean;
	readonly reasons: readonly string[];
	readonly added: number;
	readonly modified: number;
	readonly deleted: number;
}

export interface ChangedPath {
	readonly path: string;
	readonly before: Entry | null;
	readonly after: Entry | null;
}

export interface RecordView {
	readonly id: string;
	readonly of: "turn" | "restore";
	readonly at: number;
	readonly paths: readonly ChangedPath[];
	readonly complete: boolean;
	readonly reasons: readonly string[];
}

/** Restore point: before the record with this id, or before everything since a time. */
export interface RestorePoint {
	readonly id: string;
	readonly at: number;
}

export interface PlannedPath {
	readonly path: string;
	readonly target: Entry | null;
	readonly now: Entry | null;
	/** Whether it differs from the session's last state, or was also changed from outside in between. */
	readonly isConflict: boolean;
}

export interface RestorePlan {
	readonly paths: readonly PlannedPath[];
	/** Paths that cannot be restored, with reasons. */
	readonly uncovered: readonly LeftPath[];
	/** Paths changed from outside; they stay. */
	readonly outside: readonly string[];
	/** Why unknown changes may exist: sentences. */
	readonly reasons: readonly string[];
}

export interface Restored {
	/** Restore id, for going back to before it; null when nothing changed. */
	readonly id: string | null;
	readonly restored: readonly string[];
	readonly left: readonly LeftPath[];
}

export interface FileCheckout extends Checkout {
	readonly reasons: readonly string[];
	/** Writes the records from before, for a session in the new directory. */
	writeHistory(directory: string, place?: HistoryPlace | undefined): Promise<void>;
}

const lateReason =
	"A command was started before the look at the directories had ended: what it changed may not be known.";
const elsewhereReason = "Another process ended during this turn: what it changed last is not known.";
const backgroundReason = "Something still runs in the background, and may be changing files.";

/** File content before the running edits. */
interface Edited {
	entry: Entry | null;
	count: number;
}

export class FileHistory {
	readonly #settings: FileHistorySettings;
	readonly #log: HistoryLog;
	readonly #store: ObjectStore;
	readonly #git: GitSource;
	readonly #tree: TreeIndex;
	readonly #records = new HistoryRecords();
	readonly #queue = createKeyedQueue();
	readonly #edited = new Map<string, Edited>();
	#loading: Promise<void> | null = null;
	#saved: Promise<void> = Promise.resolve();
	/** Running calls that may change anything. */
	#running = 0;
	/** The turn with work running between its calls. */
	#inBackground: HistoryRecord | null = null;

	constructor(settings: FileHistorySettings) {
		const { directory, clock, mirror } = settings;
		this.#settings = settings;
		this.#log = new HistoryLog(path.join(directory, "history.jsonl"));
		this.#store = new ObjectStore(path.join(directory, "objects"), mirror);
		this.#git = new GitSource(settings.workDir, settings.git);
		this.#tree = new TreeIndex({ ...settings, store: this.#store, git: this.#git, now: () => clock.now() });
	}

	/** Records what a call changes. The call runs even if recording fails; gaps are noted as reasons. */
	async around<Result>(
		turnId: string,
		extent: Extent,
		work: () => Promise<Result>,
		signal: AbortSignal = never,
	): Promise<Result> {
		const isInTime = await this.#inTime(this.#guard(turnId, () => this.#before(turnId, extent)));
		if (!isInTime) void this.#guard(turnId, () => this.#addReasons(this.#records.find(turnId), [lateReason]));
		try {
			return await work();
		} finally {
			const recorded = this.#inTime(this.#guard(turnId, () => this.#after(turnId, extent)));
			// The end of a cancelled turn waits for it instead.
			if (!signal.aborted) await recorded;
		}
	}

	/** Changes of the turn; null if it could not change anything. */
	closeTurn(turnId: string): Promise<TurnChanges | null> {
		if (this.#loading === null) {
			const record = this.#records.find(turnId);
			return Promise.resolve(record === null ? null : toTurnChanges(record));
		}
		return this.#run(async () => {
			const record = this.#records.find(turnId);
			if (record === null) return null;
			const { mirror } = this.#settings;
			await this.#trim();
			await this.#log.append(this.#tree.newSize());
			void this.#settings.space.note(this.#settings.directory, this.#tree.bytes);
			if (mirror !== undefined) this.#saved = this.#guard(turnId, () => this.#save());
			return toTurnChanges(record);
		});
	}

	/** Resolves once the closed turns are saved in its place. Never rejects. */
	get saved(): Promise<void> {
		return this.#saved;
	}

	/** Known records, oldest first. */
	records(): Promise<readonly RecordView[]> {
		return this.#run(async () => this.#records.all.map(toView));
	}

	plan(point: RestorePoint): Promise<RestorePlan> {
		return this.#run(() => this.#plan(point));
	}

	/** Earlier bytes of a file; null if not stored. */
	content(entry: FileEntry): Promise<Buffer | null> {
		return this.#tree.content(entry);
	}

	/** Restores the plan, conflicts too, except paths for which `leave` returns a reason. `id` names the restore. */
	restore(id: string, point: RestorePoint, leave: (planned: PlannedPath) => Promise<string | null>): Promise<Restored> {
		return this.#run(async () => {
			const plan = await this.#plan(point);
			const left: LeftPath[] = [...plan.uncovered];
			const steps: RestoreStep[] = [];
			for (const { path: target, target: entry, now, ...planned } of plan.paths) {
				const reason = await leave({ path: target, target: entry, now, ...planned });
				const was = reason === null ? await this.#tree.capture(target, true) : now;
				if (reason !== null) left.push({ path: target, reason });
				else if (!isSameEntry(was, now)) left.push({ path: target, reason: "it is being changed" });
				else steps.push(toStep(target, entry, was));
			}
			if (steps.length === 0) return { id: null, restored: [], left };
			const list = { id, at: this.#settings.clock.now(), steps: [...steps, ...readOnlyParents(steps)] };
			await writeList(this.#listFile, list);
			const late = await this.#carryOut(list);
			await this.#save();
			const failed = new Set(late.map((each) => each.path));
			const restored = steps.map((step) => step.path).filter((target) => !failed.has(target));
			return { id, restored, left: [...left, ...late] };
		});
	}

	/** Writes the directory as of the point (null: now) into a new one. Fails `invalid-input` (unusable or too large). */
	checkOut(point: RestorePoint | null, request: CheckoutRequest): Promise<FileCheckout> {
		return this.#run(async () => {
			const { limits } = this.#settings;
			const refusal = await this.#tree.refusal();
			if (refusal !== null) throw new KernelError("invalid-input", refusal);
			const {
				reasons: [first],
				isTooMany,
			} = await this.#look(this.#inBackground);
			if (isTooMany) throw new KernelError("invalid-input", `The files cannot be copied. ${first}`);
			const workDir = await realpath(this.#settings.workDir);
			const entries = this.#tree.entriesBelow(workDir);
			const combined = point === null ? null : (this.#records.since(point.id) ?? this.#records.from(point.at));
			for (const [target, { before }] of combined?.paths ?? []) {
				if (!target.startsWith(workDir + path.sep)) continue;
				const name = target.slice(workDir.length + 1);
				if (before === null) entries.delete(name);
				else entries.set(name, before);
			}
			const bytes = [...entries.values()].reduce((sum, entry) => sum + (entry.kind === "file" ? entry.size : 0), 0);
			if (bytes > limits.storeBytes) {
				throw new KernelError(
					"invalid-input",
					`The files have ${bytes} bytes, and a fork copies ${limits.storeBytes} at most (agentwire.rewind.max_store_bytes).`,
				);
			}
			const source = { workDir, entries, git: this.#git, sizeLimit: limits.fileBytes };
			const checkout = await checkOut({ ...source, content: (entry) => this.#tree.content(entry) }, request);
			const records = point === null ? this.#records.all : this.#records.until(point);
			const lines = [...this.#records.lines(records)].map((line) => movedLine(line, workDir, checkout.directory));
			const { directory: from, mirror } = this.#settings;
			const writeHistory = async (to: string, place?: HistoryPlace | undefined) => {
				await mkdir(to, { mode: 0o700, recursive: true });
				await new HistoryLog(path.join(to, "history.jsonl")).replace(lines);
				await linkObjects(from, to);
				if (place !== undefined) await mirror?.at(place, to).save(lines, records, (id) => this.#packed(id));
			};
			return { ...checkout, reasons: [...(combined?.reasons ?? [])], writeHistory };
		});
	}

	get #listFile(): string {
		return path.join(this.#settings.directory, "restore.json");
	}

	#run<Result>(work: () => Promise<Result>): Promise<Result> {
		return this.#queue.run("", async () => {
			this.#loading ??= this.#load().catch((thrown: unknown) => {
				this.#loading = null;
				throw thrown;
			});
			await this.#loading;
			return await work();
		});
	}

	/** Returns whether it ended within the wait limit of a call. */
	async #inTime(work: Promise<void>): Promise<boolean> {
		const late = createDeferred<false>();
		const withdraw = this.#settings.clock.after(this.#settings.limits.patience, () => late.resolve(false));
		return await Promise.race([work.then(() => true), late.promise]).finally(withdraw);
	}

	async #guard(turnId: string, work: () => Promise<void>): Promise<void> {
		try {
			await this.#run(work);
		} catch (thrown) {
			this.#settings.log.warn("What a call changes could not be recorded.", { turn: turnId, error: thrown });
			const { record } = this.#records.begin(turnId, "turn", this.#settings.clock.now());
			record.reasons.add(`What a call changed could not be recorded: ${errorText(thrown)}.`);
		}
	}

	async #load(): Promise<void> {
		await this.#settings.mirror?.fetch(this.#log);
		for (const line of (await this.#log.read()) ?? []) {
			this.#tree.restore(line);
			this.#records.take(line);
		}
		const list = await readList(this.#listFile);
		if (list !== null) await this.#carryOut(list);
		const open = this.#records.all.findLast(({ isOpen }) => isOpen);
		if (open === undefined) return;
		// The process was killed while a call of this turn ran: attribute new differences to the turn.
		if (this.#tree.isKnown) await this.#look(open);
		else await this.#addReasons(open, [elsewhereReason]);
		await this.#log.append(setOpen(open, false));
	}

	async #before(turnId: string, extent: Extent): Promise<void> {
		const { record, lines } = this.#records.begin(turnId, "turn", this.#settings.clock.now());
		await this.#log.append(lines);
		if (lines.length > 0) await this.#save([{ kind: "open", id: turnId, isOpen: true }]);
		if (extent.kind === "files") return await this.#beforeEdit(await resolvedPaths(extent.paths), record);
		const refusal = await this.#tree.refusal();
		if (refusal !== null) return await this.#addReasons(record, [refusal]);
		await this.#look(this.#running > 0 ? record : this.#inBackground);
		this.#running += 1;
		await this.#log.append(setOpen(record, true));
	}

	async #after(turnId: string, extent: Extent): Promise<void> {
		const record = this.#records.find(turnId);
		if (record === null) return;
		if (extent.kind === "files") return await this.#afterEdit(await resolvedPaths(extent.paths), record);
		if (!record.isOpen) return;
		this.#running -= 1;
		if (await this.#settings.hasBackgroundWork()) this.#inBackground = record;
		await this.#look(record);
		if (this.#running === 0) await this.#log.append(setOpen(record, false));
	}

	/** Finds changes since the last scan and assigns them to this record; null means changes from outside. */
	async #look(owner: HistoryRecord | null): Promise<Scan> {
		const scan = await this.#tree.scan();
		const { changes, lines, reasons } = scan;
		const record = owner ?? this.#records.all.at(-1);
		if (record === undefined) {
			await this.#log.append(lines);
			return scan;
		}
		// Write changes before the new state: after a crash in between, they are found again.
		const taken = changes.map((change) => take(record, change, owner === null));
		await this.#log.append([...taken, ...lines]);
		const current = owner ?? record;
		await this.#addReasons(current, reasons);
		return scan;
	}

	async #beforeEdit(paths: readonly string[], record: HistoryRecord): Promise<void> {
		const lines: LogLine[] = [];
		for (const target of paths) {
			const entry = await this.#tree.capture(target, true);
			const isCovered = await this.#tree.covers(target);
			const known = this.#tree.find(target) ?? null;
			if (isCovered && this.#tree.isKnown && !isSameEntry(known, entry)) {
				const owner = this.#inBackground;
				lines.push(take(owner ?? record, { path: target, before: known, after: entry }, owner === null));
			}
			const edited = this.#edited.get(target);
			if (edited === undefined) this.#edited.set(target, { entry, count: 1 });
			else edited.count += 1;
			if (isCovered) lines.push(...this.#tree.note(target, entry));
			// A crash during the edit preserves the earlier content.
			lines.push(take(record, { path: target, before: entry, after: entry }, false));
		}
		await this.#log.append(lines);
	}

	async #afterEdit(paths: readonly string[], record: HistoryRecord): Promise<void> {
		const lines: LogLine[] = [];
		for (const target of paths) {
			const edited = this.#edited.get(target);
			if (edited === undefined) continue;
			const after = await this.#tree.capture(target);
			// A scan may have found the change already.
			const before = this.#tree.find(target) ?? edited.entry;
			edited.entry = after;
			edited.count -= 1;
			if (edited.count === 0) this.#edited.delete(target);
			if (!isSameEntry(before, after)) lines.push(take(record, { path: target, before, after }, false));
			if (await this.#tree.covers(target)) lines.push(...this.#tree.note(target, after));
		}
		await this.#log.append(lines);
	}

	async #plan({ id, at }: RestorePoint): Promise<RestorePlan> {
		if (this.#tree.isKnown) await this.#look(this.#inBackground);
		const combined = this.#records.since(id) ?? this.#records.from(at);
		const paths: PlannedPath[] = [];
		const uncovered: LeftPath[] = [];
		// Walking directories in parallel notes them in any order.
		const changed = [...combined.paths].sort(([one], [other]) => (one < other ? -1 : 1));
		for (const [target, { before, after, isMixed }] of changed) {
			const now = await this.#tree.capture(target);
			if (isSameEntry(now, before)) continue;
			const reason = whyNotRestorable(before) ?? (await this.#whyGone(before)) ?? whyNotKept(now);
			if (reason !== null) uncovered.push({ path: target, reason });
			else paths.push({ path: target, target: before, now, isConflict: isMixed || !isSameEntry(now, after) });
		}
		for (const directory of this.#tree.opaque) {
			if (look(directory) === null) continue;
			uncovered.push({ path: directory, reason: "git ignores the directory, so it is not looked into" });
		}
		const planned = new Set(paths.map((each) => each.path));
		const outside = [...combined.outside].filter((target) => !planned.has(target));
		const reasons = [...combined.reasons];
		if (await this.#settings.hasBackgroundWork()) reasons.push(backgroundReason);
		return { paths, uncovered, outside, reasons };
	}

	async #whyGone(entry: Entry | null): Promise<string | null> {
		if (entry?.kind !== "file" || entry.content === null) return null;
		if (await this.#store.has(entry.content)) return null;
		return (await this.#tree.content(entry)) === null ? "its content is not stored any more" : null;
	}

	/** Executes the list and records it like a turn. */
	async #carryOut({ id, at, steps }: RestoreList): Promise<readonly LeftPath[]> {
		const { record, lines: begun } = this.#records.begin(id, "restore", at);
		const left = await carryOut(steps, {
			content: (entry) => this.#tree.content(entry),
			capture: (target) => this.#tree.capture(target),
		});
		const lines: LogLine[] = [...begun];
		for (const { path: target, was } of steps) {
			const after = await this.#tree.capture(target);
			if (!isSameEntry(was, after)) lines.push(take(record, { path: target, before: was, after }, false));
			if (await this.#tree.covers(target)) lines.push(...this.#tree.note(target, after));
		}
		await this.#log.append(lines);
		await removeList(this.#listFile);
		return left;
	}

	async #save(more: readonly LogLine[] = []): Promise<void> {
		const { all } = this.#records;
		await this.#settings.mirror?.save([...this.#records.lines(), ...more], all, (id) => this.#packed(id));
	}

	/** Includes contents that another machine saved. */
	async #packed(id: ContentId): Promise<Uint8Array | null> {
		return (await this.#store.packed(id)) ?? (await this.#settings.mirror?.content(id)) ?? null;
	}

	async #addReasons(record: HistoryRecord | null, reasons: readonly string[]): Promise<void> {
		if (record === null) return;
		const added = reasons.filter((reason) => !record.reasons.has(reason));
		for (const reason of added) record.reasons.add(reason);
		await this.#log.append(added.map((reason) => ({ kind: "reason", id: record.id, reason })));
	}

	/** Drops the oldest turns beyond the limits, with contents that only they need. */
	async #trim(): Promise<void> {
		const { turns, storeBytes } = this.#settings.limits;
		const isLong = this.#log.size > longLog;
		if (!isLong && this.#records.all.length <= turns && this.#tree.bytes <= storeBytes) return;
		const oldest = this.#records.all[0];
		while (this.#records.all.length > turns) this.#records.dropOldest();
		for (;;) {
			const needed = new Set<ContentId>();
			this.#tree.addNeeded(needed);
			this.#records.addNeeded(needed);
			this.#tree.bytes = await this.#store.sweep(needed);
			if (this.#tree.bytes <= storeBytes || this.#records.all.length <= 1) break;
			this.#records.dropOldest();
		}
		if (isLong || this.#records.all[0] !== oldest)
			await this.#log.replace([...this.#tree.lines(), ...this.#records.lines()]);
	}
}

/** Log size in bytes that triggers a rewrite. */
const longLog = 64 * 1024 * 1024;

function take(record: HistoryRecord, change: Change, isOutside: boolean): LogLine {
	if (isOutside) record.outside.add(change.path);
	else addChange(record, change);
	return { kind: "change", id: record.id, change, isOutside };
}

/** The line for a copy of the work directory. */
function movedLine(line: LogLine, from: string, to: string): LogLine {
	if (line.kind !== "change" || !line.change.path.startsWith(from + path.sep)) return line;
	return { ...line, change: { ...line.change, path: to + line.change.path.slice(from.length) } };
}

function setOpen(record: HistoryRecord, isOpen: boolean): readonly LogLine[] {
	if (record.isOpen === isOpen) return [];
	record.isOpen = isOpen;
	return [{ kind: "open", id: record.id, isOpen }];
}

function changedPaths({ paths }: HistoryRecord): readonly ChangedPath[] {
	return [...paths].flatMap(([target, { before, after }]) =>
		isSameEntry(before, after) ? [] : [{ path: target, before, after }],
	);
}

function toView(record: HistoryRecord): RecordView {
	const { id, of, at, reasons } = record;
	return { id, of, at, paths: changedPaths(record), complete: reasons.size === 0, reasons: [...reasons] };
}

function toTurnChanges(record: HistoryRecord): TurnChanges {
	const paths = changedPaths(record);
	const added = paths.filter(({ before }) => before === null).length;
	const deleted = paths.filter(({ after }) => after === null).length;
	const { size } = record.reasons;
	return {
		complete: size === 0,
		reasons: [...record.reasons],
		added,
		modified: paths.length - added - deleted,
		deleted,
	};
}

function toStep(target: string, entry: Entry | null, now: Entry | null): RestoreStep {
	return { path: target, target: entry, was: now, temporary: temporaryName(target) };
}

/** Directories to make writable temporarily. Their modes are always restored. */
function readOnlyParents(steps: readonly RestoreStep[]): readonly RestoreStep[] {
	const named = new Set(steps.map((step) => step.path));
	const parents = new Set(steps.map((step) => path.dirname(step.path)).filter((parent) => !named.has(parent)));
	return [...parents].flatMap((parent) => {
		const seen = look(parent);
		if (seen?.kind !== "directory" || (seen.mode & 0o200) !== 0) return [];
		const entry: Entry = { kind: "directory", mode: seen.mode };
		return [toStep(parent, entry, entry)];
	});
}

/** Why the current entry could not be restored later, and so must not be replaced; null when it could. */
function whyNotKept(now: Entry | null): string | null {
	const reason = whyNotRestorable(now);
	return reason === null ? null : `what is there now could not be stored: ${reason}`;
}

/** The paths with directory links resolved. */
async function resolvedPaths(paths: readonly string[]): Promise<readonly string[]> {
	return await Promise.all(
		paths.map(async (target) => {
			const directory = await realpath(path.dirname(target)).catch(() => path.dirname(target));
			return path.join(directory, path.basename(target));
		}),
	);
}
