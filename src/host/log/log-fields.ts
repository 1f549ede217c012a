// Never fails and does bounded work on any value: thrown values may have throwing getters.
import { isError } from "../../base/errors.ts";
import type { LogFields } from "../../base/log.ts";
import { isSecretName, redactSecrets } from "../../base/redaction.ts";
import { beginning } from "../../base/text/well-formed.ts";

/** Maximum depth. Deeper values and cycles are omitted. */
const deepest = 8;

/** Maximum values per line; a repeated value counts each time. */
const mostValues = 5000;

/** Maximum characters of a message, and of all fields of a line. */
const mostCharacters = 64 * 1024;

/** Characters before a cut that may start a secret, which is only recognized whole. */
const longestStub = 200;

interface Room {
	values: number;
	characters: number;
}

export function toLoggable(fields: LogFields): Record<string, unknown> {
	return toLoggableFields(fields, deepest, { values: mostValues, characters: mostCharacters });
}

export function toLoggableText(text: string): string {
	return toShown(text, { values: 1, characters: mostCharacters });
}

function toLoggableFields(fields: object, levels: number, room: Room): Record<string, unknown> {
	const shown: Record<string, unknown> = {};
	for (const name of Object.keys(fields)) {
		if (room.values <= 0 || room.characters <= 0) break;
		const value = readProperty(fields, name);
		const label = toShown(name, room);
		const isSecret = isSecretName(label) && typeof value === "string";
		// Defined rather than assigned, because the name may be `__proto__`.
		Object.defineProperty(shown, label, {
			value: isSecret ? "[redacted]" : toLoggableValue(value, levels - 1, room),
			enumerable: true,
			configurable: true,
		});
	}
	return shown;
}

/** Reads a property whose getter may throw. */
function readProperty(fields: object, name: string): unknown {
	try {
		return Reflect.get(fields, name);
	} catch {
		return "[unreadable]";
	}
}

function toLoggableValue(value: unknown, levels: number, room: Room): unknown {
	room.values -= 1;
	if (room.values < 0) return "[cut off]";
	if (typeof value === "string") return toShown(value, room);
	if (typeof value === "bigint") return toShown(`${value}`, room);
	if (value === null || typeof value === "number" || typeof value === "boolean") return value;
	if (typeof value !== "object") return undefined;
	if (levels <= 0) return "[cut off]";
	try {
		return toLoggableObject(value, levels, room);
	} catch {
		return "[unreadable]";
	}
}

function toLoggableObject(value: object, levels: number, room: Room): unknown {
	if (isError(value)) {
		const [name, message, stack] = ["name", "message", "stack"].map((part) => {
			const text = readProperty(value, part);
			return typeof text === "string" ? toShown(text, room) : toLoggableValue(text, levels - 1, room);
		});
		const cause = readProperty(value, "cause");
		return {
			name,
			message,
			stack,
			...(cause === undefined ? {} : { cause: toLoggableValue(cause, levels - 1, room) }),
		};
	}
	if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
	if (Array.isArray(value)) {
		return value.slice(0, room.values).map((inner: unknown) => toLoggableValue(inner, levels - 1, room));
	}
	if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
	return toLoggableFields(value, levels, room);
}

function toShown(text: string, room: Room): string {
	const limit = Math.max(0, room.characters);
	room.characters -= text.length;
	if (text.length <= limit) return redactSecrets(text);
	const stub = /\S*$/.exec(text.slice(Math.max(0, limit - longestStub), limit))?.[0] ?? "";
	return `${redactSecrets(beginning(text, limit - stub.length))}[cut off, ${text.length} characters in all]`;
}
