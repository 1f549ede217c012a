// What came before, put before what is shown: the conversation is then the one of all the events, and what was shown are the same
// blocks.
import { describe, expect, it } from "vitest";
import { type EventBody, statusChanged } from "../src/api/values/event.ts";
import type { PublicEvent } from "../src/frontends/shared/public-event.ts";
import type { Block, ToolBlock } from "./blocks.ts";
import { SessionView } from "./conversation.ts";
import type { Snapshot } from "./wire.ts";

type Path = PublicEvent["agentPath"];
const own: Path = [];
const subagent: Path = [{ parentToolCallId: "agent", agentId: "one", subagentType: "explore" }];
const nested: Path = [...subagent, { parentToolCallId: "inner", agentId: "two", subagentType: "explore" }];

const text = (words: string): EventBody => ({ type: "content.completed", part: { type: "text", text: words } });
const request = (id: string, name: string): EventBody => ({
	type: "tool.requested",
	call: { type: "function", id, function: { name, arguments: `{"command":"${id}"}` }, extras: null },
});
const start = (id: string, name: string): EventBody => ({
	type: "tool.started",
	toolCallId: id,
	name,
	arguments: `{"command":"${id}"}`,
	has_effect: true,
});
type Display = Extract<EventBody, { type: "tool.result" }>["result"]["display"];
const settle = (id: string, display: Display = [], is_error = false): EventBody => ({
	type: "tool.result",
	toolCallId: id,
	result: { is_error, output: `output of ${id}`, message: "", display, extras: null },
});
const diff = (path: string) => ({
	type: "diff" as const,
	...{ path, old_text: "a\n", new_text: "a\nb\n", old_start: 1, new_start: 1, is_summary: false },
});
const ask = (id: string, display: Display = []): EventBody => ({
	type: "interaction.requested",
	interaction: {
		...{ kind: "approval", id: `ask-${id}`, toolCallId: id, sender: "Shell", action: "run command", description: "x" },
		...{ sourceKind: "foreground_turn", sourceId: null, agentId: null, subagentType: null, sourceDescription: null },
		display,
	},
});
const answer = (id: string, decision: "approve" | "reject"): EventBody => ({
	type: "interaction.resolved",
	interactionId: `ask-${id}`,
	answer: { kind: "approval", decision, feedback: "" },
	by: { kind: "client", name: "phone", clientId: "c" },
});
const usage = { input_other: 5, input_cache_creation: 1, input_cache_read: 7, output: 2 };

const log: readonly (readonly [Path, EventBody])[] = [
	[own, { type: "turn.started", input: "first" }],
	[own, { type: "step.started", n: 1 }],
	[own, text("I begin.")],
	[own, request("read", "ReadFile")],
	[own, request("look", "Glob")],
	[own, request("run", "Shell")],
	[own, start("read", "ReadFile")],
	[own, start("look", "Glob")],
	[own, settle("look")],
	[own, settle("read")],
	[own, ask("run")],
	[own, answer("run", "approve")],
	[own, start("run", "Shell")],
	[own, settle("run", [], true)],
	[own, statusChanged({ token_usage: usage, context_usage: 0.2, context_tokens: 10, max_context_tokens: 50 })],
	[own, { type: "step.started", n: 2 }],
	[own, request("write", "WriteFile")],
	[own, ask("write", [diff("shown-when-asked")])],
	[own, answer("write", "approve")],
	[own, start("write", "WriteFile")],
	[own, settle("write")],
	[own, request("refused", "Shell")],
	[own, ask("refused")],
	[own, answer("refused", "reject")],
	[own, settle("refused", [], true)],
	[own, request("agent", "Agent")],
	[own, start("agent", "Agent")],
	[subagent, { type: "turn.started", input: "look" }],
	[subagent, { type: "step.started", n: 1 }],
	[subagent, text("The subagent speaks.")],
	[subagent, request("inner", "Agent")],
	[subagent, start("inner", "Agent")],
	[nested, { type: "step.started", n: 1 }],
	[nested, text("The inner one speaks.")],
	[nested, request("inner-read", "ReadFile")],
	[nested, start("inner-read", "ReadFile")],
	[nested, settle("inner-read")],
	[subagent, settle("inner")],
	[subagent, { type: "step.started", n: 2 }],
	[subagent, text("The subagent is done.")],
	[own, settle("agent")],
	[own, request("denied", "Shell")],
	[
		own,
		{ type: "permission.decided", toolCallId: "denied", action: "x", decision: "reject", by: "rule", reason: "no" },
	],
	[own, settle("denied", [], true)],
	[own, request("edit", "StrReplaceFile")],
	[own, start("edit", "StrReplaceFile")],
	[own, settle("edit", [diff("edited"), { type: "todo", items: [{ title: "Test", status: "pending" }] }])],
	[own, { type: "budget.warning", budget: "tokens", scope: "turn", used: 9, limit: 10 }],
	[own, request("cut", "Shell")],
	[own, start("cut", "Shell")],
	[own, { type: "tool.ended", toolCallId: "cut" }],
	[own, { type: "turn.ended", outcome: { status: "cancelled" } }],
	[own, { type: "compaction.ended" }],
	[own, { type: "turn.started", input: "second" }],
	[own, { type: "step.started", n: 1 }],
	[own, request("last", "Shell")],
	[own, start("last", "Shell")],
	[own, statusChanged({ token_usage: usage, context_usage: 0.3 })],
	[own, { type: "turn.ended", outcome: { status: "finished" } }],
];
const events: readonly PublicEvent[] = log.map(([agentPath, body], index) => ({
	...{ sessionId: "s", turnId: "t", agentPath, at: index, seq: index + 1, epoch: "e" },
	...body,
}));

