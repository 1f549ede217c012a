import { describe, expect, it } from "vitest";
import { createMeerkatSniffer } from "../meerkat/meerkat-sniffer.ts";
import { createSniffer, type Sniffer } from "./transcript-sniffer.ts";

const event = (type: string, payload?: object) =>
	JSON.stringify({ jsonrpc: "2.0", method: "event", params: payload === undefined ? { type } : { type, payload } });
const result = (value: unknown, id = "1") => JSON.stringify({ jsonrpc: "2.0", id, result: value });
const request = (id: string, payload: object) =>
	JSON.stringify({ jsonrpc: "2.0", method: "request", id, params: { type: "ToolCallRequest", payload } });

function sniff(line: string, ...sent: readonly string[]): string {
	return sniffWith(createSniffer(), line, ...sent);
}

function sniffWith(sniffer: Sniffer, line: string, ...sent: readonly string[]): string {
	for (const bytes of sent) sniffer.sent(bytes);
	try {
		sniffer.received(line);
		return "good";
	} catch (error) {
		return error instanceof Error ? error.message : "bad";
	}
}

describe("the sniffer", () => {
	it.each([
		[event("StepBegin", { n: 1 })],
		[event("step_begin", { n: 1 })],
		[event("step_interrupted")],
		[event("TextPart", { type: "text", text: "Hi" })],
		[request("c", { id: "c", name: "t", arguments: "{}" })],
		[JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Invalid JSON format", data: null } })],
	])("lets %s pass", (line) => expect(sniff(line)).toBe("good"));

	it.each([
		["white space", `${event("StepBegin", { n: 1 })} `, /compact/],
		["keys in another order", '{"method":"event","jsonrpc":"2.0","params":{"type":"TurnEnd","payload":{}}}', /compact/],
		[
			"a member beside",
			'{"jsonrpc":"2.0","method":"event","params":{"type":"TurnEnd","payload":{}},"more":1}',
			/envelope/,
		],
		["an unknown event", event("TurnMiddle", {}), /no line of the published schema/],
		["a missing field", event("ApprovalResponse", { request_id: "U", response: "approve" }), /published schema/],
		["a field too many", event("StepBegin", { n: 1, m: 2 }), /not its own parse/],
		["fields in another order", event("PlanDisplay", { file_path: "/p", content: "c" }), /not its own parse/],
		["a null in the legacy dialect", event("tool_call_part", { arguments_part: null }), /published schema/],
		["a payload where there is none", event("step_interrupted", {}), /published schema/],
		["a request as an event", event("ToolCallRequest", { id: "c", name: "t", arguments: "{}" }), /published schema/],
		["two ids", request("d", { id: "c", name: "t", arguments: "{}" }), /not the id in its payload/],
		[
			"an unknown error",
			JSON.stringify({ jsonrpc: "2.0", id: "1", error: { code: 7, message: "", data: null } }),
			/schema/,
		],
		[
			"a subagent's unknown event",
			event("SubagentEvent", {
				parent_tool_call_id: "P",
				agent_id: null,
				subagent_type: null,
				event: { type: "TurnMiddle", payload: {} },
			}),
			/unknown event/,
		],
	])("catches %s", (_name, line, complaint) => expect(sniff(line)).toMatch(complaint));

	it("checks a result against the method that was called", () => {
		const cancel = '{"jsonrpc":"2.0","id":"1","method":"cancel"}';
		const replay = '{"jsonrpc":"2.0","id":"1","method":"replay"}\n';
		const replayed = result({ status: "finished", events: 0, requests: 0 });
		expect(sniff(replayed, replay)).toBe("good");
		expect(sniff(replayed, cancel)).toMatch(/no result of cancel/);
		expect(sniff(replayed, `${cancel}\n${replay}`)).toBe("good");
		expect(sniff(result({}), cancel)).toBe("good");
		expect(sniff(result({}))).toMatch(/no result of a request/);
		expect(sniff(result({ status: "finished", events: 0 }), replay)).not.toBe("good");
	});
});

describe("the sniffer of Meerkat RPC", () => {
	const id = "0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55";
	const delivered = (payload: object) =>
		JSON.stringify({ jsonrpc: "2.0", method: "session/event", params: { session_id: id, event: payload } });
	const enveloped = (payload: object) => {
		const source = { type: "session", session_id: id };
		return delivered({ event_id: id, source, seq: 1, timestamp_ms: 0, payload });
	};
	const failure = (code: number, data: object) =>
		JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code, message: "no", data } });
	const delta = { type: "text_delta", delta: "a" };
	const received = { type: "tool_result_received", id: "1", name: "t", is_error: false };
	const busy = { code: "SESSION_BUSY" };

	const sniffLater = (line: string) => {
		const sniffer = createMeerkatSniffer();
		sniffer.sent('{"jsonrpc":"2.0","id":1,"method":"capabilities/get"}');
		sniffer.received(
			'{"jsonrpc":"2.0","id":1,"result":{"contract_version":"0.8","capabilities":[{"id":"a","description":"a","status":"Available"}]}}',
		);
		return sniffWith(sniffer, line);
	};

	it.each<[string, string, boolean, boolean]>([
		["an event", delivered(delta), true, false],
		["an event in its envelope", enveloped(delta), false, true],
		["a thought", delivered({ type: "reasoning_delta", delta: "a" }), false, false],
		["a thought in its envelope", enveloped({ type: "reasoning_delta", delta: "a" }), false, true],
		["a received result", delivered(received), true, false],
		["a received result with its content", delivered({ ...received, content: [] }), false, false],
		["a received result in its envelope, without its content", enveloped(received), false, false],
		["a number of the first protocol", failure(-32001, busy), true, false],
		["a number of the present contract", failure(-32002, busy), false, true],
		["more than an error has", failure(-32001, { ...busy, more: 1 }), false, false],
		["keys in another order", delivered({ delta: "a", type: "text_delta" }), false, false],
		["an event of another dialect", event("StepBegin", { n: 1 }), false, false],
	])("of %s: %s", (_name, line, isFirst, isLater) => {
		expect([sniffWith(createMeerkatSniffer(), line) === "good", sniffLater(line) === "good"]).toEqual([
			isFirst,
			isLater,
		]);
	});

	it("checks a result against the method that was called", () => {
		const list = '{"jsonrpc":"2.0","id":9007199254740993,"method":"session/list"}';
		const listed = '{"jsonrpc":"2.0","id":9007199254740993,"result":{"sessions":[]}}';
		expect(sniffWith(createMeerkatSniffer(), listed, list)).toBe("good");
		expect(sniffWith(createMeerkatSniffer(), listed, list.replace("list", "read"))).toMatch(
			/no result of session.read/,
		);
	});
});
