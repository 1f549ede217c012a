// Checks every line a server sends against the declared shapes: whole, in order, nothing missing, nothing beside it.
import * as v from "valibot";
import { isRecord, toJsonLine } from "../../src/base/json.ts";
import { contentPartSchema } from "../../src/events/content.ts";
import { isRequestType, messageDeclarations, nestedMessageSchema, toMessageType } from "../../src/messages/message.ts";

const integer = v.pipe(v.number(), v.integer());
const text = v.string();
const toolLists = v.strictObject({
	accepted: v.array(text),
	rejected: v.array(v.strictObject({ name: text, reason: text })),
});
const slashCommand = v.strictObject({ name: text, description: text, aliases: v.array(text) });

/** Results of every method of every dialect (wire-protocol §2, §7.1). */
const resultSchema = v.union([
	v.strictObject({}),
	v.strictObject({ status: v.picklist(["finished", "cancelled", "steered", "ok", "idle"]) }),
	v.strictObject({ status: v.literal("max_steps_reached"), steps: integer }),
	v.strictObject({ status: v.picklist(["finished", "cancelled"]), events: integer, requests: integer }),
	v.strictObject({
		protocol_version: text,
		server: v.strictObject({ name: text, version: text }),
		slash_commands: v.array(slashCommand),
		external_tools: v.optional(toolLists),
		hooks: v.strictObject({ supported_events: v.array(text), configured: v.record(text, integer) }),
		capabilities: v.strictObject({ supports_question: v.literal(true) }),
	}),
	v.strictObject({ status: v.literal("ok"), plan_mode: v.boolean() }),
]);

const envelopeSchema = v.union([
	v.strictObject({ jsonrpc: v.literal("2.0"), method: v.literal("event"), params: v.looseObject({ type: text }) }),
	v.strictObject({
		jsonrpc: v.literal("2.0"),
		method: v.literal("request"),
		id: text,
		params: v.looseObject({ type: text }),
	}),
	v.strictObject({ jsonrpc: v.literal("2.0"), id: text, result: resultSchema }),
	v.strictObject({
		jsonrpc: v.literal("2.0"),
		id: v.nullable(text),
		error: v.strictObject({ code: integer, message: text, data: v.optional(v.unknown()) }),
	}),
]);

const toolFunction = v.strictObject({ name: text, arguments: v.optional(text) });
const legacyResult = v.strictObject({
	output: v.union([text, v.looseObject({}), v.array(v.looseObject({}))]),
	message: text,
	brief: text,
});

/** Payloads of the legacy dialect; null for types that have none (wire-protocol §7.1). */
export const legacyPayloads: Readonly<Record<string, v.GenericSchema | null>> = {
	step_begin: v.strictObject({ n: integer }),
	step_interrupted: null,
	compaction_begin: null,
	compaction_end: null,
	status_update: v.strictObject({ context_usage: v.number() }),
	content_part: contentPartSchema,
	tool_call: v.strictObject({
		type: v.literal("function"),
		id: text,
		function: toolFunction,
		extras: v.optional(v.record(text, v.unknown())),
	}),
	tool_call_part: v.strictObject({ arguments_part: v.optional(text) }),
	tool_result: v.strictObject({ tool_call_id: text, ok: v.boolean(), result: legacyResult }),
	subagent_event: v.strictObject({ task_tool_call_id: v.optional(text), event: v.looseObject({ type: text }) }),
	approval: v.strictObject({ id: text, tool_call_id: text, sender: text, action: text, description: text }),
};

/** Throws when the line is not JSON that some dialect may send. */
export function sniff(line: string): void {
	const value: unknown = JSON.parse(line);
	v.parse(envelopeSchema, value, { message: `unknown envelope: ${line}` });
	if (toJsonLine(value) !== line) throw new Error(`not compact JSON: ${line}`);
	if (!isRecord(value) || !isRecord(value["params"])) return;
	const { method, id, params } = value;
	const type = String(params["type"]);
	if (type in legacyPayloads) sniffLegacy(type, params);
	else {
		if (isRequestType(type) !== (method === "request")) throw new Error(`wrong method for ${type}: ${line}`);
		sniffMessage(params, line);
	}
	if (method === "request" && isRecord(params["payload"]) && params["payload"]["id"] !== id) {
		throw new Error(`the id of the request is not the id in its payload: ${line}`);
	}
}

/** The payload must be its own parse: every field there, in the declared order. */
function sniffMessage(message: Record<string, unknown>, line: string): void {
	const type = toMessageType(String(message["type"]));
	if (type === null || type !== message["type"]) throw new Error(`unknown message type: ${line}`);
	if (Object.keys(message).join() !== "type,payload") throw new Error(`not a message: ${line}`);
	const parsed = v.parse(messageDeclarations[type].schema, message["payload"]);
	if (JSON.stringify(parsed) !== JSON.stringify(message["payload"])) {
		throw new Error(`the payload is not its own parse: ${line}\nparse: ${JSON.stringify(parsed)}`);
	}
	if (type === "SubagentEvent" && "event" in parsed) sniffMessage(v.parse(nestedMessageSchema, parsed.event), line);
}

function sniffLegacy(type: string, params: Record<string, unknown>): void {
	const schema = legacyPayloads[type] ?? null;
	if (JSON.stringify(params).includes(":null")) throw new Error(`a null in ${JSON.stringify(params)}`);
	if (schema === null) {
		if ("payload" in params) throw new Error(`${type} has a payload`);
		return;
	}
	v.parse(schema, params["payload"], { message: `unknown payload: ${JSON.stringify(params)}` });
	const { payload } = params;
	if (type === "subagent_event" && isRecord(payload) && isRecord(payload["event"])) {
		sniffLegacy(String(payload["event"]["type"]), payload["event"]);
	}
}
