// Providers require argument objects; a call's result already says what was wrong with invalid ones.

import { decodeArguments } from "../../../api/values/call-arguments.ts";
import { isRecord } from "../../../base/json.ts";

/** The arguments the call ran with; an empty object for invalid arguments. */
export function toCallInput(text: string | null): Record<string, unknown> {
	const decoded = decodeArguments(text);
	return decoded.ok && isRecord(decoded.value) ? decoded.value : {};
}

/** toCallInput as text: the model's own text if it is strict JSON, because prompt caches compare text. */
export function toCallText(text: string | null): string {
	const decoded = decodeArguments(text);
	if (!decoded.ok || !isRecord(decoded.value)) return "{}";
	return decoded.isStrict && text !== null ? text : JSON.stringify(decoded.value);
}
