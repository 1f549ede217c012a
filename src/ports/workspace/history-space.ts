// Removes the least recently used histories. Each stores its size, so the total costs one small read per session.
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { createSharedRun } from "../../base/shared-run.ts";

export const historyDirectory = "file-history";
const sizeFile = "bytes";

/** Bytes a history may grow before the total is checked again. */
const growth = 1024 * 1024;
/** Milliseconds a history counts as in use after its last change; longer if this process has used it. */
const useSpan = 60 * 60 * 1000;
const ownUseSpan = 24 * useSpan;

interface HistorySpaceSettings {
	/** The directory with the directories of sessions, two levels down. */
	readonly sessions: string;
	readonly limit: number;
	readonly clock: Clock;
	readonly log: Log;
}

interface StoredHistory {
	readonly directory: string;
	readonly bytes: number;
	readonly usedAt: number;
}

const spaces = new Map<string, HistorySpace>();

export class HistorySpace {
	readonly #settings: HistorySpaceSettings;
	readonly #noted = new Map<string, number>();
	readonly #limitAll = createSharedRun(() => this.#removeOldest());

	constructor(settings: HistorySpaceSettings) {
		this.#settings = settings;
	}

	/** The one of the process for these sessions: it knows which histories the process uses. */
	static shared(settings: HistorySpaceSettings): HistorySpace {
		const name = JSON.stringify([settings.sessions, settings.limit]);
		const space = spaces.get(name) ?? new HistorySpace(settings);
		spaces.set(name, space);
		return space;
	}

	/** Records the size of a history in use, and removes others when the total exceeds the limit. Never fails. */
	async note(directory: string, bytes: number): Promise<void> {
		if (Math.abs(bytes - (this.#noted.get(directory) ?? 0)) < growth) return;
		this.#noted.set(directory, bytes);
		try {
			await writeFile(path.join(directory, sizeFile), String(bytes), { mode: 0o600 });
			await this.#limitAll();
		} catch (thrown) {
			this.#settings.log.warn("The space of file histories could not be limited.", { error: thrown });
		}
	}

	async #removeOldest(): Promise<void> {
		const { limit, clock, log } = this.#settings;
		const stored = await this.#stored();
		let total = stored.reduce((sum, { bytes }) => sum + bytes, 0);
		for (const { directory, bytes, usedAt } of stored.toSorted((a, b) => a.usedAt - b.usedAt)) {
			if (total <= limit) return;
			if (clock.now() - usedAt < (this.#noted.has(directory) ? ownUseSpan : useSpan)) continue;
			await rm(directory, { recursive: true, force: true });
			total -= bytes;
			log.info("Removed the file history of a session: all of them exceeded agentwire.rewind.max_total_bytes.", {
				directory,
				bytes,
			});
		}
	}

	async #stored(): Promise<readonly StoredHistory[]> {
		const found: StoredHistory[] = [];
		for (const workDir of await namesIn(this.#settings.sessions)) {
			for (const session of await namesIn(path.join(this.#settings.sessions, workDir))) {
				const directory = path.join(this.#settings.sessions, workDir, session, historyDirectory);
				const history = await readHistory(directory);
				if (history !== null) found.push(history);
			}
		}
		return found;
	}
}

/** Null for a session without a history, or with one too small to be recorded. */
async function readHistory(directory: string): Promise<StoredHistory | null> {
	try {
		const bytes = Number(await readFile(path.join(directory, sizeFile), "utf8"));
		const { mtimeMs } = await stat(path.join(directory, "history.jsonl"));
		return Number.isFinite(bytes) ? { directory, bytes, usedAt: mtimeMs } : null;
	} catch {
		return null;
	}
}

const namesIn = (directory: string) => readdir(directory).catch(() => []);
