import { describe, expect, it } from "vitest";
import { createSteppingClock } from "../../../test/support/host/stepping-clock.ts";
import {
	call,
	createModelGate,
	createScriptedModel,
	done,
	type ModelScript,
	say,
} from "../../../test/support/models/scripted-model.ts";
import { createToolDouble, createTurnSubject } from "../../../test/support/sessions/turn-subject.ts";
import { toolSuccess } from "../../api/values/content.ts";
import type { ContextRow, HistoryEntry } from "../../api/values/conversation.ts";
import { type ModelChunk, modelFailure } from "../models/model.ts";
import { Context, type ContextLog, messageRow } from "./context.ts";
import type { TurnDependencies } from "./dependencies.ts";
import { resultSizeOf, textSizeOf } from "./shortening.ts";

const text = (role: "user" | "assistant" | "tool", value: string): HistoryEntry => ({
	role,
	content: [{ type: "text", text: value }],
});
const usage = (input: number, output: number) => ({
	input_other: input,
	output,
	input_cache_read: 0,
	input_cache_creation: 0,
});

const history: readonly HistoryEntry[] = [
	text("user", "first wish"),
	{
		role: "assistant",
		content: [
			{ type: "think", think: "secret thought", encrypted: null },
			...text("assistant", "first answer").content,
		],
	},
	text("user", "second wish"),
	text("tool", "a result"),
	text("assistant", "second answer"),
];

/** A turn whose context is that full: the model's window has 1000 tokens. */
function createSubject(
	scripts: readonly ModelScript[],
	tokens: number,
	overrides: Partial<TurnDependencies> = {},
	messages: readonly HistoryEntry[] = history,
) {
	const model = createScriptedModel(scripts);
	const retained: ContextRow[][] = [];
	const log: ContextLog = {
		change: async ({ kind, rows: changed }) => void (kind === "replace" && retained.push([...changed])),
	};
	const rows: ContextRow[] = [...messages.map(messageRow), { type: "usage", tokenCount: tokens }];
	const context = new Context(log, rows, "Be brief.");
	const subject = createTurnSubject(model, [], { context, ...overrides });
	return { ...subject, model, context, retained };
}

const types = (subject: { readonly events: readonly { readonly type: string }[] }) =>
	subject.events.map(({ type }) => type);

