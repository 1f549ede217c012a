// What is particular to the lines of the Agent Client Protocol. The order of members means nothing to its clients.
import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import { acp } from "../../../scripts/protocol/acp.ts";
import { acpDraft } from "../../../scripts/protocol/acp-draft.ts";
import { isRecord } from "../../../src/base/json.ts";
import { acpProtocol } from "../../../src/frontends/acp/protocol.ts";
import { draftProtocol } from "../../../src/frontends/acp/v2/protocol.ts";
import { updateSchemas as draftUpdateSchemas } from "../../../src/frontends/acp/v2/wire-updates.ts";
import { errorDataSchema } from "../../../src/frontends/acp/wire.ts";
import { notificationSchemas, updateSchemas } from "../../../src/frontends/acp/wire-updates.ts";
import { prepareSniffers } from "../transcripts/transcript-sniffer.ts";

const text = v.string();
const integer = v.pipe(v.number(), v.integer());
const id = v.union([text, integer]);
const version = { jsonrpc: v.literal("2.0") };

/** Of an error about the version. */
const versionDataSchema = v.strictObject({ requested: integer, supported: v.array(integer) });
const envelopeSchema = v.union([
	v.strictObject({
		...version,
		method: v.literal("session/update"),
		params: v.strictObject({ sessionId: text, update: v.looseObject({ sessionUpdate: text }) }),
	}),
	v.strictObject({
		...version,
		method: v.picklist(["elicitation/complete", "$/cancel_request"]),
		params: v.looseObject({}),
	}),
	v.strictObject({
		...version,
		method: v.picklist(["session/request_permission", "elicitation/create", "fs/read_text_file", "fs/write_text_file"]),
		id: text,
		params: v.looseObject({}),
	}),
	v.strictObject({ ...version, id, result: v.looseObject({}) }),
	v.strictObject({
		...version,
		id: v.nullable(id),
		error: v.strictObject({ code: integer, message: text, data: v.union([errorDataSchema, versionDataSchema]) }),
	}),
]);
type Line = v.InferOutput<typeof envelopeSchema>;

/** The shapes of one version. */
interface Shapes {
	readonly updates: Readonly<Record<string, v.GenericSchema>>;
	readonly requests: Readonly<Record<string, { readonly payload: v.GenericSchema }>>;
}
const first: Shapes = { updates: updateSchemas, requests: acpProtocol.requests };
const draft: Shapes = { updates: draftUpdateSchemas, requests: draftProtocol.requests };

/** For a server that speaks with editors. */
export const createAcpSniffer = prepareSniffers<Line>({
	descriptions: [acp],
	envelope: envelopeSchema,
	createCheck: () => {
		/** Sessions that the client knows, because it has named them or was answered with them. */
		const known = new Set<unknown>();
		/** Calls that it was sent. */
		const calls = new Set<unknown>();
		return {
			sent({ params }) {
				if (isRecord(params)) known.add(params["sessionId"]);
			},
			received(value, line) {
				if (!isWhole(value, first)) throw new Error(`more or less than its shape: ${line}`);
				if ("result" in value) known.add(value.result["sessionId"]);
				if (!("params" in value) || !("sessionId" in value.params)) return;
				const { sessionId } = value.params;
				if (!known.has(sessionId)) throw new Error(`about a session that the client does not know: ${line}`);
				if (value.method !== "session/update") return;
				const { sessionUpdate, toolCallId } = value.params.update;
				if (sessionUpdate === "tool_call") calls.add(toolCallId);
				else if (sessionUpdate === "tool_call_update" && !calls.has(toolCallId))
					throw new Error(`about a call that was not sent: ${line}`);
			},
		};
	},
});

/** The same for version 2, whose calls have one kind of update. */
export const createDraftSniffer = prepareSniffers<Line>({
	descriptions: [acpDraft],
	envelope: envelopeSchema,
	createCheck: () => {
		const known = new Set<unknown>();
		return {
			sent({ params }) {
				if (isRecord(params)) known.add(params["sessionId"]);
			},
			received(value, line) {
				if (!isWhole(value, draft)) throw new Error(`more or less than its shape: ${line}`);
				if ("result" in value) known.add(value.result["sessionId"]);
				if (!("params" in value) || !("sessionId" in value.params)) return;
				if (!known.has(value.params["sessionId"])) {
					throw new Error(`about a session that the client does not know: ${line}`);
				}
			},
		};
	},
});

function isWhole(value: Line, { updates, requests }: Shapes): boolean {
	// Results are held against their methods, errors against the schema of the envelope.
	if ("error" in value || "result" in value) return true;
	if (value.method === "session/update") {
		const { sessionUpdate, ...members } = value.params.update;
		return isWholeAs(updates[sessionUpdate], members);
	}
	if ("id" in value) return isWholeAs(requests[value.method]?.payload, value.params);
	return isWholeAs(notificationSchemas[value.method], value.params);
}

/** Whether a value has all that is declared, and nothing else. */
function isWholeAs(schema: v.GenericSchema | undefined, value: unknown): boolean {
	if (schema === undefined) return false;
	const parsed = v.safeParse(schema, value);
	return parsed.success && isDeepStrictEqual(JSON.parse(JSON.stringify(parsed.output)), value);
}