function fold(some: readonly PublicEvent[]): SessionView {
	const view = new SessionView("window amber");
	for (const event of some) view.take(event);
	return view;
}

const snapshotOf = (turnId: string | null, seq: number): Snapshot => ({
	...{ sessionId: "s", workDir: "/w", turnId, hasHistory: true, cursor: { epoch: "e", seq }, planMode: false },
	...{ approvesEverything: false, isAway: false, model: null, title: null },
	...{ openInteractions: [], unfinished: [], clients: [] },
});

/** All that a person sees of it. Calls of one step are in any order: what is shown stays where it is. */
const seen = ({ turns, totals, isRunning }: SessionView): unknown => ({
	isRunning,
	turns: turns.map(({ prompt, blocks, end, isRunning }) => ({ prompt, end, isRunning, blocks: plain(blocks) })),
	totals: { ...totals, changes: [...totals.changes.values()] },
});
function plain(blocks: readonly Block[]): unknown {
	const sorted = blocks.map((block, index) => ({ block, index }));
	const runOf = (index: number) => blocks.slice(0, index).findLastIndex(({ kind }) => kind !== "tool");
	const idOf = (block: Block) => (block.kind === "tool" ? block.id : "");
	sorted.sort(
		(one, other) => runOf(one.index) - runOf(other.index) || idOf(one.block).localeCompare(idOf(other.block)),
	);
	return sorted.map(({ block: { key: _, ...block } }) =>
		block.kind === "tool" ? { ...block, isApart: false, children: plain(block.children) } : block,
	);
}

const flat = (blocks: readonly Block[]): Block[] =>
	blocks.flatMap((block) => [block, ...(block.kind === "tool" ? flat(block.children) : [])]);
const blocksOf = (view: SessionView) => flat(view.turns.flatMap(({ blocks }) => blocks));

describe("what came before", () => {
	it("makes the conversation of all events, wherever it was cut, and leaves what was shown the same blocks", () => {
		for (let end = 1; end <= events.length; end += 1) {
			const whole = fold(events.slice(0, end));
			for (let cut = 0; cut <= end; cut += 1) {
				const view = fold(events.slice(cut, end));
				const before = blocksOf(view);
				const turnsBefore = [...view.turns];
				// Read in two pages.
				const middle = Math.floor(cut / 2);
				view.prepend(events.slice(middle, cut));
				view.prepend(events.slice(0, middle));
				expect(seen(view), `cut at ${cut} of ${end}`).toEqual(seen(whole));
				const after = new Set(blocksOf(view));
				expect(before.filter((block) => !after.has(block))).toEqual([]);
				expect(turnsBefore.filter((turn) => !view.turns.includes(turn))).toEqual([]);
				expect(new Set([...after].map(({ key }) => key)).size).toBe(after.size);
			}
		}
	});

	it("does not fold calls that were read later together with those that are shown", () => {
		const view = fold(events.slice(6, 10));
		const [read] = blocksOf(view);
		view.prepend(events.slice(0, 6));
		expect(blocksOf(view).map((block) => (block.kind === "tool" ? [block.id, block.isApart] : block.kind))).toEqual([
			"text",
			["run", false],
			["read", true],
			["look", false],
		]);
		expect(blocksOf(view)).toContain(read);
	});

	it("shows a turn as running of which only the middle is known", () => {
		const view = fold(events.slice(6, 10));
		view.settle(snapshotOf("t", 10));
		expect([view.isRunning, view.activity]).toEqual([true, "finding files: look"]);
		view.prepend(events.slice(0, 6));
		expect([view.isRunning, view.turns.length, view.turns[0]?.prompt]).toEqual([true, 1, "first"]);
	});

	it("says that a turn was broken off of which only the middle is known", () => {
		const view = fold(events.slice(6, 8));
		view.settle(snapshotOf(null, 8));
		view.prepend(events.slice(0, 6));
		expect(view.isRunning).toBe(false);
		expect(view.turns[0]?.end?.text).toBe("The program ended in the middle of this turn.");
		expect(blocksOf(view).filter((block): block is ToolBlock => block.kind === "tool")).toMatchObject([
			{ id: "run", state: "interrupted" },
			{ id: "read", state: "interrupted" },
			{ id: "look", state: "interrupted" },
		]);
	});
});
