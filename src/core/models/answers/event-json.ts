import { isNestedWithin, isRecord } from "../../../base/json.ts";
import type { ErrorReader } from "../http/error-answer.ts";
import type { ServerEvent } from "../http/event-reader.ts";
import { RequestFailure, requestFailure } from "../http/request-failure.ts";

export type Fields = Record<string, unknown>;

/** Maximum event nesting; call arguments are part of some events, and writing and checking them is recursive. */
const depthLimit = 200;

/** The value of an event; undefined to skip it. Throws RequestFailure for any form of error. */
export function readEventJson({ event, data, cut }: ServerEvent, errors: Pick<ErrorReader, "event">): unknown {
	let parsed: unknown;
	try {
		parsed = JSON.parse(data);
	} catch {
		if (event === "error") throw new RequestFailure(errors.event(data));
		// Some gateways end every stream as chat completions do.
		if (cut || data.trim() === "[DONE]") return undefined;
		throw requestFailure("provider", "The provider sent an event that is not JSON.");
	}
	// Most events are too short to nest so deeply.
	if (data.length > 2 * depthLimit && !isNestedWithin(parsed, depthLimit)) {
		throw requestFailure("provider", `The provider sent an event that nests more than ${depthLimit} levels deep.`);
	}
	// On its stream routes Google wraps errors in a one-element list.
	const value: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
	const error = findError(event, value);
	if (error !== null) throw new RequestFailure(errors.event(error));
	return value;
}

/** The error object of an event; null for other events. */
function findError(event: string | null, value: unknown): unknown {
	if (!isRecord(value)) return event === "error" ? value : null;
	const { error, type, object } = value;
	if (error !== undefined && error !== null && error !== false && error !== "") return error;
	if (event === "error" || type === "error" || object === "error") return value;
	const message = toText(value["error_message"]);
	if (message !== null) return { message, type: value["error_type"] };
	return isBareError(value) ? value : null;
}

/** An error without a wrapper, such as `{"code":20015,"message":"…","data":null}`. */
function isBareError({ code, message, type, choices, candidates }: Fields): boolean {
	if (toText(message) === null || toText(type) !== null || Array.isArray(choices ?? candidates)) return false;
	return typeof code === "number" ? code !== 0 && code !== 200 : toText(code) !== null;
}

export function toText(value: unknown): string | null {
	return typeof value === "string" && value !== "" ? value : null;
}

export function toFields(value: unknown): Fields {
	return isRecord(value) ? value : {};
}

export function toRecords(value: unknown): Fields[] {
	return Array.isArray(value) ? value.filter(isRecord) : [];
}
