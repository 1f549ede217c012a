import { describe, expect, it } from "vitest";
import { turnEvent } from "../../../../test/support/gateway/turn-event.ts";
import { createFakeClock } from "../../../../test/support/host/campaign-clock.ts";
import type { AgentEvent, EventBodyOf } from "../../../api/values/event.ts";
import { toPublicEvent } from "../../shared/public-event.ts";
import { EventWriter, mergeSpan } from "./event-stream.ts";

function createSubject() {
	const written: string[] = [];
	const clock = createFakeClock();
	const writer = new EventWriter({ write: (text) => void written.push(text) }, clock);
	let offset = 0;
	const say = (text: string) => {
		writer.add(turnEvent({ type: "content.delta", part: { type: "text", text }, offset }));
		offset += text.length;
	};
	const texts = () => written.map((text) => [...text.matchAll(/"text":"([^"]*)"/g)].map(([, found]) => found));
	return { writer, clock, say, texts, written };
}

describe("EventWriter", () => {
	it("writes what comes after a pause at once, and merges what follows it soon", () => {
		const { writer, clock, say, texts } = createSubject();
		say("a");
		say("b");
		writer.settle();
		expect(texts()).toEqual([["ab"]]);
		for (const text of ["c", "d", "e"]) {
			say(text);
			writer.settle();
			clock.advance(1);
		}
		expect(texts()).toHaveLength(1);
		clock.advance(mergeSpan - 3);
		expect(texts()).toEqual([["ab"], ["cde"]]);
		clock.advance(mergeSpan);
		say("f");
		writer.settle();
		expect(texts()).toEqual([["ab"], ["cde"], ["f"]]);
	});

	it("writes a durable event after what came before it", () => {
		const { writer, say, texts, written } = createSubject();
		say("a");
		writer.settle();
		say("b");
		writer.settle();
		writer.add(turnEvent({ type: "recovery.reported" }, { seq: 7, epoch: "e" }));
		expect(texts()).toEqual([["a"], ["b"], []]);
		expect(written.at(-1)).toMatch(/^id: s@e:7\nevent: e\n/);
	});

	it.each<[string, EventBodyOf<"content.delta">, Partial<AgentEvent>]>([
		["a text", { type: "content.delta", part: { type: "text", text: 'a "b"\n\u2028' }, offset: 3 }, {}],
		["a text without its place", { type: "content.delta", part: { type: "text", text: "a" } }, { turnId: null }],
		[
			"what a subagent thinks",
			{ type: "content.delta", part: { type: "think", think: "a", encrypted: null }, offset: 0 },
			{ agentPath: [{ agentId: "a1", parentToolCallId: "c1", subagentType: "coder" }] },
		],
	])("writes a piece of %s in the form of every event", (_what, body, more) => {
		const { writer, written } = createSubject();
		const event = { ...turnEvent(body), ...more };
		writer.add(event);
		writer.flush();
		expect(written).toEqual([`event: v\ndata: ${JSON.stringify(toPublicEvent(event))}\n\n`]);
	});
});
