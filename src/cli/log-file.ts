// The log of the process, in a file (never on stdout). Lines wait in memory until the writer is loaded, so that
// logging costs the start nothing.
import path from "node:path";
import { systemClock } from "../base/clock.ts";
import type { Log, LogFields } from "../base/log.ts";
import { createDiskFiles } from "../files/disk-files.ts";
import { privateWithin } from "../files/private-paths.ts";
import type { LogLevel, LogWriter } from "./log-writer.ts";

export interface LogFile extends Log {
	/** Loads the writer and hands it what waited. Failing to is not an error: a log is not worth a crash. */
	open(): Promise<void>;
	/**
	 * Opens it if need be and resolves once all of it is written, or after a moment: where the log cannot be written
	 * nothing waits for it.
	 */
	flush(): Promise<void>;
}

/** Lines kept while the writer is not loaded, or cannot be. */
const waitingLimit = 1000;

const noWriter: LogWriter = { write: () => {}, flush: async () => {} };

/** `file` is made with its directory when first written; `includeDebug` adds the finest lines. */
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
			opened = createLogWriter(file, createDiskFiles(privateWithin(path.dirname(file))), systemClock);
		} catch {
			// It cannot be loaded: there is nowhere to say so.
		}
		// Somebody else may have been faster.
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
