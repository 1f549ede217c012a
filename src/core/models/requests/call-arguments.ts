// The arguments of earlier calls as a provider accepts them in a history: those of an object, whatever the model had written.
// The result of a call that was not one says what was wrong with it.

import { decodeArguments } from "../../../api/values/call-arguments.ts";
import { isRecord } from "../../../base/json.ts";

/** The arguments that the call ran with; an empty object for what no tool can take. */
export function toCallInput(text: string | null): Record<string, unknown> {
	const decoded = decodeArguments(text);
	return decoded.ok && isRecord(decoded.value) ? decoded.value : {};
}

/** The same as text: that of the model where it is strict JSON, because caches of prompts go by the letter. */
export function toCallText(text: string | null): string {
	const decoded = decodeArguments(text);
	if (!decoded.ok || !isRecord(decoded.value)) return "{}";
	return decoded.isStrict && text !== null ? text : JSON.stringify(decoded.value);
}
