// Parses the JSON of stream events for all packages: it may be truncated, have another shape, or be an error.
import { isNestedWithin } from "../../../base/json.ts";
import type { ServerEvent } from "../http/event-reader.ts";
import { createFailure, type ModelFailure } from "../model.ts";
import type { EventReading } from "./transport.ts";

export type Fields = Record<string, unknown>;

/** The package does not see the event. */
export const skipped: EventReading = { kind: "skip" };

/** Maximal nesting of an event: arguments of calls are part of some, and writing and checking them is recursive. */
const depthLimit = 200;

/** Parses the data of an event; `toFailure` interprets an error that is not JSON. */
export function readJsonEvent(
	{ event, data, cut }: ServerEvent,
	toFailure: (text: string) => ModelFailure,
	read: (value: unknown) => EventReading,
): EventReading {
	let value: unknown;
	try {
		value = JSON.parse(data);
	} catch {
		if (event === "error") return { kind: "failed", failure: toFailure(data) };
		// Some gateways end every stream as chat completions do.
		if (cut || data.trim() === "[DONE]") return skipped;
		const message = "The provider sent an event that is not JSON.";
		return { kind: "failed", failure: createFailure("provider", message) };
	}
	// Most events are too short to nest so deeply.
	if (data.length > depthLimit && !isNestedWithin(value, depthLimit)) {
		const message = `The provider sent an event that nests more than ${depthLimit} levels deep.`;
		return { kind: "failed", failure: createFailure("provider", message) };
	}
	return read(value);
}

export function passed(...events: readonly Fields[]): EventReading {
	return { kind: "pass", data: events.map((event) => JSON.stringify(event)) };
}

/** Null for everything else, and for an empty text. */
export function toText(value: unknown): string | null {
	return typeof value === "string" && value !== "" ? value : null;
}
