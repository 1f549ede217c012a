// Checks every line a server of Meerkat RPC sends against the declared shapes: events whole, with nothing beside them.
import * as v from "valibot";
import { isRecord, toJsonLine } from "../../src/base/json.ts";
import {
	approvalRequestSchema,
	eventSchema,
	questionRequestSchema,
	toolExecuteSchema,
} from "../../src/dialects/meerkat/wire.ts";

const text = v.string();
const integer = v.pipe(v.number(), v.integer());
const id = v.union([text, integer]);
const version = { jsonrpc: v.literal("2.0") };

const envelopeSchema = v.union([
	v.strictObject({
		...version,
		method: v.literal("session/event"),
		params: v.strictObject({ session_id: text, event: v.looseObject({}) }),
	}),
	v.strictObject({
		...version,
		method: v.picklist(["approval/request", "question/request", "tool/execute"]),
		id: text,
		params: v.looseObject({ session_id: text }),
	}),
	v.strictObject({ ...version, id, result: v.looseObject({}) }),
	v.strictObject({
		...version,
		id: v.nullable(id),
		error: v.strictObject({ code: integer, message: text, data: v.looseObject({ code: text }) }),
	}),
]);

const contractEventSchema = v.strictObject({
	event_id: v.pipe(text, v.uuid()),
	source: v.strictObject({ type: v.literal("session"), session_id: v.pipe(text, v.uuid()) }),
	seq: v.pipe(integer, v.minValue(0)),
	timestamp_ms: v.pipe(integer, v.minValue(0)),
	payload: eventSchema,
});

const requests = {
	"approval/request": approvalRequestSchema,
	"question/request": questionRequestSchema,
	"tool/execute": toolExecuteSchema,
};

/** Throws when the line is not JSON that Meerkat RPC may send. */
export function sniffMeerkat(line: string): void {
	const value = v.parse(envelopeSchema, JSON.parse(line), { message: `unknown envelope: ${line}` });
	// Ids of 64 bits lose digits here.
	if (!/"id":-?\d{16,}/.test(line) && toJsonLine(JSON.parse(line)) !== line)
		throw new Error(`not compact JSON: ${line}`);
	if (!("params" in value)) return;
	if (value.method !== "session/event") {
		sameAsParsed(requests[value.method], value.params, line);
		return;
	}
	const { event } = value.params;
	if ("payload" in event && isRecord(event["payload"])) sameAsParsed(contractEventSchema, event, line);
	else sameAsParsed(eventSchema, event, line);
}

function sameAsParsed(schema: v.GenericSchema, value: unknown, line: string): void {
	const parsed = v.parse(schema, value, { message: `unknown shape: ${line}` });
	const sorted = (each: unknown): string =>
		JSON.stringify(each, (_key, inner: unknown) =>
			isRecord(inner)
				? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
				: inner,
		);
	if (sorted(parsed) !== sorted(value)) throw new Error(`more than its shape: ${line}`);
}
