import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { sampleInteractions } from "../../../test/support/protocol/sample-events.ts";
import { toolError, toolSuccess } from "../../api/values/content.ts";
import type { Interaction, InteractionKind } from "../../api/values/interaction.ts";
import { type InteractionDeadlines, InteractionTable } from "./interaction-table.ts";

const none: InteractionDeadlines = { approval: 0, question: 0, "client-tool": 0 };
function sample<K extends InteractionKind>(kind: K): Extract<Interaction, { kind: K }> {
	const found = sampleInteractions.find(
		(interaction): interaction is Extract<Interaction, { kind: K }> => interaction.kind === kind,
	);
	if (found === undefined) throw new Error(kind);
	return found;
}
const approval = sample("approval");
const tool = sample("client-tool");
const question = sample("question");
const person = { kind: "client", clientId: null, name: null } as const;
const live = () => new AbortController().signal;
const reject = { kind: "approval", decision: "reject", feedback: "" } as const;
const approve = { kind: "approval", decision: "approve", feedback: "" } as const;

describe("InteractionTable", () => {
	it("accepts only the first answer", async () => {
		const table = new InteractionTable(none, createFakeClock(), () => []);
		const settlement = table.wait(approval, "approval", live());
		expect(table.interactions()).toEqual([approval]);
		expect(table.answer("U", approve, person)).toBe(true);
		expect(table.answer("U", reject, person)).toBe(false);
		expect(await settlement).toEqual({ answer: approve, by: person });
		expect(table.interactions()).toEqual([]);
	});

	it("ignores answers to unknown ids", () => {
		const table = new InteractionTable(none, createFakeClock(), () => []);
		expect(table.answer("X", approve, person)).toBe(false);
	});

	it("starts the deadline first and withdraws it when the interaction is resolved", async () => {
		const clock = createFakeClock();
		const table = new InteractionTable({ approval: 60, question: 30, "client-tool": 600 }, clock, () => []);
		const settlements = [
			table.wait(approval, "approval", live()),
			table.wait(question, "question", live()),
			table.wait(tool, "client-tool", live()),
		];
		expect(clock.waiting()).toBe(3);
		clock.advance(30_000);
		clock.advance(30_000);
		expect(clock.waiting()).toBe(1);
		expect(table.answer("U", approve, person)).toBe(false);
		table.answer("A", { kind: "client-tool", result: toolSuccess({ output: "x" }) }, person);
		expect(clock.waiting()).toBe(0);
		expect(await Promise.all(settlements)).toEqual([
			{
				answer: { kind: "approval", decision: "reject", feedback: expect.stringContaining("60 s") },
				by: { kind: "deadline", seconds: 60 },
			},
			{ answer: { kind: "question", answers: {} }, by: { kind: "deadline", seconds: 30 } },
			{ answer: { kind: "client-tool", result: toolSuccess({ output: "x" }) }, by: person },
		]);
	});

	it("sets no timer for a deadline of 0", () => {
		const clock = createFakeClock();
		void new InteractionTable(none, clock, () => []).wait(approval, "approval", live());
		expect(clock.waiting()).toBe(0);
	});

	it.each([
		["malformed", { kind: "malformed" }, toolError("Invalid tool result payload from client.", "Invalid tool result")],
		["an error reply", { kind: "error-reply", message: "no hands" }, toolError("no hands", "External tool error")],
	] as const)("uses fallback answers for %s", async (_name, failure, result) => {
		const table = new InteractionTable(none, createFakeClock(), () => []);
		const settlements = Promise.all([
			table.wait(approval, "approval", live()),
			table.wait(question, "question", live()),
			table.wait(tool, "client-tool", live()),
		]);
		for (const id of ["U", "Q", "A"]) expect(table.answer(id, failure, person)).toBe(true);
		expect((await settlements).map(({ answer }) => answer)).toEqual([
			reject,
			{ kind: "question", answers: {} },
			{ kind: "client-tool", result },
		]);
	});

	it("treats an answer of another kind as malformed", async () => {
		const table = new InteractionTable(none, createFakeClock(), () => []);
		const settlement = table.wait(approval, "approval", live());
		expect(table.answer("U", { kind: "question", answers: {} }, person)).toBe(true);
		expect(await settlement).toEqual({ answer: reject, by: { kind: "malformed" } });
	});

	it("keeps approvals open when the last client detaches, and resolves the others", async () => {
		const table = new InteractionTable(none, createFakeClock(), () => []);
		const approving = table.wait(approval, "approval", live());
		const asking = table.wait(question, "question", live());
		const calling = table.wait(tool, "client-tool", live());
		table.clientGone();
		expect(table.interactions()).toEqual([approval]);
		expect(await asking).toEqual({ answer: { kind: "question", answers: {} }, by: { kind: "client-gone" } });
		expect((await calling).answer.result).toEqual(
			toolError("Wire connection closed before tool result was received.", "Wire closed"),
		);
		table.settleAll();
		expect(await approving).toEqual({ answer: reject, by: { kind: "shutdown" } });
		table.settleAll();
	});

	it("allows as the fallback answer of every hook", async () => {
		const hook = sample("hook");
		const allow = { kind: "hook", action: "allow", reason: "" };
		const table = new InteractionTable(none, createFakeClock(), () => []);
		const controller = new AbortController();
		const settle: readonly (() => void)[] = [
			() => table.answer(hook.id, { kind: "error-reply", message: "no" }, person),
			() => table.answer(hook.id, { kind: "malformed" }, person),
			() => table.clientGone(),
			() => table.settleAll(),
			() => controller.abort(),
		];
		for (const act of settle) {
			const settlement = table.waitFor(hook, "hook", 30, controller.signal);
			act();
			expect((await settlement).answer).toEqual(allow);
		}
	});

	it("uses the timeout of the hook, and ignores later answers", async () => {
		const hook = sample("hook");
		const clock = createFakeClock();
		const table = new InteractionTable(none, clock, () => []);
		const settlement = table.waitFor(hook, "hook", 5, live());
		clock.advance(5000);
		expect(table.answer(hook.id, { kind: "hook", action: "block", reason: "late" }, person)).toBe(false);
		expect(await settlement).toEqual({
			answer: { kind: "hook", action: "allow", reason: "" },
			by: { kind: "deadline", seconds: 5 },
		});
	});

	it("resolves as cancelled at an abort, also at an earlier one", async () => {
		const clock = createFakeClock();
		const table = new InteractionTable({ ...none, approval: 5 }, clock, () => []);
		const controller = new AbortController();
		const settlement = table.wait(approval, "approval", controller.signal);
		controller.abort();
		expect(await settlement).toEqual({ answer: reject, by: { kind: "cancelled" } });
		expect(await table.wait(approval, "approval", controller.signal)).toEqual({
			answer: reject,
			by: { kind: "cancelled" },
		});
		expect([table.interactions(), clock.waiting()]).toEqual([[], 0]);
	});

	it("settles as failed when the last client leaves that had not reported a failure", async () => {
		let able = ["one", "two"];
		const table = new InteractionTable(none, createFakeClock(), () => able);
		const settlement = table.wait(approval, "approval", live());
		const one = { kind: "client", clientId: "one", name: null } as const;
		expect(table.answer("U", { kind: "error-reply", message: "no" }, one)).toBe(false);
		able = ["one"];
		table.clientGone();
		expect(await settlement).toEqual({ answer: reject, by: { kind: "error-reply", message: "no" } });
	});

	it("stays open without any client, for one that attaches later", () => {
		const table = new InteractionTable(none, createFakeClock(), () => []);
		void table.wait(approval, "approval", live());
		table.clientGone();
		expect(table.interactions()).toEqual([approval]);
	});

	it("keeps a question open without its clients where others are expected", async () => {
		const able: string[] = [];
		const table = new InteractionTable(none, createFakeClock(), () => able, true);
		const question = { kind: "question" as const, id: "q", toolCallId: "c", questions: [] };
		const settled = table.wait(question, "question", live());
		table.clientGone();
		expect(table.interactions()).toEqual([question]);
		const answers = { Which: "Blue" };
		expect(table.answer("q", { kind: "question", answers }, { kind: "client", clientId: "late", name: null })).toBe(
			true,
		);
		expect((await settled).answer).toEqual({ kind: "question", answers });
	});
});
