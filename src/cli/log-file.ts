// The log of the process, in a file (never on stdout). Lines wait in memory until the writer is loaded, so that
// logging costs the start nothing.
import type { Log, LogFields } from "../base/log.ts";
import { redactSecrets } from "./redaction.ts";

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

/** Fields as JSON values without secrets; errors with their causes. */
export function toLoggable(fields: LogFields): Record<string, unknown> {
	return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, toLoggableValue(value)]));
}

function toLoggableValue(value: unknown): unknown {
	if (value instanceof Error) {
		const cause = value.cause === undefined ? {} : { cause: toLoggableValue(value.cause) };
		return {
			name: value.name,
			message: redactSecrets(value.message),
			stack: redactSecrets(value.stack ?? ""),
			...cause,
		};
	}
	if (typeof value === "string") return redactSecrets(value);
	if (value === null || typeof value !== "object") return value;
	try {
		return JSON.parse(redactSecrets(JSON.stringify(value)));
	} catch {
		return "[not JSON]";
	}
}
