// Writes log lines with pino; loaded only once something is to be written. Nothing waits for it: lines queue up within
// a bound while the disk is slow, and are dropped and counted where it takes none.
import path from "node:path";
import { pino } from "pino";
import { type Clock, sleep } from "../base/clock.ts";
import type { LogFields } from "../base/log.ts";
import { redactSecrets } from "../base/redaction.ts";
import type { Files } from "../files/port.ts";
import { toLoggable } from "./loggable.ts";

/** Bytes at which a log is set aside, and how many are kept. */
const rotationSize = 10 * 1024 * 1024;
const retainedFiles = 5;

/** Characters that wait for the disk; what comes on top is dropped. */
const waitingLimit = 1024 * 1024;

/** Milliseconds that a flush waits for the disk. */
const flushPatience = 300;

export type LogLevel = "debug" | "info" | "warn" | "error";

export interface LogWriter {
	write(level: LogLevel, message: string, fields: LogFields): void;
	/** Resolves once everything was written, or after a moment: a log is worth no more. */
	flush(): Promise<void>;
}

/** Opens nothing before the first line. Never fails: what cannot be written is lost. */
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
			logger[level](toLoggable(fields), redactSecrets(message));
		},
		async flush() {
			if (writing === null) return;
			const late = new AbortController();
			await Promise.race([writing, sleep(clock, flushPatience, late.signal)]);
			late.abort();
		},
	};
}

/**
 * A file that is set aside when it has become large. It is opened for each piece of text, so that one that another process
 * set aside is made anew.
 */
function createRotatedFile(file: string, files: Files): { append(text: string): Promise<void> } {
	/** The size up to which it is written; more where it cannot be set aside. */
	let limit = rotationSize;

	let isDirectoryMade = false;

	const makeReady = async (): Promise<void> => {
		// Once: a share directory that somebody removes is not to come back with nothing but a log.
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
		// Where it cannot be it grows on, and is tried again when it has grown by as much.
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
	// Opening one closes it to others than its owner, in case an earlier version left it open.
	for (let n = 1; n <= retainedFiles; n += 1) {
		if ((await files.status(`${file}.${n}`)) !== null) await (await files.openAppend(`${file}.${n}`)).close();
	}
}
