// Log fields as plain JSON without secrets, errors with their causes.
import type { LogFields } from "../base/log.ts";
import { redactSecrets } from "./redaction.ts";

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