describe("automatic compaction", () => {
	it("ends the step and stores the summary when it exhausts the budget", async () => {
		const error = { code: "budget-exhausted", message: "used up", data: null } as const;
		let asked = 0;
		const exhausted = () => (++asked === 1 ? null : error);
		const failures: unknown[] = [];
		const subject = createSubject([[say("the summary"), done(usage(850, 30))]], 850, {
			budget: { exhausted, takeToolCall: () => null },
			stepFailed: (...failure) => void failures.push(failure),
		});
		expect(await subject.run("third wish")).toEqual({ status: "failed", error });
		expect(failures).toEqual([[error, "BudgetExhausted"]]);
		expect(types(subject)).toEqual(["step.started", "compaction.started", "compaction.ended", "step.interrupted"]);
		expect([subject.model.requests.length, subject.retained.length]).toEqual([1, 1]);
	});

	it("summarizes all but the last two messages before the step continues", async () => {
		const subject = createSubject(
			[
				[say("the summary"), done(usage(850, 30))],
				[say("ok"), done()],
			],
			850,
		);
		expect(await subject.run("third wish")).toEqual({ status: "finished" });
		expect(types(subject).slice(0, 4)).toEqual([
			"step.started",
			"compaction.started",
			"compaction.ended",
			"content.delta",
		]);
		const [summary, turn] = subject.model.requests;
		expect(summary?.tools).toEqual([]);
		expect(summary?.messages.map(({ role }) => role)).toEqual(["user"]);
		const asked = JSON.stringify(summary?.messages);
		for (const part of ["first wish", "first answer", "second wish", "a result", "## Message 4"])
			expect(asked).toContain(part);
		for (const part of ["secret thought", "second answer", "third wish"]) expect(asked).not.toContain(part);
		expect(turn?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
		expect(JSON.stringify(turn?.messages[0])).toContain("the summary");
		expect(turn?.messages.slice(1)).toEqual([text("assistant", "second answer"), text("user", "third wish")]);
	});

	it("stores the whole new context, with the tokens of the summary and an estimate for the retained messages", async () => {
		const subject = createSubject(
			[
				[say("the summary"), done(usage(850, 30))],
				[say("ok"), done()],
			],
			850,
		);
		await subject.run("third wish");
		expect(subject.retained).toHaveLength(1);
		const [prompt, checkpoint, summary, ...others] = subject.retained[0] ?? [];
		expect([prompt, checkpoint]).toEqual([
			{ type: "system-prompt", content: "Be brief." },
			{ type: "checkpoint", id: 0 },
		]);
		expect(summary).toEqual({
			type: "message",
			message: {
				role: "user",
				content: [
					{ type: "text", text: expect.stringMatching(/^<system>.*<\/system>$/) },
					{ type: "text", text: "the summary" },
				],
			},
		});
		expect(others).toEqual([
			messageRow(text("assistant", "second answer")),
			messageRow(text("user", "third wish")),
			{ type: "usage", tokenCount: 30 + Math.floor("second answerthird wish".length / 4) },
		]);
		expect(subject.order).toContain("before auto 850");
		expect(subject.order).toContain(`after auto ${30 + 5}`);
	});

	it("estimates the tokens when the provider counted none, and adds the notes", async () => {
		const compaction = {
			triggerRatio: 0.85,
			reservedTokens: 0,
			before: async () => {},
			notes: async () => ["a note of the program"],
			after: () => {},
		};
		const subject = createSubject(
			[
				[say("s".repeat(80)), done()],
				[say("ok"), done()],
			],
			850,
			{ compaction },
		);
		await subject.run("third wish");
		const rows = subject.retained[0] ?? [];
		expect(rows.at(-2)).toEqual(messageRow(text("user", "a note of the program")));
		const last = rows.at(-1);
		expect(last?.type === "usage" && last.tokenCount).toBeGreaterThan(20 + 10);
	});

	it.each([
		["below the ratio", 840, 0, 0],
		["at the ratio, uncounted messages included", 848, 0, 1],
		["when the window lacks the reserve", 400, 599, 1],
		["when the window just holds the reserve", 400, 590, 0],
	])("is due %s", async (_name, tokens, reservedTokens, count) => {
		const compaction = {
			triggerRatio: 0.85,
			reservedTokens,
			before: async () => {},
			notes: async () => [],
			after: () => {},
		};
		const scripts: ModelScript[] = [
			[say("one"), done()],
			[say("two"), done()],
		];
		const subject = createSubject(scripts, tokens, { compaction });
		await subject.run("12345678");
		expect(types(subject).filter((type) => type === "compaction.started")).toHaveLength(count);
	});

	it("requests nothing from the model when there is nothing to summarize", async () => {
		const context = new Context({ change: async () => {} }, [], "Be brief.");
		const compaction = {
			triggerRatio: 0.85,
			reservedTokens: 1000,
			before: async () => {},
			notes: async () => [],
			after: () => {},
		};
		const model = createScriptedModel([[say("ok"), done()]]);
		const subject = createTurnSubject(model, [], { context, compaction });
		expect(await subject.run("hi")).toEqual({ status: "finished" });
		expect(types(subject).slice(0, 3)).toEqual(["step.started", "compaction.started", "compaction.ended"]);
		expect(model.requests).toHaveLength(1);
		expect(context.messages.slice(0, 1)).toEqual([text("user", "hi")]);
	});

	it("emits its end when it fails, and leaves the context unchanged", async () => {
		const failures: unknown[] = [];
		const subject = createSubject([[modelFailure("status", "bad request", 400)]], 900, {
			stepFailed: (_error, errorType) => void failures.push(errorType),
		});
		expect(await subject.run("third wish")).toMatchObject({
			status: "failed",
			error: { code: "provider-failed", message: "bad request" },
		});
		expect(failures).toEqual(["APIStatusError"]);
		expect(types(subject)).toEqual(["step.started", "compaction.started", "compaction.ended", "step.interrupted"]);
		expect(subject.retained).toEqual([]);
		expect(subject.context.messages).toEqual([...history, text("user", "third wish")]);
		expect(subject.order.some((entry) => entry.startsWith("after"))).toBe(false);
	});

	it("is retried like any request, without a retry event", async () => {
		const failure = modelFailure("status", "busy", 503);
		const subject = createSubject([[failure], [say("the summary"), done()], [say("ok"), done()]], 900, {
			clock: createSteppingClock(0),
		});
		expect(await subject.run("third wish")).toEqual({ status: "finished" });
		expect(types(subject)).not.toContain("step.retrying");
		expect(subject.retained).toHaveLength(1);
	});

	it("fails when the summary is reasoning alone", async () => {
		const thought: ModelScript = [{ type: "parts", parts: [{ type: "think", think: "hm", encrypted: null }] }, done()];
		const subject = createSubject([thought], 900, { limits: { maxSteps: 5, maxAttempts: 1 } });
		expect(await subject.run("third wish")).toMatchObject({ status: "failed" });
		expect(subject.retained).toEqual([]);
	});

	it("emits its end when it is cancelled", async () => {
		const gate = createModelGate();
		const subject = createSubject([[gate, say("late"), done()]], 900);
		const run = subject.run("third wish");
		await gate.reached;
		subject.controller.abort();
		expect(await run).toEqual({ status: "cancelled" });
		expect(types(subject)).toEqual(["step.started", "compaction.started", "compaction.ended", "step.interrupted"]);
		expect(subject.retained).toEqual([]);
	});
});

describe("a request that exceeds the context window of the model", () => {
	const full = modelFailure("overflow", "prompt is too long", 400);

	it("is sent once more after a compaction", async () => {
		const subject = createSubject(
			[
				[say("part of it"), full],
				[say("the summary"), done(usage(100, 30))],
				[say("ok"), done()],
			],
			10,
		);
		expect(await subject.run("third wish")).toEqual({ status: "finished" });
		expect(types(subject)).toEqual([
			"step.started",
			"content.delta",
			"step.retrying",
			"compaction.started",
			"compaction.ended",
			"content.delta",
			"status.changed",
		]);
		// What came of the first answer is void.
		expect(subject.events.find(({ type }) => type === "step.retrying")).toEqual({
			type: "step.retrying",
			n: 1,
			next_attempt: 1,
			max_attempts: 3,
			wait_s: 0,
			error_type: "APIStatusError",
			status_code: 400,
			reason: "HTTP 400: prompt is too long",
		});
		const [first, summary, second] = subject.model.requests;
		expect(first?.messages).toHaveLength(6);
		expect(summary?.tools).toEqual([]);
		expect(second?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
		expect(JSON.stringify(subject.context.messages)).not.toContain("part of it");
	});

	it("leads to one compaction in each step", async () => {
		const summary = [say("the summary"), done(usage(100, 30))];
		const subject = createSubject([[full], summary, [full]], 10);
		expect(await subject.run("third wish")).toEqual({
			status: "failed",
			error: { code: "provider-failed", message: "prompt is too long", data: null },
		});
		expect(types(subject).filter((type) => type === "compaction.started")).toHaveLength(1);
		expect(subject.model.requests).toHaveLength(3);
	});

	it("leads to a compaction even after one at the beginning of the step", async () => {
		const summary = [say("the summary"), done(usage(100, 30))];
		const subject = createSubject([summary, [full], summary, [say("ok"), done()]], 900);
		expect(await subject.run("third wish")).toEqual({ status: "finished" });
		expect(types(subject).filter((type) => type === "compaction.ended")).toHaveLength(2);
	});

	it("fails the step when the history cannot be compacted either", async () => {
		const subject = createSubject([[full], [full]], 10);
		expect(await subject.run("third wish")).toMatchObject({
			status: "failed",
			error: { message: "prompt is too long" },
		});
		expect(types(subject).slice(-3)).toEqual(["compaction.started", "compaction.ended", "step.interrupted"]);
		expect(subject.context.messages).toHaveLength(6);
	});

	it("is shortened when the summary of a history is too long to be requested, until it fits", async () => {
		const answers = [[full], [full], [say("the summary"), done(usage(100, 30))], [say("ok"), done()]];
		const subject = createSubject(answers, 10, {}, [text("user", `begin ${"x".repeat(9000)} end`), ...history]);
		expect(await subject.run("third wish")).toEqual({ status: "finished" });
		const sizes = subject.model.requests.slice(1, 3).map(({ messages }) => textSizeOf(messages[0]?.content ?? []));
		expect(sizes[0]).toBeLessThan(9000);
		expect(sizes[1]).toBeLessThan(sizes[0] ?? 0);
		const asked = JSON.stringify(subject.model.requests[2]);
		for (const part of ["begin", "end", "first wish", "second wish"]) expect(asked).toContain(part);
		expect(JSON.stringify(subject.context.messages)).toContain("the summary");
	});

	it("is repeated with shorter results of tools when nothing else is left to compact", async () => {
		const read: ModelScript = [call("c1", "Read"), call("c2", "Read", '{"a":1}'), done(usage(10, 1))];
		const model = createScriptedModel([read, [full], [full], [say("ok"), done()]]);
		const tool = createToolDouble("Read", { result: toolSuccess({ output: `begin ${"x".repeat(1500)} end` }) });
		const subject = createTurnSubject(model, [tool]);
		expect(await subject.run("read")).toEqual({ status: "finished" });
		const sizes = model.requests.slice(1).map(({ messages }) => resultSizeOf(messages));
		expect(sizes[0]).toBe(sizes[1]);
		expect(sizes[2]).toBeLessThan((sizes[1] ?? 0) * 0.6);
		expect(model.requests[3]?.messages.map(({ role, toolCallId }) => toolCallId ?? role)).toEqual([
			"user",
			"assistant",
			"c1",
			"c2",
		]);
		expect(types(subject).slice(-8)).toEqual([
			"step.retrying",
			"compaction.started",
			"compaction.ended",
			"step.retrying",
			"compaction.started",
			"compaction.ended",
			"content.delta",
			"status.changed",
		]);
	});

	it("is not sent when the results of tools alone exceed the window: they are shortened before", async () => {
		const model = createScriptedModel([
			[call("c1", "Read"), done(usage(10, 1))],
			[say("ok"), done()],
		]);
		const tool = createToolDouble("Read", { result: toolSuccess({ output: "x".repeat(50_000) }) });
		const subject = createTurnSubject(model, [tool]);
		expect(await subject.run("read")).toEqual({ status: "finished" });
		expect(resultSizeOf(model.requests[1]?.messages ?? [])).toBeLessThan(2000);
	});

	it.each([
		["is known where it leaves room for an answer", 890, 890],
		["is not known where it would leave none, as under a model with a smaller window", 5000, undefined],
	])("has a summary whose length %s", async (_name, tokens, known) => {
		const subject = createSubject(
			[
				[say("the summary"), done(usage(100, 30))],
				[say("ok"), done()],
			],
			tokens,
		);
		await subject.run("third wish");
		expect(subject.model.requests[0]?.knownTokens).toBe(known);
	});

	it("leads to no compaction once the turn is cancelled", async () => {
		const gate = createModelGate();
		const subject = createSubject([[gate, full]], 10);
		const running = subject.run("third wish");
		await gate.reached;
		subject.controller.abort();
		expect(await running).toEqual({ status: "cancelled" });
		expect(subject.model.requests).toHaveLength(1);
	});
});

describe("a compaction that does not come to its end", () => {
	it.each(["truncated", "paused"] as const)("is a failure when the summary is %s: the context stays", async (kind) => {
		const end: ModelChunk = { type: "done", usage: null, messageId: null, end: { kind, reason: "length" } };
		const subject = createSubject([[say("half a summ"), end]], 900);
		expect(await subject.run("third wish")).toMatchObject({
			status: "failed",
			error: { message: expect.stringMatching(/^The summary is incomplete.*\(length\)/) },
		});
		expect([subject.retained, subject.context.messages.slice(0, history.length)]).toEqual([[], history]);
	});

	it("leaves the context as it was when it is cancelled right after its begin", async () => {
		const subject = createSubject([[say("the summary"), done()]], 900, {
			async emit({ type }) {
				if (type === "compaction.started") subject.controller.abort();
			},
		});
		expect(await subject.run("third wish")).toEqual({ status: "cancelled" });
		expect([subject.retained, subject.context.messages.slice(0, history.length)]).toEqual([[], history]);
	});

	it("puts the context back when it is cancelled while the context is written", async () => {
		const replaced: ContextRow[][] = [];
		const rows: ContextRow[] = [...history.map(messageRow), { type: "usage", tokenCount: 900 }];
		const log: ContextLog = {
			async change({ kind, rows: changed }) {
				if (kind !== "replace") return;
				replaced.push([...changed]);
				subject.controller.abort();
			},
		};
		const context = new Context(log, rows, "Be brief.");
		const subject = createSubject([[say("the summary"), done()]], 900, { context });
		expect(await subject.run("third wish")).toEqual({ status: "cancelled" });
		expect(replaced).toHaveLength(2);
		expect([context.messages.slice(0, history.length), context.tokenCount]).toEqual([history, 900]);
	});

	it("says that it tries again, and why", async () => {
		const busy = modelFailure("status", "overloaded", 529);
		const clock = createSteppingClock(0);
		const subject = createSubject([[busy], [say("the summary"), done()], [say("ok"), done()]], 900, { clock });
		await subject.run("third wish");
		expect(subject.events.find(({ type }) => type === "notification.raised")).toMatchObject({
			title: "Retrying in 0.5 s (attempt 2 of 3)",
			body: "HTTP 529: overloaded",
		});
	});
});
