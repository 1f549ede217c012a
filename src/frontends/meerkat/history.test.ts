import { describe, expect, it } from "vitest";
import { type ContentPart, textPart, toolError, toolSuccess } from "../../api/values/content.ts";
import type { HistoryEntry } from "../../api/values/conversation.ts";
import type { AgentEvent, EventBody } from "../../api/values/event.ts";
import { toHistory } from "./history.ts";
import { toAnswerId } from "./projection/answer-id.ts";

const begun = Date.UTC(2026, 0, 1);
const at = (minutes: number) => new Date(begun + minutes * 60_000).toISOString();

async function* log(...entries: readonly (readonly [minutes: number, body: EventBody, isSubagent?: boolean])[]) {
	for (const [minutes, body, isSubagent = false] of entries) {
		const agentPath = isSubagent ? [{ parentToolCallId: "p", agentId: "a", subagentType: "coder" }] : [];
		const event: AgentEvent = { sessionId: "s", turnId: null, agentPath, at: begun + minutes * 60_000, body };
		yield [event];
	}
}

const started = (input: string): EventBody => ({ type: "turn.started", input });
const step: EventBody = { type: "step.started", n: 1 };
const result = (toolCallId: string, isError = false): EventBody => ({
	type: "tool.result",
	toolCallId,
	result: isError ? toolError("no", "no") : toolSuccess({ output: "yes" }),
});
const said = (role: HistoryEntry["role"], text: string): HistoryEntry => ({
	role,
	content: [textPart(text)],
});
const calling = (...ids: readonly string[]): HistoryEntry => ({
	role: "assistant",
	content: [],
	toolCalls: ids.map((id) => ({
		type: "function",
		id,
		function: { name: "T", arguments: `{"n":"${id}"}` },
		extras: null,
	})),
});
const answered = (toolCallId: string, text: string): HistoryEntry => ({ ...said("tool", text), toolCallId });

describe("the history of a session", () => {
	it("has every message with its time, results of one answer together, failed ones marked", async () => {
		const thought: ContentPart = { type: "think", think: "Hm.", encrypted: null };
		const messages: HistoryEntry[] = [
			said("user", "go"),
			calling("a", "b"),
			answered("a", "yes"),
			answered("b", "no"),
			{ role: "assistant", content: [thought, textPart("Done.")] },
		];
		const events = log([1, started("go")], [2, step], [4, result("b", true)], [5, result("a")], [6, step]);
		expect(await toHistory({ systemPrompt: "Be.", messages }, events, begun, false)).toEqual([
			{ role: "system", created_at: at(1), content: "Be." },
			{ role: "user", created_at: at(1), content: "go" },
			{
				role: "block_assistant",
				created_at: at(2),
				blocks: [
					{ block_type: "tool_use", data: { id: "a", name: "T", args: { n: "a" } } },
					{ block_type: "tool_use", data: { id: "b", name: "T", args: { n: "b" } } },
				],
				stop_reason: "tool_use",
			},
			{
				role: "tool_results",
				created_at: at(5),
				results: [
					{ tool_use_id: "a", content: "yes", is_error: false },
					{ tool_use_id: "b", content: "no", is_error: true },
				],
			},
			{
				role: "block_assistant",
				created_at: at(6),
				blocks: [
					{ block_type: "reasoning", data: { text: "Hm." } },
					{ block_type: "text", data: { text: "Done." } },
				],
				stop_reason: "end_turn",
			},
		]);
	});

	const times = async (messages: readonly HistoryEntry[], events: AsyncIterable<readonly AgentEvent[]>) =>
		(await toHistory({ systemPrompt: null, messages }, events, begun, false)).map(({ created_at }) => created_at);

	it("ignores model calls without an answer, and events of subagents", async () => {
		const messages = [said("user", "one"), said("user", "two"), said("assistant", "yes"), said("user", "three")];
		const events = log(
			[1, started("one")],
			[2, step],
			[3, started("two")],
			[4, step],
			[5, step, true],
			[6, started("three")],
			[7, step],
		);
		expect(await times(messages, events)).toEqual([at(1), at(3), at(4), at(6)]);
	});

	it("gives reminders the time of what follows, and a running answer its own time", async () => {
		const messages = [said("user", "one"), said("user", "<system-reminder>"), calling("a"), answered("a", "yes")];
		const events = log([1, started("one")], [2, step], [3, result("a")], [4, step]);
		expect(await times(messages, events)).toEqual([at(1), at(2), at(2), at(3)]);
	});

	it("distinguishes calls with the same id in several turns", async () => {
		const turn = [said("user", "go"), calling("a"), answered("a", "yes")];
		const entries = [0, 10].flatMap((base) => [
			[base + 1, started("go")] as const,
			[base + 2, step] as const,
			[base + 3, result("a")] as const,
		]);
		expect(await times([...turn, ...turn], log(...entries))).toEqual([1, 2, 3, 11, 12, 13].map(at));
	});

	it("ignores a result of an earlier turn when a crash lost the right one", async () => {
		const turn = [said("user", "go"), calling("a"), answered("a", "yes")];
		const events = log([1, started("go")], [2, step], [3, result("a", true)], [11, started("go")], [12, step]);
		const history = await toHistory({ systemPrompt: null, messages: [...turn, ...turn] }, events, begun, false);
		expect(history.map(({ created_at }) => created_at)).toEqual([1, 2, 3, 11, 12, 12].map(at));
		const results = history.flatMap((message) => (message.role === "tool_results" ? message.results : []));
		expect(results.map(({ is_error }) => is_error)).toEqual([true, false]);
	});

	it("matches a compacted history with the end of the log", async () => {
		const messages = [said("user", "summary"), said("user", "two"), said("assistant", "yes")];
		const events = log([1, started("one")], [2, step], [3, started("two")], [4, step]);
		expect(await times(messages, events)).toEqual([at(3), at(3), at(4)]);
	});

	it("uses the session's own time when the log has none", async () => {
		expect(await times([said("user", "one"), answered("x", "?")], log())).toEqual([at(0), at(0)]);
		expect(await toHistory({ systemPrompt: null, messages: [] }, log(), begun, false)).toEqual([]);
	});

	it("names media, and separates several parts of a prompt", async () => {
		const image: ContentPart = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", id: null } };
		const messages: HistoryEntry[] = [{ role: "user", content: [textPart("look"), image] }];
		const [message] = await toHistory({ systemPrompt: null, messages }, log(), begun, false);
		expect(message).toMatchObject({
			content: [
				{ type: "text", text: "look" },
				{ type: "text", text: "[image]" },
			],
		});
	});

	it("names answers in the contract as their events do, where the turn has an id", async () => {
		const messages = [said("user", "go"), said("assistant", "a"), said("assistant", "b")];
		const events = async function* () {
			for await (const batch of log([1, started("go")], [2, step], [3, { type: "step.started", n: 2 }]))
				yield batch.map((event) => ({ ...event, turnId: "t" }));
		};
		const named = await toHistory({ systemPrompt: null, messages }, events(), begun, true);
		expect(named.map((message) => "assistant_message_id" in message && message.assistant_message_id)).toEqual([
			false,
			toAnswerId("t", 1),
			toAnswerId("t", 2),
		]);
		for (const message of await toHistory({ systemPrompt: null, messages }, events(), begun, false))
			expect(message).not.toHaveProperty("assistant_message_id");
	});
});
