// The log of the process, in a file (never on stdout). Lines wait in memory until the writer is loaded, so that
// logging costs the start nothing.
import type { Log, LogFields } from "../base/log.ts";

type Level = "debug" | "info" | "warn" | "error";

export interface LogFile extends Log {
	/** Loads the writer and writes what waited. Failing to is not an error: a log is not worth a crash. */
	open(): Promise<void>;
	/** Writes what is left, now. */
	flush(): void;
}

interface Writer {
	write(level: Level, message: string, fields: LogFields): void;
	flush(): void;
}

/** Lines kept while the writer is not loaded, or cannot be. */
const waitingLimit = 1000;

/** `path` is made with its directory when first written; `includeDebug` adds the finest lines. */
export function createLogFile(path: string, includeDebug: boolean): LogFile {
	let waiting: [Level, string, LogFields][] = [];
	let writer: Writer | null = null;
	const take =
		(level: Level) =>
		(message: string, fields: LogFields = {}) => {
			if (level === "debug" && !includeDebug) return;
			if (writer !== null) writer.write(level, message, fields);
			else if (waiting.length < waitingLimit) waiting.push([level, message, fields]);
		};
	return {
		debug: take("debug"),
		info: take("info"),
		warn: take("warn"),
		error: take("error"),
		async open() {
			if (writer !== null) return;
			try {
				const { createLogWriter } = await import("./log-writer.ts");
				writer = createLogWriter(path);
				for (const [level, message, fields] of waiting) writer.write(level, message, fields);
			} catch {
				writer = { write: () => {}, flush: () => {} };
			}
			waiting = [];
		},
		flush: () => writer?.flush(),
	};
}
