// What a page shows of a session, by its events.
import { describe, expect, it } from "vitest";
import type { EventBody } from "../../src/events/event.ts";
import type { GatewayEvent } from "../../src/gateway/protocol.ts";
import type { CallBlock } from "./blocks.ts";
import { Conversation } from "./conversation.ts";

type Path = GatewayEvent["agentPath"];

function createSubject() {
	const conversation = new Conversation();
	let seq = 0;
	const take = (body: EventBody, isDurable = true, agentPath: Path = []) => {
		if (isDurable) seq += 1;
		const place = isDurable ? { seq, epoch: "e" } : {};
		conversation.take({ sessionId: "s", turnId: "t", agentPath, at: 1000 + seq, ...place, ...body });
	};
	return { conversation, take, kinds: () => conversation.blocks.map(({ kind }) => kind) };
}

const started: EventBody = { type: "turn.started", input: "hi" };
const ended: EventBody = { type: "turn.ended", outcome: { status: "finished" } };
const text = (value: string, offset: number): EventBody => ({
	type: "content.delta",
	part: { type: "text", text: value },
	offset,
});
const whole = (value: string): EventBody => ({ type: "content.completed", part: { type: "text", text: value } });
const called = (id: string, name = "Shell"): EventBody => ({
	type: "tool.requested",
	call: { type: "function", id, function: { name, arguments: "{}" }, extras: null },
});
const result = (toolCallId: string, isError = false): EventBody => ({
	type: "tool.result",
	toolCallId,
	result: { is_error: isError, output: "out", message: "", display: [], extras: null },
});

describe("a conversation", () => {
	it("builds a text from its pieces, and has it once when a piece comes again", () => {
		const { conversation, take } = createSubject();
		take(started);
		take(text("Hel", 0), false);
		take(text("lo", 3), false);
		take(text("lo", 3), false);
		expect(conversation.blocks.at(-1)).toMatchObject({ kind: "text", text: "Hello", isComplete: false });
		take(whole("Hello."));
		expect(conversation.blocks.at(-1)).toMatchObject({ kind: "text", text: "Hello.", isComplete: true });
		take(ended);
		expect([conversation.turnId, conversation.activity]).toEqual([null, null]);
	});

	it("takes a stored event once, however often it is sent", () => {
		const { conversation, take, kinds } = createSubject();
		take(started);
		const again = { sessionId: "s", turnId: "t", agentPath: [], at: 1, seq: 1, epoch: "e", ...started } as GatewayEvent;
		conversation.take(again);
		expect(kinds()).toEqual(["prompt"]);
	});

	it("follows a call from its request to its result, and tells failures from refusals", () => {
		const { conversation, take } = createSubject();
		take(started);
		for (const id of ["a", "b", "c"]) take(called(id));
		take({ type: "tool.started", toolCallId: "a", name: "Shell", arguments: null, has_effect: true });
		take({ type: "tool.progress", toolCallId: "a", stream: "stdout", text: "live", offset: 0 }, false);
		expect(conversation.blocks[1]).toMatchObject({ state: "running", output: "live" });
		take({ type: "tool.started", toolCallId: "c", name: "Shell", arguments: null, has_effect: true });
		take(result("a"));
		take(result("b", true));
		take(result("c", true));
		const states = conversation.blocks
			.filter((block): block is CallBlock => block.kind === "call")
			.map(({ state }) => state);
		expect(states).toEqual(["done", "refused", "failed"]);
	});

	it("puts what a subagent does below the call that started it", () => {
		const { conversation, take, kinds } = createSubject();
		take(started);
		take(called("p", "Agent"));
		const path = [{ parentToolCallId: "p", agentId: "1", subagentType: "coder" }];
		take(called("q"), true, path);
		take(whole("inner"), true, path);
		expect(kinds()).toEqual(["prompt", "call"]);
		const [, call] = conversation.blocks;
		expect(call?.kind === "call" ? call.lane.map(({ kind }) => kind) : []).toEqual(["call", "text"]);
	});

	it("has what waits for an answer until somebody gives it, and says who", () => {
		const { conversation, take } = createSubject();
		take(started);
		take(called("a"));
		const approval = {
			kind: "approval",
			id: "i",
			toolCallId: "a",
			sender: "Shell",
			action: "run",
			description: "ls",
		} as const;
		const nobody = { sourceKind: null, sourceId: null, agentId: null, subagentType: null, sourceDescription: null };
		take({ type: "interaction.requested", interaction: { ...approval, ...nobody, display: [] } });
		expect(conversation.asks).toHaveLength(1);
		expect(conversation.activity).toBe("Waiting for you");
		take({
			type: "interaction.resolved",
			interactionId: "i",
			answer: { kind: "approval", decision: "reject", feedback: "no" },
			by: { kind: "client", clientId: "other", name: "phone" },
		});
		expect(conversation.asks).toEqual([]);
		expect(conversation.blocks[1]).toMatchObject({
			state: "refused",
			decision: "Rejected in another window (phone): no",
		});
	});

	it("shows what the turn has said so far to a page that comes later, after the events before it", () => {
		const { conversation, take } = createSubject();
		const snapshot = {
			sessionId: "s",
			workDir: "/w",
			turnId: "t",
			hasHistory: true,
			cursor: { epoch: "e", seq: 1 },
			planMode: false,
			approvesEverything: true,
			isAway: false,
			model: null,
			title: null,
			openInteractions: [],
			clients: [],
			unfinished: [{ type: "content.delta", agentPath: [], part: { type: "text", text: "so far" }, offset: 0 }],
		};
		conversation.takeState("c", snapshot);
		expect(conversation.blocks).toEqual([]);
		take(started);
		expect(conversation.blocks.map(({ kind }) => kind)).toEqual(["prompt", "text"]);
		expect(conversation.mode).toBe("yolo");
		take(text(" and on", 6), false);
		expect(conversation.blocks[1]).toMatchObject({ text: "so far and on" });
	});

	it("marks calls that a stopped turn cut off", () => {
		const { conversation, take } = createSubject();
		take(started);
		take(called("a"));
		take({ type: "turn.ended", outcome: { status: "cancelled" } });
		expect(conversation.blocks.map((block) => (block.kind === "call" ? block.state : block.kind))).toEqual([
			"prompt",
			"interrupted",
			"end",
		]);
	});
});
