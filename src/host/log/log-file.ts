// Never stdout. Lines wait in memory until the writer is loaded, so logging does not slow startup.
import path from "node:path";
import { systemClock } from "../../base/clock.ts";
import type { Log, LogFields } from "../../base/log.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { privateBelow } from "../../ports/files/private-paths.ts";
import type { LogLevel, LogWriter } from "./log-writer.ts";

export interface LogFile extends Log {
	/** Loads the writer and passes it the queued lines. Ignores failures: a log is not worth a crash. */
	open(): Promise<void>;
	/** Opens the log if necessary. Resolves once everything is written, or after a short time if it cannot be written. */
	flush(): Promise<void>;
}

export const logFile = (shareDir: string): string => path.join(shareDir, "logs", "agentwire.log");

const waitingLimit = 1000;

const noWriter: LogWriter = { write: () => {}, flush: async () => {} };

/** The file and its directory are created at the first write. */
export function createLogFile(file: string, includeDebug: boolean): LogFile {
	const waiting: [LogLevel, string, LogFields][] = [];
	let writer: LogWriter | null = null;
	const take =
		(level: LogLevel) =>
		(message: string, fields: LogFields = {}) => {
			if (level === "debug" && !includeDebug) return;
			if (writer !== null) writer.write(level, message, fields);
			else if (waiting.length < waitingLimit) waiting.push([level, message, fields]);
		};
	const open = async (): Promise<LogWriter> => {
		if (writer !== null) return writer;
		let opened = noWriter;
		try {
			const { createLogWriter } = await import("./log-writer.ts");
			// The log may be the first file in the share directory, which is then created here.
			const files = createDiskFiles(privateBelow(path.dirname(path.dirname(file))));
			opened = createLogWriter(file, files, systemClock);
		} catch {
			// Loading failed, and there is no place to report it.
		}
		writer ??= opened;
		for (const [level, message, fields] of waiting.splice(0)) writer.write(level, message, fields);
		return writer;
	};
	return {
		debug: take("debug"),
		info: take("info"),
		warn: take("warn"),
		error: take("error"),
		async open() {
			await open();
		},
		async flush() {
			await (await open()).flush();
		},
	};
}
