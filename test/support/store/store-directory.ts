// A share directory in a temporary folder, and stores over it.
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Log, LogFields } from "../../../src/base/log.ts";
import { createDiskFiles } from "../../../src/ports/files/disk-files.ts";
import type { AppendFile, Files } from "../../../src/ports/files/port.ts";
import { createDiskStore, type DiskStoreOptions } from "../../../src/ports/store/disk/disk-store.ts";
import type { SessionStore } from "../../../src/ports/store/session-store.ts";
import { createSteppingClock, type SteppingClock } from "../host/stepping-clock.ts";

export interface LoggedLine {
	readonly level: "debug" | "info" | "warn" | "error";
	readonly message: string;
	readonly fields: LogFields;
}

/** A log that remembers. */
export function createMemoryLog(): Log & { readonly lines: LoggedLine[] } {
	const lines: LoggedLine[] = [];
	const add =
		(level: LoggedLine["level"]) =>
		(message: string, fields: LogFields = {}): void => {
			lines.push({ level, message, fields });
		};
	return { lines, debug: add("debug"), info: add("info"), warn: add("warn"), error: add("error") };
}

export interface StoreDirectory {
	readonly root: string;
	/** Not made yet. */
	readonly shareDir: string;
	readonly workDir: string;
	/** Without a clock, waiting for a session that another store holds takes no time. */
	openStore(options?: Partial<Pick<DiskStoreOptions, "files" | "log" | "clock" | "bootedAt">>): SessionStore;
	/** Lets the stores without a clock of their own look at what they watch. */
	passTime(): void;
	/** Resolves once the file system gives a file written now a later time than any before. */
	tick(): Promise<void>;
	cleanUp(): Promise<void>;
}

export async function createStoreDirectory(): Promise<StoreDirectory> {
	const root = await mkdtemp(path.join(tmpdir(), "agentwire-store-"));
	const shareDir = path.join(root, "share");
	const opened: AppendFile[] = [];
	/** Sessions that a test leaves open, as a crash does, must not leave their files open too. */
	const remembering = (files: Files): Files => ({
		...files,
		async openAppend(target) {
			const file = await files.openAppend(target);
			opened.push(file);
			return file;
		},
	});
	const clocks: SteppingClock[] = [];
	const createClock = (): SteppingClock => {
		const clock = createSteppingClock(Date.now());
		clocks.push(clock);
		return clock;
	};
	const touch = async (): Promise<number> => {
		const probe = path.join(root, "probe");
		await writeFile(probe, "x");
		return (await stat(probe)).mtimeMs;
	};
	return {
		root,
		shareDir,
		workDir: "/home/me/project",
		openStore: ({ files = createDiskFiles(), log = createMemoryLog(), clock = createClock(), ...others } = {}) =>
			createDiskStore({ ...others, files: remembering(files), shareDir, log, clock, protocolVersion: "1.10" }),
		passTime() {
			for (const clock of clocks) clock.runBackground();
		},
		async tick() {
			const before = await touch();
			while ((await touch()) <= before) {
				// The probe is written again until its time moves on: a few milliseconds.
			}
		},
		async cleanUp() {
			await Promise.allSettled(opened.map((file) => file.close()));
			await rm(root, { recursive: true, force: true });
		},
	};
}
