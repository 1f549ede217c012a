// Reads the output files only while an attached client wants progress.
import { type Clock, sleep } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { StoredTask } from "../../ports/store/stored-tasks.ts";
import { outsideTurns } from "../clients/emitter.ts";
import type { ProgressReports, SkippingProgress } from "../clients/progress-reports.ts";

/** Milliseconds between two reads. */
const interval = 250;
/** Maximum bytes per read. Earlier unread bytes are skipped. */
const readLimit = 32 * 1024;

export interface LiveOutputSettings {
	readonly progress: Pick<ProgressReports, "open">;
	readonly clock: Clock;
	readonly log: Log;
	isWanted(): boolean;
}

interface Followed {
	readonly task: StoredTask;
	readonly progress: SkippingProgress;
	position: number;
	reading: Promise<void>;
}

export class LiveOutput {
	readonly #settings: LiveOutputSettings;
	readonly #followed = new Map<string, Followed>();
	/** Aborts the wait for the next read. Null while idle. */
	#loop: AbortController | null = null;

	constructor(settings: LiveOutputSettings) {
		this.#settings = settings;
	}

	follow(task: StoredTask): void {
		const { id, kind, toolCallId } = task.spec;
		if (kind !== "bash") return;
		// The read stops only when the command ends.
		const { signal } = new AbortController();
		const progress = this.#settings.progress.open(outsideTurns, toolCallId, signal);
		this.#followed.set(id, { task, progress, position: 0, reading: Promise.resolve() });
		this.look();
	}

	/** The command has ended or is no longer followed: reports its remaining output. Never rejects. */
	async finish({ spec }: StoredTask): Promise<void> {
		const followed = this.#followed.get(spec.id);
		if (followed === undefined) return;
		this.#followed.delete(spec.id);
		if (this.#followed.size === 0) this.#loop?.abort();
		if (this.#settings.isWanted()) await this.#read(followed);
		followed.progress.end();
	}

	look(): void {
		if (this.#loop !== null || this.#isIdle()) return;
		const loop = new AbortController();
		this.#loop = loop;
		void this.#readAll(loop).finally(() => {
			this.#loop = null;
			// A command may have started while the last read finished.
			this.look();
		});
	}

	#isIdle(): boolean {
		return this.#followed.size === 0 || !this.#settings.isWanted();
	}

	async #readAll(loop: AbortController): Promise<void> {
		while (!loop.signal.aborted && !this.#isIdle()) {
			for (const followed of this.#followed.values()) await this.#read(followed);
			await sleep(this.#settings.clock, interval, loop.signal);
		}
	}

	#read(followed: Followed): Promise<void> {
		followed.reading = followed.reading.then(async () => {
			try {
				await report(followed);
			} catch (thrown) {
				const { id } = followed.task.spec;
				this.#settings.log.warn("The output of a background command could not be read.", {
					task: id,
					cause: errorText(thrown),
				});
			}
		});
		return followed.reading;
	}
}

async function report(followed: Followed): Promise<void> {
	const { task, progress } = followed;
	if ((await task.outputTail(0)).size <= followed.position) return;
	const { bytes, size } = await task.outputTail(readLimit);
	const begin = size - bytes.length;
	const isGap = begin > followed.position;
	const fresh = isGap ? withoutContinuation(bytes) : bytes.subarray(followed.position - begin);
	if (isGap) progress.skip(size - fresh.length - followed.position);
	followed.position = size;
	// The file contains both streams, merged.
	progress.report("stdout", fresh);
}

/** Drops UTF-8 continuation bytes at the start. */
function withoutContinuation(bytes: Buffer): Buffer {
	let start = 0;
	while (start < 3 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
	return bytes.subarray(start);
}
