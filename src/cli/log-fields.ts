// Converts log fields to plain JSON without secrets; errors include their causes at any depth.
import type { LogFields } from "../base/log.ts";
import { isSecretName, redactSecrets } from "../base/redaction.ts";

/** Maximal depth: deeper values and cycles are omitted. */
const deepest = 8;

/** Maximal values of one line: a value in several places counts in each. */
const mostValues = 5000;

/** How many values may still be shown. */
interface Room {
	values: number;
}

export function toLoggable(fields: LogFields): Record<string, unknown> {
	return toLoggableFields(fields, deepest, { values: mostValues });
}

function toLoggableFields(fields: object, levels: number, room: Room): Record<string, unknown> {
	return Object.fromEntries(
		Object.entries(fields)
			.slice(0, room.values)
			.map(([name, value]: [string, unknown]) => [
				name,
				isSecretName(name) && typeof value === "string" ? "[redacted]" : toLoggableValue(value, levels - 1, room),
			]),
	);
}

function toLoggableValue(value: unknown, levels: number, room: Room): unknown {
	room.values -= 1;
	if (room.values < 0) return "[cut off]";
	if (typeof value === "string") return redactSecrets(value);
	if (typeof value === "bigint") return `${value}`;
	if (value === null || typeof value !== "object") return value;
	if (levels <= 0) return "[cut off]";
	if (value instanceof Error) {
		const cause = value.cause === undefined ? {} : { cause: toLoggableValue(value.cause, levels - 1, room) };
		return {
			name: value.name,
			message: redactSecrets(value.message),
			stack: redactSecrets(value.stack ?? ""),
			...cause,
		};
	}
	if (Array.isArray(value))
		return value.slice(0, room.values).map((inner: unknown) => toLoggableValue(inner, levels - 1, room));
	if (value instanceof Date) return value.toJSON();
	return toLoggableFields(value, levels, room);
}
