// Rewinds files, conversation, or both. The event history only grows.

import type { ForkFiles } from "../../api/session-options.ts";
import type { ContextRow } from "../../api/values/conversation.ts";
import type { EventBody } from "../../api/values/event.ts";
import type {
	ConflictChoice,
	FileDiff,
	FilePlan,
	RecordedChanges,
	RestoredFiles,
	Rewound,
} from "../../api/values/file-changes.ts";
import { KernelError } from "../../base/errors.ts";
import type { Identifiers } from "../../base/ids.ts";
import type { Judge } from "../../core/permissions/judge.ts";
import type { StoredSession } from "../../ports/store/session-store.ts";
import type {
	FileCheckout,
	FileHistory,
	PlannedPath,
	RestorePlan,
	RestorePoint,
} from "../../ports/workspace/file-history.ts";
import type { MainAgent } from "../turn/main-agent.ts";
import type { SessionFiles } from "./session-files.ts";
import { compareEntries, shownPath, showPlan, showRecord } from "./shown-changes.ts";
import { readTurns, rowsBefore, type TurnPlace } from "./turn-places.ts";

export interface SessionRewindSettings {
	readonly stored: StoredSession;
	readonly files: SessionFiles;
	readonly main: MainAgent;
	/** A rule that denies a write also denies a restore. */
	readonly judge: Judge;
	readonly identifiers: Identifiers;
	emit(body: EventBody): Promise<void>;
}

export interface RewindRequest {
	readonly before: string;
	readonly files: boolean;
	readonly conversation: boolean;
	readonly conflicts: ConflictChoice;
	readonly dryRun: boolean;
}

const conflictReason = "it is not as the session left it";
const stopped = "nothing is restored because of conflicts";

export class SessionRewind {
	readonly #settings: SessionRewindSettings;

	constructor(settings: SessionRewindSettings) {
		this.#settings = settings;
	}

