// What is particular to the lines of Meerkat RPC, in the shapes and numbers of the era that a connection is in.
import * as v from "valibot";
import { meerkat } from "../../../scripts/protocol/meerkat.ts";
import { isRecord } from "../../../src/base/json.ts";
import { type Era, errorNumbers } from "../../../src/frontends/meerkat/errors.ts";
import { meerkatProtocol } from "../../../src/frontends/meerkat/protocol.ts";
import { contractEvents, eventEnvelopeSchema, seedEvents } from "../../../src/frontends/meerkat/wire/wire-events.ts";
import { streamEndSchema } from "../../../src/frontends/meerkat/wire/wire-streams.ts";
import { errorDataSchema } from "../../../src/frontends/meerkat/wire.ts";
import { isOwnParse, prepareSniffers } from "../transcripts/transcript-sniffer.ts";

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
		method: v.literal("session/stream_event"),
		params: v.strictObject({ stream_id: text, sequence: integer, session_id: text, event: v.looseObject({}) }),
	}),
	v.strictObject({ ...version, method: v.literal("session/stream_end"), params: streamEndSchema }),
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
		error: v.strictObject({ code: integer, message: text, data: errorDataSchema }),
	}),
]);
type Line = v.InferOutput<typeof envelopeSchema>;

const numbers: Readonly<Record<string, Readonly<Record<Era, number>>>> = errorNumbers;

/** For a server of many sessions. */
export const createMeerkatSniffer = prepareSniffers<Line>({
	descriptions: [meerkat],
	envelope: envelopeSchema,
	createCheck: () => {
		let era: Era = "seed";
		return {
			received(value, line) {
				const isGood = isWhole(value, era);
				if (!isGood) throw new Error(`more or less than its shape in this era, ${era}: ${line}`);
				if ("result" in value && "capabilities" in value.result) era = "contract";
			},
		};
	},
});

function isWhole(value: Line, era: Era): boolean {
	if ("error" in value) {
		const { code, data } = value.error;
		return numbers[data.code]?.[era] === code;
	}
	// Results are held against their methods.
	if ("result" in value) return true;
	if (value.method === "session/stream_end") return isOwnParse(streamEndSchema, value.params);
	if (value.method !== "session/event" && value.method !== "session/stream_event")
		return isOwnParse(meerkatProtocol.requests[value.method].payload, value.params);
	const { event } = value.params;
	if (era === "seed") return isEvent(seedEvents, event);
	return isOwnParse(eventEnvelopeSchema, event) && isEvent(contractEvents, event["payload"]);
}

function isEvent(events: Readonly<Record<string, v.GenericSchema>>, event: unknown): boolean {
	const schema = isRecord(event) ? events[String(event["type"])] : undefined;
	return schema !== undefined && isOwnParse(schema, event);
}
