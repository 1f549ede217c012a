// Log fields as plain JSON without secrets, errors with their causes wherever they are.
import type { LogFields } from "../base/log.ts";
import { isSecretName, redactSecrets } from "../base/redaction.ts";

/** Levels shown: what lies deeper, or goes in a circle, is cut off. */
const deepest = 8;

export function toLoggable(fields: LogFields): Record<string, unknown> {
	return toLoggableFields(fields, deepest);
}

function toLoggableFields(fields: object, levels: number): Record<string, unknown> {
	return Object.fromEntries(
		Object.entries(fields).map(([name, value]: [string, unknown]) => [
			name,
			isSecretName(name) && typeof value === "string" ? "[redacted]" : toLoggableValue(value, levels - 1),
		]),
	);
}

function toLoggableValue(value: unknown, levels: number): unknown {
	if (typeof value === "string") return redactSecrets(value);
	if (typeof value === "bigint") return `${value}`;
	if (value === null || typeof value !== "object") return value;
	if (levels <= 0) return "[cut off]";
	if (value instanceof Error) {
		const cause = value.cause === undefined ? {} : { cause: toLoggableValue(value.cause, levels - 1) };
		return {
			name: value.name,
			message: redactSecrets(value.message),
			stack: redactSecrets(value.stack ?? ""),
			...cause,
		};
	}
	if (Array.isArray(value)) return value.map((inner: unknown) => toLoggableValue(inner, levels - 1));
	if (value instanceof Date) return value.toJSON();
	return toLoggableFields(value, levels);
}
