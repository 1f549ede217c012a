// What the page makes of events: whoever comes late, or comes back, shows what those show who were there.
import { describe, expect, it } from "vitest";
import type { EventBody } from "../src/api/values/event.ts";
import type { PublicEvent } from "../src/frontends/shared/public-event.ts";
import type { Block } from "./blocks.ts";
import { SessionView } from "./conversation.ts";
import type { Snapshot } from "./wire.ts";

let seq = 0;
const place = { sessionId: "s", turnId: "t", agentPath: [], at: 1 };
const durable = (body: EventBody): PublicEvent => ({ ...place, seq: ++seq, epoch: "e", ...body });
const volatile = (body: EventBody): PublicEvent => ({ ...place, ...body });
const textDelta = (text: string, offset: number) =>
	volatile({ type: "content.delta", part: { type: "text", text }, offset });
const completed = (text: string): EventBody => ({ type: "content.completed", part: { type: "text", text } });
const call = (id: string, text: string): EventBody => ({
	type: "tool.requested",
	call: { type: "function", id, function: { name: "Shell", arguments: text }, extras: null },
});
const started = (id: string): EventBody => ({
	type: "tool.started",
	toolCallId: id,
	name: "Shell",
	arguments: '{"command":"x"}',
	has_effect: true,
});
const progress = (text: string, offset: number) =>
	volatile({ type: "tool.progress", toolCallId: "a", stream: "stdout", text, offset });

const snapshotOf = (unfinished: readonly EventBody[], turnId: string | null = "t"): Snapshot => ({
	sessionId: "s",
	workDir: "/w",
	turnId,
	hasHistory: true,
	cursor: { epoch: "e", seq },
	planMode: false,
	approvesEverything: false,
	isAway: false,
	model: null,
	title: null,
	openInteractions: [],
	unfinished: unfinished.map((body) => ({ agentPath: [], ...body })),
	clients: [],
});

function begin(): SessionView {
	seq = 0;
	const view = new SessionView("window amber 0a1b2c3d");
	view.take(durable({ type: "turn.started", input: "count" }));
	return view;
}

const blocksOf = (view: SessionView): readonly Block[] => view.turns.flatMap(({ blocks }) => blocks);
const textsOf = (view: SessionView) => blocksOf(view).map((block) => (block.kind === "tool" ? block.live : block.text));

describe("a conversation", () => {
	it("goes on with a text that was begun before it came", () => {
		const view = begin();
		view.settle(snapshotOf([completed("one ")]));
		view.take(textDelta("two ", 4));
		expect(textsOf(view)).toEqual(["one two "]);
		view.take(durable(completed("one two three")));
		expect(textsOf(view)).toEqual(["one two three"]);
	});

	it("goes on with its own text when it comes back, whatever it missed of it", () => {
		const view = begin();
		view.take(textDelta("one ", 0));
		view.settle(snapshotOf([completed("one two ")]));
		view.take(textDelta("three", 8));
		expect(textsOf(view)).toEqual(["one two three"]);
	});

	it("ends a text whose completion it missed, and begins the next one", () => {
		const view = begin();
		view.take(textDelta("one ", 0));
		view.take(durable(completed("one two")));
		view.settle(snapshotOf([{ type: "content.completed", part: { type: "text", text: "three " } }]));
		view.take(textDelta("four", 6));
		expect(textsOf(view)).toEqual(["one two", "three four"]);
	});

	it("goes on with the arguments of a call that is being written", () => {
		const view = begin();
		view.settle(snapshotOf([call("a", '{"command":')]));
		view.take(volatile({ type: "tool-call.delta", arguments_part: '"x"}', offset: 11 }));
		expect(blocksOf(view)).toMatchObject([{ kind: "tool", id: "a", arguments: '{"command":"x"}', state: "preparing" }]);
	});

	it("shows output of a running call once, however often it is told of it", () => {
		const view = begin();
		for (const body of [call("a", '{"command":"x"}'), started("a")]) view.take(durable(body));
		view.take(progress("one ", 0));
		view.settle(
			snapshotOf([{ type: "tool.progress", toolCallId: "a", stream: "stdout", text: "one two ", offset: 0 }]),
		);
		view.take(progress("two three", 4));
		expect(textsOf(view)).toEqual(["one two three"]);
		view.take(progress("end", 100));
		expect(textsOf(view)).toEqual(["one two three…end"]);
	});

	it("takes each stored event once", () => {
		const view = begin();
		const event = durable(completed("one"));
		expect([view.take(event), view.take(event)]).toEqual([true, false]);
		expect(textsOf(view)).toEqual(["one"]);
	});

	it("ends a turn that the program did not end, with its calls", () => {
		const view = begin();
		for (const body of [call("a", "{}"), started("a")]) view.take(durable(body));
		view.take(textDelta("one", 0));
		view.settle(snapshotOf([], null));
		expect(view.isRunning).toBe(false);
		expect(view.turns[0]?.end?.text).toBe("The program ended in the middle of this turn.");
		expect(blocksOf(view)).toMatchObject([{ state: "interrupted" }, { text: "one", isDone: true }]);
	});

	it("says that an answer is incomplete", () => {
		const view = begin();
		view.take(durable({ type: "turn.ended", outcome: { status: "truncated", reason: "max_tokens" } }));
		expect(view.turns[0]?.end).toEqual({
			text: "The answer is incomplete: it reached a token limit (max_tokens).",
			tone: "warning",
			help: "Ask it to continue.",
		});
	});

	it("says what can be done about a failure", () => {
		const failed = (error: object) => {
			const view = begin();
			const body = { code: "provider-failed", message: "No answer.", data: null, ...error } as const;
			view.take(durable({ type: "turn.ended", outcome: { status: "failed", error: body } }));
			return view.turns[0]?.end;
		};
		expect(failed({ retryable: true })).toMatchObject({
			text: "No answer.",
			help: "Sending the prompt again may succeed.",
		});
		expect(failed({})).toMatchObject({ text: "No answer.", help: null });
		expect(failed({ code: "model-not-set", message: "LLM is not set" })?.text).toBe("This session has no model.");
	});

	it.each([
		[{ kind: "cancelled" }, "reject", "interrupted", "Not decided, because the turn was stopped"],
		[{ kind: "shutdown" }, "reject", "interrupted", "Not decided, because the program ended"],
		[{ kind: "client", name: "phone", clientId: "c" }, "reject", "refused", "Rejected by phone"],
		[
			{ kind: "client", name: "window amber 0a1b2c3d", clientId: "c" },
			"approve",
			"running",
			"Allowed once in this window",
		],
		// Of the same word, and another one.
		[
			{ kind: "client", name: "window amber ffffffff", clientId: "c" },
			"approve",
			"running",
			"Allowed once by window amber",
		],
	] as const)("says who settled an approval, or that nobody did: %j", (by, decision, state, words) => {
		const view = begin();
		view.take(durable(call("a", "{}")));
		const interaction = {
			kind: "approval",
			id: "i",
			toolCallId: "a",
			sender: "Shell",
			action: "run command",
			description: "x",
			sourceKind: "foreground_turn",
			sourceId: null,
			agentId: null,
			subagentType: null,
			sourceDescription: null,
		} as const;
		view.take(durable({ type: "interaction.requested", interaction: { ...interaction, display: [] } }));
		view.take(
			durable({
				type: "interaction.resolved",
				interactionId: "i",
				answer: { kind: "approval", decision, feedback: "" },
				by,
			}),
		);
		expect(blocksOf(view)).toMatchObject([{ state, decision: words }]);
	});
});
