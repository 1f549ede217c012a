import { describe, expect, it } from "vitest";
import type { ToolCall } from "./content.ts";
import { createDeltaMerger, withArguments } from "./delta-merger.ts";
import type { EventBody } from "./event.ts";

const text = (value: string): EventBody => ({ type: "content.delta", part: { type: "text", text: value } });
const think = (value: string, encrypted: string | null = null): EventBody => ({
	type: "content.delta",
	part: { type: "think", think: value, encrypted },
});
const image: EventBody = {
	type: "content.delta",
	part: { type: "image_url", image_url: { url: "u", id: null } },
};
const call = (id: string, args: string | null = null): ToolCall => ({
	type: "function",
	id,
	function: { name: "T", arguments: args },
	extras: null,
});
const started = (id: string, args: string | null = null): EventBody => ({
	type: "tool-call.started",
	call: call(id, args),
});
const piece = (value: string | null): EventBody => ({ type: "tool-call.delta", arguments_part: value });
const completedText = (value: string) => ({ type: "content.completed", part: { type: "text", text: value } });
const completedThink = (value: string, encrypted: string | null = null) => ({
	type: "content.completed",
	part: { type: "think", think: value, encrypted },
});
const completedCall = (id: string, args: string | null) => ({ type: "tool.requested", call: call(id, args) });
const end: EventBody = { type: "turn.ended", outcome: null };

function merged(...events: readonly EventBody[]): EventBody[] {
	const merger = createDeltaMerger();
	return [...events.map((event) => merger.push(event).completed), merger.flush()].filter((event) => event !== null);
}

describe("createDeltaMerger", () => {
	it("merges across a budget warning", () => {
		const warning: EventBody = { type: "budget.warning", budget: "time", scope: "turn", used: 8, limit: 10 };
		expect(merged(text("a"), warning, text("b"), end)).toEqual([completedText("ab")]);
	});

	it("merges text with text", () => {
		expect(merged(text("Hel"), text(""), text("lo"))).toEqual([completedText("Hello")]);
	});

	it("merges reasoning until a part is signed", () => {
		expect(merged(think("a"), think("b", "s1"), think("c"), think("d", "s2"))).toEqual([
			completedThink("ab", "s1"),
			completedThink("cd", "s2"),
		]);
	});

	it("does not merge text with reasoning", () => {
		expect(merged(think("a"), text("b"), think("c"))).toEqual([
			completedThink("a"),
			completedText("b"),
			completedThink("c"),
		]);
	});

	it("never merges media", () => {
		const completed = { type: "content.completed", part: image.type === "content.delta" ? image.part : null };
		expect(merged(image, image, text("a"))).toEqual([completed, completed, completedText("a")]);
	});

	it("adds the following argument parts to a call, nulls counting as empty", () => {
		expect(merged(started("c1", '{"a":'), piece(null), piece("1"), piece("}"))).toEqual([
			completedCall("c1", '{"a":1}'),
		]);
		expect(merged(started("c1"), piece("{"), piece("}"))).toEqual([completedCall("c1", "{}")]);
		expect(merged(started("c1"), piece(null))).toEqual([completedCall("c1", null)]);
		expect(merged(started("c1", ""))).toEqual([completedCall("c1", "")]);
	});

	it("does not merge calls with each other", () => {
		expect(merged(started("c1"), started("c2"), piece("{}"))).toEqual([
			completedCall("c1", null),
			completedCall("c2", "{}"),
		]);
	});

	it("merges stray argument parts with each other", () => {
		expect(merged(text("a"), piece("x"), piece(null), piece("y"), text("b"))).toEqual([
			completedText("a"),
			{ type: "tool-call.fragment", arguments_part: "xy" },
			completedText("b"),
		]);
		expect(merged(piece(null))).toEqual([{ type: "tool-call.fragment", arguments_part: null }]);
	});

	it("completes the merged event before any other event", () => {
		const merger = createDeltaMerger();
		expect(merger.push(text("a")).completed).toBeNull();
		expect(merger.push(end).completed).toEqual(completedText("a"));
		expect(merger.push(text("b")).completed).toBeNull();
		expect(merger.open()).toEqual(completedText("b"));
		expect(merger.flush()).toEqual(completedText("b"));
		expect(merger.flush()).toBeNull();
	});
});

describe("the place of a delta", () => {
	const offsets = (...events: readonly EventBody[]) => {
		const merger = createDeltaMerger();
		return events.map((event) => {
			const { body } = merger.push(event);
			return "offset" in body ? body.offset : null;
		});
	};

	it("counts the text of its item in UTF-16 units", () => {
		expect(offsets(text("He"), text("\u{1f600}"), text("llo"))).toEqual([0, 2, 4]);
		expect(offsets(think("ab"), think("c", "s1"), think("d"))).toEqual([0, 2, 0]);
		expect(offsets(text("ab"), end, text("c"))).toEqual([0, null, 0]);
	});

	it("counts the arguments of a call from those it began with", () => {
		expect(offsets(started("c1", "{"), piece("1"), piece(null), piece("}"))).toEqual([null, 1, 2, 2]);
		expect(offsets(started("c1"), piece("{"))).toEqual([null, 0]);
	});

	it("does not begin anew after an event that may come at any moment", () => {
		const running: EventBody = { type: "tool.started", toolCallId: "c1", name: "T", arguments: null, has_effect: true };
		expect(offsets(text("ab"), running, text("c"))).toEqual([0, null, 2]);
		expect(merged(text("ab"), running, text("c"))).toEqual([completedText("abc")]);
	});
});

describe("withArguments", () => {
	it("does not change its input", () => {
		const original = call("c1", "{");
		expect(withArguments(original, ["}"])).toEqual(call("c1", "{}"));
		expect(original).toEqual(call("c1", "{"));
	});
});
