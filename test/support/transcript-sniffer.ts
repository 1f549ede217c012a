// Checks every line a server sends against the declared shapes and the published JSON Schema: whole, in order, nothing
// missing, nothing beside it.
import { Ajv2020 } from "ajv/dist/2020.js";
import * as v from "valibot";
import { descriptions } from "../../scripts/protocol/descriptions.ts";
import { toProtocolSchema } from "../../scripts/protocol/json-schema.ts";
import { isRecord, toJsonLine } from "../../src/base/json.ts";

const protocols = descriptions.map(({ protocol }) => protocol);

const text = v.string();
const envelopeSchema = v.union([
	v.strictObject({ jsonrpc: v.literal("2.0"), method: v.literal("event"), params: v.looseObject({ type: text }) }),
	v.strictObject({
		jsonrpc: v.literal("2.0"),
		method: v.literal("request"),
		id: text,
		params: v.looseObject({ type: text }),
	}),
	v.strictObject({ jsonrpc: v.literal("2.0"), id: text, result: v.unknown() }),
	v.strictObject({
		jsonrpc: v.literal("2.0"),
		id: v.nullable(text),
		error: v.strictObject({ code: v.pipe(v.number(), v.integer()), message: text, data: v.optional(v.unknown()) }),
	}),
]);

/** Whether a line is one that the server of some dialect may send, by the JSON Schema that is published. */
const fitsSchema = (() => {
	const ajv = new Ajv2020({ strict: false });
	const checks = descriptions.map((description) => {
		const schema = toProtocolSchema(description);
		return ajv.compile({ ...schema, anyOf: [{ $ref: "#/$defs/ServerLine" }] });
	});
	return (value: unknown) => checks.some((check) => check(value));
})();

/** What listens to one conversation. */
export interface Sniffer {
	/** Hears what the client sends, to know whose results come back. */
	sent(bytes: string): void;
	/** Throws when the line is not one that some dialect may send now. */
	received(line: string): void;
}

export function createSniffer(): Sniffer {
	/** Methods by the ids of their requests, which may repeat. */
	const called = new Map<unknown, string[]>();
	return {
		sent(bytes) {
			for (const line of bytes.split("\n")) {
				const value = parse(line);
				if (!isRecord(value) || typeof value["method"] !== "string") continue;
				called.set(value["id"], [...(called.get(value["id"]) ?? []), value["method"]]);
			}
		},
		received(line) {
			const value = v.parse(envelopeSchema, JSON.parse(line), { message: `unknown envelope: ${line}` });
			if (toJsonLine(value) !== line) throw new Error(`not compact JSON: ${line}`);
			if (!fitsSchema(value)) throw new Error(`no line of the published schema: ${line}`);
			if ("params" in value) sniffMessage(value.params, value.method, line);
			if ("params" in value && "id" in value) sniffId(value.params, value.id, line);
			if ("result" in value) sniffResult(value.result, called.get(value.id) ?? [], line);
		},
	};
}

function parse(line: string): unknown {
	try {
		return JSON.parse(line);
	} catch {
		return null;
	}
}

/** The payload must be its own parse: every field there, in the declared order. */
function sniffMessage(message: Record<string, unknown>, method: "event" | "request", line: string): void {
	const type = String(message["type"]);
	const protocol = protocols.find((one) => type in (method === "event" ? one.events : one.requests));
	const schema = method === "event" ? protocol?.events[type] : protocol?.requests[type]?.payload;
	if (schema === undefined) throw new Error(`unknown ${method}: ${line}`);
	if (Object.keys(message).join() !== (schema === null ? "type" : "type,payload")) {
		throw new Error(`not a message: ${line}`);
	}
	if (schema === null) return;
	const { payload } = message;
	if (!isOwnParse(schema, payload)) throw new Error(`the payload is not its own parse: ${line}`);
	if (!type.toLowerCase().startsWith("subagent") || !isRecord(payload)) return;
	if (!isRecord(payload["event"])) throw new Error(`an event of nobody: ${line}`);
	sniffMessage(payload["event"], "event", line);
}

function sniffId({ payload }: Record<string, unknown>, id: string, line: string): void {
	if (isRecord(payload) && payload["id"] === id) return;
	throw new Error(`the id of the request is not the id in its payload: ${line}`);
}

function sniffResult(result: unknown, methods: readonly string[], line: string): void {
	const shapes = methods.flatMap((method) => protocols.flatMap((protocol) => protocol.methods[method]?.result ?? []));
	if (shapes.some((schema) => isOwnParse(schema, result))) return;
	throw new Error(`no result of ${methods.join(" or ") || "a request"}: ${line}`);
}

function isOwnParse(schema: v.GenericSchema, value: unknown): boolean {
	const parsed = v.safeParse(schema, value);
	return parsed.success && JSON.stringify(parsed.output) === JSON.stringify(value);
}
