// Writes log lines with pino; loaded only once something is to be written.
import { openSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { destination, pino } from "pino";
import type { LogFields } from "../base/log.ts";
import { redactSecrets } from "../base/redaction.ts";
import { toLoggable } from "./loggable.ts";
import { makeDirectory } from "./make-directory.ts";

/** Bytes at which a log is set aside when it is opened, and how many are kept. */
const rotationSize = 10 * 1024 * 1024;
const keptFiles = 5;

export function createLogWriter(path: string) {
	makeDirectory(dirname(path));
	rotate(path);
	// Opened at once: pino cannot write what is left at an exit that comes before its own opening is done.
	// Written at once: what an exit flushes would overtake a line that is still being written.
	const file = destination({ dest: openSync(path, "a"), sync: true });
	// A disk that is full, or a directory that goes away, must not end the process.
	file.on("error", () => {});
	const logger = pino({ level: "debug", base: { pid: process.pid } }, file);
	return {
		write(level: "debug" | "info" | "warn" | "error", message: string, fields: LogFields) {
			logger[level](toLoggable(fields), redactSecrets(message));
		},
		flush() {
			try {
				file.flushSync();
			} catch {
				// Not opened, or not writable: there is nowhere to say so.
			}
		},
	};
}

function rotate(path: string): void {
	const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
	if (size < rotationSize) return;
	for (let n = keptFiles - 1; n >= 1; n -= 1) {
		if (statSync(`${path}.${n}`, { throwIfNoEntry: false }) !== undefined)
			renameSync(`${path}.${n}`, `${path}.${n + 1}`);
	}
	renameSync(path, `${path}.1`);
}
