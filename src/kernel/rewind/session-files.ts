// The file history of a session for its turns. Opened for the first call that may change files, or on request.
import type { EventBodyOf } from "../../api/values/event.ts";
import type { Subject } from "../../api/values/subject.ts";
import type { Clock } from "../../base/clock.ts";
import { createDeferred } from "../../base/deferred.ts";
import { KernelError } from "../../base/errors.ts";
import type { Judge } from "../../core/permissions/judge.ts";
import type { Extent, FileHistory } from "../../ports/workspace/file-history.ts";

export interface SessionFilesSettings {
	readonly open: OpenHistory | string;
	hasBackgroundWork(): Promise<boolean>;
	readonly judge: Pick<Judge, "changesNothing">;
	readonly clock: Clock;
}

export type OpenHistory = (hasBackgroundWork: () => Promise<boolean>) => Promise<FileHistory>;

/** Milliseconds that the end of a turn waits for changes of its last calls. */
const endPatience = 1000;

const lateSnapshot = {
	complete: false,
	reasons: ["What the last calls of the turn changed was not known yet when it ended."],
	changed: { added: 0, modified: 0, deleted: 0 },
};

export class SessionFiles {
	readonly #settings: SessionFilesSettings;
	#history: Promise<FileHistory> | null = null;

	constructor(settings: SessionFilesSettings) {
		this.#settings = settings;
	}

	history(): Promise<FileHistory> {
		const { open, hasBackgroundWork } = this.#settings;
		if (typeof open === "string") throw new KernelError("unsupported", open);
		this.#history ??= open(hasBackgroundWork).catch((thrown: unknown) => {
			this.#history = null;
			throw thrown;
		});
		return this.#history;
	}

	/** Another process has used the session: the history is read again. */
	forget(): void {
		this.#history = null;
	}

	async record<Result>(
		turnId: string,
		subjects: readonly Subject[],
		work: () => Promise<Result>,
		signal: AbortSignal,
	): Promise<Result> {
		const extent = toExtent(subjects);
		const { open, judge } = this.#settings;
		if (extent === null || typeof open === "string") return await work();
		if (extent.kind === "anything" && (await judge.changesNothing(subjects))) return await work();
		return await (await this.history()).around(turnId, extent, work, signal);
	}

	/** The event with the turn's file changes; null if no call could change files. */
	async closeTurn(turnId: string): Promise<EventBodyOf<"files.snapshot"> | null> {
		if (this.#history === null) return null;
		const late = createDeferred<"late">();
		const withdraw = this.#settings.clock.after(endPatience, () => late.resolve("late"));
		const history = await this.#history;
		const closing = async () => {
			const changes = await Promise.race([history.closeTurn(turnId), late.promise]);
			await Promise.race([history.saved, late.promise]);
			return changes;
		};
		const changes = await closing().finally(withdraw);
		if (changes === null) return null;
		if (changes === "late") return { type: "files.snapshot", ...lateSnapshot };
		const { complete, reasons, ...changed } = changes;
		return { type: "files.snapshot", complete, reasons: [...reasons], changed };
	}
}

/** The paths that calls on these subjects may change; null for nothing in the working directories. */
function toExtent(subjects: readonly Subject[]): Extent | null {
	const paths: string[] = [];
	let isTaskOnly = subjects.length > 0;
	for (const subject of subjects) {
		if (subject.kind === "task") continue;
		isTaskOnly = false;
		if (subject.kind !== "file") return { kind: "anything" };
		if (subject.operation !== "read") paths.push(subject.path);
	}
	if (isTaskOnly) return null;
	return paths.length > 0 ? { kind: "files", paths } : { kind: "anything" };
}
