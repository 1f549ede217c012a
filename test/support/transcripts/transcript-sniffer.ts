// Checks every line a server sends against the declared shapes and the published JSON Schema: whole, in order, nothing
// missing, nothing added.
import * as v from "valibot";
import type { ProtocolDescription } from "../../../scripts/protocol/description.ts";
import { kimiWire } from "../../../scripts/protocol/kimi-wire.ts";
import { legacy } from "../../../scripts/protocol/legacy.ts";
import { isRecord, toJsonLine } from "../../../src/base/json.ts";
import { fitting } from "../protocol/published-schema.ts";

/** What listens to one conversation. */
export interface Sniffer {
	/** Hears what the client sends, to know whose results come back. */
	sent(bytes: string): void;
	/** Throws when the line is not one that the server may send now. */
	received(line: string): void;
}

/** The lines of a server that speaks any of some dialects. */
export interface LineForm<Line extends object> {
	readonly descriptions: readonly ProtocolDescription[];
	readonly envelope: v.GenericSchema<unknown, Line>;
	/** For one conversation. */
	createCheck(): LineCheck<Line>;
}

/** What looks into the lines of one conversation. */
export interface LineCheck<Line extends object> {
	/** Hears a call of the client. */
	sent?(call: Readonly<Record<string, unknown>>): void;
	/** Throws at whatever is not whole, or more than is declared, or not to be sent now. */
	received(value: Line, line: string): void;
}

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

const descriptions = [kimiWire, legacy];
const protocols = descriptions.map(({ protocol }) => protocol);

/** For a server of one session: Kimi Wire and the dialect before it. */
export const createSniffer = prepareSniffers({
	descriptions,
	envelope: envelopeSchema,
	createCheck: () => ({
		received(value, line) {
			if (!("params" in value)) return;
			sniffMessage(value.params, value.method, line);
			if ("id" in value) sniffId(value.params, value.id, line);
		},
	}),
});

/** What all sniffers of a form have in common is made once. */
export function prepareSniffers<Line extends object>(form: LineForm<Line>): () => Sniffer {
	const checks = form.descriptions.map((description) => fitting(description, "ServerLine"));
	return () => {
		/** Methods by the ids of their requests, which may repeat. */
		const called = new Map<unknown, string[]>();
		const check = form.createCheck();
		return {
			sent(bytes) {
				for (const line of bytes.split("\n")) {
					const value = parse(line);
					if (!isRecord(value) || typeof value["method"] !== "string") continue;
					check.sent?.(value);
					called.set(value["id"], [...(called.get(value["id"]) ?? []), value["method"]]);
				}
			},
			received(line) {
				const value = v.parse(form.envelope, JSON.parse(line), { message: `unknown envelope: ${line}` });
				if (!isCompact(value, line)) throw new Error(`not compact JSON: ${line}`);
				if (!checks.some((fits) => fits(value))) throw new Error(`no line of the published schema: ${line}`);
				check.received(value, line);
				if ("result" in value && "id" in value) {
					sniffResult(form.descriptions, value.result, called.get(value.id) ?? [], line);
				}
			},
		};
	};
}

/** Ids of 64 bits lose digits when they are parsed. */
function isCompact(value: object, line: string): boolean {
	return toJsonLine(value) === line || /^\{"jsonrpc":"2.0","id":-?\d{16,}[,}]/.test(line);
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

function sniffResult(
	described: readonly ProtocolDescription[],
	result: unknown,
	methods: readonly string[],
	line: string,
): void {
	const shapes = methods.flatMap((method) =>
		described.flatMap(({ protocol }) => protocol.methods[method]?.result ?? []),
	);
	if (shapes.some((schema) => isOwnParse(schema, result))) return;
	throw new Error(`no result of ${methods.join(" or ") || "a request"}: ${line}`);
}

/** Whether a value has all that is declared, in that order, and nothing else. */
export function isOwnParse(schema: v.GenericSchema, value: unknown): boolean {
	const parsed = v.safeParse(schema, value);
	return parsed.success && JSON.stringify(parsed.output) === JSON.stringify(value);
}
