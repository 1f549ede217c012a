// Never blocks: lines are queued up to a limit while the disk is slow, then dropped and counted.
import path from "node:path";
import { pino } from "pino";
import { type Clock, sleep } from "../../base/clock.ts";
import type { LogFields } from "../../base/log.ts";
import type { Files } from "../../ports/files/port.ts";
import { toLoggable, toLoggableText } from "./log-fields.ts";

/** Rotation size in bytes, and the number of rotated files to keep. */
const rotationSize = 10 * 1024 * 1024;
const retainedFiles = 5;

/** Maximum queued characters. Further lines are dropped. */
const waitingLimit = 1024 * 1024;

/** Milliseconds that a flush waits for the disk. */
const flushPatience = 300;

export type LogLevel = "debug" | "info" | "warn" | "error";

export interface LogWriter {
	write(level: LogLevel, message: string, fields: LogFields): void;
	flush(): Promise<void>;
}

/** Opens the file with the first line. Never fails: unwritable lines are lost. */
export function createLogWriter(file: string, files: Files, clock: Clock): LogWriter {
	let waiting: string[] = [];
	let waitingSize = 0;
	let lost = 0;
	let writing: Promise<void> | null = null;
	const rotated = createRotatedFile(file, files);

	const drain = async (): Promise<void> => {
		while (waiting.length > 0) {
			const lines = waiting;
			waiting = [];
			waitingSize = 0;
			try {
				await rotated.append(lines.join(""));
			} catch {
				lost += lines.length;
				continue;
			}
			if (lost === 0) continue;
			const count = lost;
			lost = 0;
			logger.warn({ count }, "Lines of the log could not be written and are lost.");
		}
		writing = null;
	};
	const take = (line: string): void => {
		if (waitingSize + line.length > waitingLimit) {
			lost += 1;
			return;
		}
		waiting.push(line);
		waitingSize += line.length;
		writing ??= drain();
	};
	const logger = pino({ level: "debug", base: { pid: process.pid } }, { write: take });
	return {
		write(level, message, fields) {
			logger[level](toLoggable(fields), toLoggableText(message));
		},
		async flush() {
			if (writing === null) return;
			const late = new AbortController();
			await Promise.race([writing, sleep(clock, flushPatience, late.signal)]);
			late.abort();
		},
	};
}

/** A file rotated by size. Reopened for each write, because another process may have rotated it. */
function createRotatedFile(file: string, files: Files): { append(text: string): Promise<void> } {
	/** Rotation size, larger after a failed rotation. */
	let limit = rotationSize;

	let isDirectoryMade = false;

	const makeReady = async (): Promise<void> => {
		// Only once: a deleted share directory must not come back with just a log.
		if (!isDirectoryMade) await files.makeDirectory(path.dirname(file));
		isDirectoryMade = true;
		const status = await files.status(file);
		if (status === null) return;
		if (status.kind !== "file") throw new Error(`${file} is not a regular file`);
		if (status.size < limit) return;
		const isSetAside = await rotate(file, files).then(
			() => true,
			() => false,
		);
		// After a failed rotation, retry once the file has grown by the same amount.
		limit = isSetAside ? rotationSize : status.size + rotationSize;
	};
	return {
		async append(text) {
			await makeReady();
			const opened = await files.openAppend(file);
			await opened.append(text).finally(() => opened.close());
		},
	};
}

async function rotate(file: string, files: Files): Promise<void> {
	for (let n = retainedFiles - 1; n >= 1; n -= 1) {
		if ((await files.status(`${file}.${n}`)) !== null) await files.rename(`${file}.${n}`, `${file}.${n + 1}`);
	}
	await files.rename(file, `${file}.1`);
	// Opening restricts a file to its owner, in case an earlier version left it readable.
	for (let n = 1; n <= retainedFiles; n += 1) {
		if ((await files.status(`${file}.${n}`)) !== null) await (await files.openAppend(`${file}.${n}`)).close();
	}
}
