import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { isRecord } from "../../src/base/json.ts";
import { fitting } from "../../test/support/protocol/published-schema.ts";
import { expectedLines, readTranscripts } from "../../test/support/transcripts/transcript-files.ts";
import { toDefinitions, toProtocolSchema } from "./json-schema.ts";
import { toMarkdown } from "./markdown.ts";
import { meerkat } from "./meerkat.ts";

const id = "0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55";
const call = (method: string, params?: unknown) => ({ jsonrpc: "2.0", id: 1, method, params });
const answer = (result: unknown) => ({ jsonrpc: "2.0", id: 1, result });
/** To a request of the server. */
const reply = (result: unknown) => ({ jsonrpc: "2.0", id: "a", result });
const failure = (code: number, data?: object) => ({ jsonrpc: "2.0", id: 1, error: { code, message: "no", data } });
const delivered = (event: object) => ({ jsonrpc: "2.0", method: "session/event", params: { session_id: id, event } });
const enveloped = (payload: object) =>
	delivered({ event_id: id, source: { type: "session", session_id: id }, seq: 1, timestamp_ms: 0, payload });
/** As on the wire: without what is undefined. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("the JSON Schema of Meerkat RPC", () => {
	const fitsClient = fitting(meerkat, "ClientLine");
	const fitsServer = fitting(meerkat, "ServerLine");

	it.each<[string, unknown, boolean]>([
		["a session", call("session/create", { prompt: "Hi", enable_builtins: null, later: 1 }), true],
		["a session without prompt", call("session/create", {}), false],
		["a list without params", call("session/list"), true],
		["a page of a list", call("session/list", { limit: 1, offset: 1 }), true],
		["an endless page", call("session/list", { limit: 1001 }), false],
		["params by position", call("turn/start", [id, "Hi"]), false],
		["a fractional id", { ...call("session/list"), id: 1.5 }, false],
		["a string as id", { ...call("session/list"), id: "a" }, true],
		["no version", { id: 1, method: "session/list" }, false],
		["a method nobody knows", call("session/resume", {}), false],
		["the end of the handshake", { jsonrpc: "2.0", method: "initialized" }, true],
		["the end of the handshake with an id", call("initialized"), false],
		["a bare configuration", call("config/set", { agent: { model: "m" } }), true],
		["a configuration in its envelope", call("config/set", { config: { agent: {} } }), true],
		["no configuration", call("config/set"), false],
		["a decision", reply({ decision: "approve" }), true],
		["a decision under a number", { ...reply({ decision: "approve" }), id: 1 }, false],
		["another decision", reply({ decision: "later" }), false],
		["blocks of a tool", reply({ content: [{ type: "text", text: "a" }] }), true],
	])("of what clients send: %s, %j: %s", (_name, value, isLine) => expect(fitsClient(plain(value))).toBe(isLine));

	it.each<[string, unknown, boolean]>([
		["an event", delivered({ type: "text_delta", delta: "a" }), true],
		["an event in its envelope", enveloped({ type: "text_delta", delta: "a" }), true],
		["a thought in its envelope", enveloped({ type: "reasoning_delta", delta: "a" }), true],
		["a thought in the first protocol", delivered({ type: "reasoning_delta", delta: "a" }), false],
		["half an event", delivered({ type: "text_delta" }), false],
		["half an event in its envelope", enveloped({ type: "text_delta" }), false],
		["an envelope in capitals", delivered({ ...enveloped({}).params.event, event_id: id.toUpperCase() }), false],
		["an unknown event", delivered({ type: "checkpoint_saved" }), false],
		["the first session", answer({ session_id: id, state: "idle" }), true],
		["a state nobody knows", answer({ sessions: [{ session_id: id, state: "closed" }] }), false],
		["no result", answer({}), false],
		["an error", failure(-32000, { session_id: id, code: "SESSION_NOT_FOUND" }), true],
		["an error of no name", failure(-32000), false],
		["a name nobody knows", failure(-32000, { code: "SESSION_LOST" }), false],
		["a number nobody knows", failure(-32099, { code: "INTERNAL_ERROR" }), false],
	])("of what the server sends: %s, %j: %s", (_name, value, isLine) => expect(fitsServer(plain(value))).toBe(isLine));

	it("lists errors by name, with the number of each era", () => {
		const schema: unknown = plain(toProtocolSchema(meerkat));
		const index = isRecord(schema) && isRecord(schema["x-protocol"]) ? schema["x-protocol"] : {};
		expect(index["errors"]).toContainEqual({ name: "SESSION_BUSY", first: -32001, contract: -32002, since: null });
		expect(toMarkdown(meerkat)).toContain("| `SESSION_BUSY` | -32001 | -32002 |");
	});
});

describe("what clients send in the transcripts of Meerkat RPC", () => {
	const fits = fitting(meerkat, "ClientLine");
	const refusal = /"id":([^,]+),"error":\{"code":(?:-32700|-32600|-32601|-32602),/;
	/** These send what no client should. */
	const played = readTranscripts().filter(
		({ name, server }) => server === "meerkat" && !/envelope|malformed|oversized/.test(name),
	);

	it.each(played.map((transcript) => [transcript.name, transcript] as const))(
		"fits its schema, in %s, unless it is refused",
		(_name, transcript) => {
			const refused = new Set(expectedLines(transcript).flatMap((line) => refusal.exec(line)?.[1] ?? []));
			const sent = transcript.conversations
				.flat()
				.flatMap((move) => (move.kind === "send" ? [Buffer.from(move.bytes, "latin1").toString("utf8")] : []))
				.filter((text) => !refused.has(JSON.stringify(JSON.parse(text).id)));
			expect(sent).not.toEqual([]);
			for (const text of sent) expect([text, fits(JSON.parse(text))]).toEqual([text, true]);
		},
	);
});

describe("a schema whose values its type does not show", () => {
	it("is of objects when only those pass, and cannot be anything else", () => {
		expect(toDefinitions({ One: v.custom(isRecord) }, "client")).toEqual({ One: { type: "object" } });
		expect(() => toDefinitions({ One: v.custom(() => true) }, "client")).toThrow("cannot be told");
		expect(() => toDefinitions({ One: v.custom(Number.isInteger) }, "client")).toThrow("cannot be told");
	});

	it("describes what happens to a value that does not fit, where it is accepted", () => {
		const shapes = { One: v.object({ n: v.fallback(v.optional(v.number(), 1), 1) }) };
		const { One } = toDefinitions(shapes, "client");
		expect(One?.properties?.["n"]).toEqual({
			type: "number",
			default: 1,
			description: "What does not fit is taken for absent.",
		});
		expect(toDefinitions(shapes, "server")["One"]?.properties?.["n"]).toEqual({ type: "number" });
	});
});