	turns(): Promise<readonly TurnPlace[]> {
		return readTurns(this.#settings.stored.events());
	}

	async changes(id: string | null): Promise<{ readonly turns: readonly RecordedChanges[] }> {
		const history = await this.#settings.files.history();
		const records = (await history.records()).filter((record) => id === null || record.id === id);
		const turns: RecordedChanges[] = [];
		for (const record of records) turns.push(await showRecord(record, this.#workDir, history));
		return { turns };
	}

	async diff(id: string, name: string): Promise<FileDiff> {
		const history = await this.#settings.files.history();
		const record = (await history.records()).find((each) => each.id === id);
		const changed = record?.paths.find(({ path }) => shownPath(this.#workDir, path) === name || path === name);
		if (changed === undefined) {
			throw new KernelError("invalid-input", `${id} changed no file ${JSON.stringify(name)}, as far as is recorded.`);
		}
		const blocks = await compareEntries(name, changed.before, changed.after, history);
		return { blocks: blocks === null ? null : [...blocks] };
	}

	async plan(before: string): Promise<FilePlan> {
		const history = await this.#settings.files.history();
		const point = await this.#pointOf(before, history);
		return await this.#shown(await history.plan(point), point, history);
	}

	async restore(before: string, conflicts: ConflictChoice): Promise<RestoredFiles> {
		const history = await this.#settings.files.history();
		const point = await this.#pointOf(before, history);
		if (conflicts === "stop") {
			const plan = await history.plan(point);
			const found = plan.paths.filter(({ isConflict }) => isConflict);
			if (found.length > 0) return { id: null, restored: [], left: this.#left(found, `${conflictReason}; ${stopped}`) };
		}
		const id = this.#settings.identifiers.hex(32);
		const done = await history.restore(id, point, async (planned) => {
			if (planned.isConflict && conflicts !== "take") return conflictReason;
			return await this.#whyDenied(planned.path);
		});
		const restored = done.restored.map((target) => shownPath(this.#workDir, target));
		const left = done.left.map(({ path: target, reason }) => ({ path: shownPath(this.#workDir, target), reason }));
		if (done.id !== null) {
			await this.#settings.emit({
				type: "files.restored",
				id,
				before,
				restored: restored.length,
				left: left.length,
			});
		}
		return { id: done.id, restored, left };
	}

	async rewind({ before, files, conversation, conflicts, dryRun }: RewindRequest): Promise<Rewound> {
		if (!files && !conversation) {
			throw new KernelError("invalid-input", "Nothing to rewind: choose files, conversation or both.");
		}
		const rows = conversation ? await this.#rowsBefore(before) : null;
		const plan = files ? await this.plan(before) : null;
		if (dryRun) return { plan, files: null, messages: null };
		const restored = files ? await this.restore(before, conflicts) : null;
		const isStopped = conflicts === "stop" && plan !== null && plan.files.some(({ conflict }) => conflict);
		if (rows === null || isStopped) return { plan, files: restored, messages: null };
		const { context } = await this.#settings.main.load();
		await context.replace(rows);
		const messages = context.messages.length;
		await this.#settings.emit({ type: "session.rewound", before, messages });
		return { plan, files: restored, messages };
	}

	async messagesBefore(before: string, rows: readonly ContextRow[]): Promise<number> {
		const turns = await this.turns();
		if (!turns.some(({ id }) => id === before)) throw unknownTurn(before);
		return rowsBefore(rows, turns, before).filter(({ type }) => type === "message").length;
	}

	/** Copies the files as they were before a turn, or as they are now, to a new directory. */
	async copyFiles(before: string | null, { directory, worktree = false }: ForkFiles): Promise<FileCheckout> {
		const reason = await this.#whyDenied(directory);
		if (reason !== null)
			throw new KernelError("invalid-input", `The files cannot be copied to ${directory}: ${reason}.`);
		const history = await this.#settings.files.history();
		const point = before === null ? null : await this.#pointOf(before, history);
		const [lost] = point === null ? [] : await this.#lostTurns(point, history);
		if (lost !== undefined) {
			throw new KernelError(
				"invalid-input",
				`What the turn ${lost.id} changed is not stored here any more, so the files from before it are unknown. Fork the conversation alone.`,
			);
		}
		const refuse = (target: string) => this.#whyDenied(target);
		return await history.checkOut(point, { directory, worktree, refuse });
	}

	get #workDir(): string {
		return this.#settings.stored.workDir;
	}

	async #rowsBefore(before: string) {
		const turns = await this.turns();
		if (!turns.some(({ id }) => id === before)) throw unknownTurn(before);
		const { context } = await this.#settings.main.load();
		return rowsBefore(context.rows, turns, before);
	}

	async #pointOf(before: string, history: FileHistory): Promise<RestorePoint> {
		const record = (await history.records()).find(({ id }) => id === before);
		if (record !== undefined) return { id: before, at: record.at };
		const turn = (await this.turns()).find(({ id }) => id === before);
		if (turn === undefined) throw unknownTurn(before);
		return { id: before, at: turn.at };
	}

	async #shown(plan: RestorePlan, point: RestorePoint, history: FileHistory): Promise<FilePlan> {
		const lost = await this.#lostTurns(point, history);
		const reasons = lost.map(({ id }) => `What the turn ${id} changed is not stored here any more.`);
		const denied: { readonly path: string; readonly reason: string }[] = [];
		for (const planned of plan.paths) {
			const reason = await this.#whyDenied(planned.path);
			if (reason !== null) denied.push({ path: planned.path, reason });
		}
		const names = new Set(denied.map(({ path }) => path));
		return await showPlan(
			{
				...plan,
				paths: plan.paths.filter(({ path }) => !names.has(path)),
				uncovered: [...plan.uncovered, ...denied],
				reasons: [...plan.reasons, ...reasons],
			},
			this.#workDir,
			history,
		);
	}

	/** Turns since then whose changes are not stored. */
	async #lostTurns({ at }: RestorePoint, history: FileHistory): Promise<readonly TurnPlace[]> {
		const known = new Set((await history.records()).map(({ id }) => id));
		return (await this.turns()).filter((turn) => turn.hasFiles && turn.at >= at && !known.has(turn.id));
	}

	async #whyDenied(target: string): Promise<string | null> {
		const subjects = [{ kind: "file", operation: "write", path: target } as const];
		const verdict = await this.#settings.judge.decide({ action: "restore file", subjects, byDefault: "ask" });
		return verdict?.decision === "deny" ? `a permission rule denies writing it: ${verdict.reason}` : null;
	}

	#left(planned: readonly PlannedPath[], reason: string): RestoredFiles["left"] {
		return planned.map(({ path }) => ({ path: shownPath(this.#workDir, path), reason }));
	}
}

function unknownTurn(before: string): KernelError {
	return new KernelError(
		"invalid-input",
		`The session has no turn or restore ${JSON.stringify(before)} to go back to. \`files.changes\` and the history list them.`,
	);
}
