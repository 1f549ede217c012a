import { describe, expect, it } from "vitest";
import { collectGarbage } from "../../../test/support/host/garbage.ts";
import { call, createModelGate, createScriptedModel, done, say } from "../../../test/support/models/scripted-model.ts";
import { createSessionSubject } from "../../../test/support/sessions/session-subject.ts";
import { createToolDouble, editNeed } from "../../../test/support/sessions/turn-subject.ts";
import { modelFailure } from "../../core/models/model.ts";
import { createTurns } from "./print-turns.ts";

const ready = () => Promise.resolve();

describe("createTurns", () => {
	it("runs turns one after the other, each after the end of the last was printed", async () => {
		const model = createScriptedModel([[say("a"), done()], [modelFailure("status", "no", 400)]]);
		const { session } = await createSessionSubject(model);
		const types: string[] = [];
		const turns = createTurns(session, ({ body }) => void types.push(body.type), ready);
		expect(await turns.run("one")).toEqual({ status: "finished" });
		expect(types.splice(0)).toEqual([
			"turn.started",
			"step.started",
			"content.delta",
			"content.completed",
			"status.changed",
			"turn.ended",
		]);
		expect(await turns.run("two")).toMatchObject({ status: "failed", error: { code: "provider-failed" } });
		expect(types.at(-1)).toBe("turn.ended");
	});

	it("holds nothing of a turn that is over", async () => {
		const { session } = await createSessionSubject(createScriptedModel([[say("a"), done()]]));
		const turns = createTurns(session, () => {}, ready);
		const outcome = new WeakRef(await turns.run("one"));
		await turns.run("two");
		await new Promise(setImmediate);
		collectGarbage();
		expect(outcome.deref()).toBeUndefined();
	});

	it("applies backpressure of the output to the model", async () => {
		const { session } = await createSessionSubject(
			createScriptedModel([[...Array.from({ length: 2000 }, () => say("a")), done()]]),
		);
		let taken = 0;
		let release = () => {};
		const blocked = new Promise<void>((resolve) => {
			release = resolve;
		});
		const running = createTurns(
			session,
			() => {
				taken += 1;
			},
			() => blocked,
		).run("hi");
		for (let rounds = 0; rounds < 100; rounds += 1) await new Promise((resolve) => setImmediate(resolve));
		expect(taken).toBeGreaterThan(0);
		expect(taken).toBeLessThan(2000);
		release();
		expect(await running).toEqual({ status: "finished" });
		expect(taken).toBeGreaterThan(2000);
	});

	it("rejects approvals with feedback that lets the turn continue", async () => {
		const model = createScriptedModel([
			[call("c1", "E"), done()],
			[say("ok"), done()],
		]);
		const tool = createToolDouble("E", { approval: editNeed, hasEffect: true });
		const { session } = await createSessionSubject(model, [tool]);
		const answers: unknown[] = [];
		const turns = createTurns(
			session,
			({ body }) => {
				if (body.type === "interaction.resolved") answers.push(body.answer);
			},
			ready,
		);
		expect(await turns.run("hi")).toEqual({ status: "finished" });
		expect(answers).toEqual([
			{ kind: "approval", decision: "reject", feedback: expect.stringContaining("print mode") },
		]);
		expect(model.requests).toHaveLength(2);
	});

	it("is cancelled when the session stops", async () => {
		const gate = createModelGate();
		const { session } = await createSessionSubject(createScriptedModel([[gate, done()]]));
		const running = createTurns(session, () => {}, ready).run("hi");
		await gate.reached;
		await session.stop();
		expect(await running).toEqual({ status: "cancelled" });
	});

	it("rejects when the session is closing, and when an event cannot be printed", async () => {
		const stopped = await createSessionSubject(createScriptedModel([]));
		const turns = createTurns(stopped.session, () => {}, ready);
		await stopped.session.stop();
		await expect(turns.run("hi")).rejects.toMatchObject({ code: "closed" });

		const { session } = await createSessionSubject(createScriptedModel([[say("a"), done()]]));
		const fail = () => {
			throw new Error("broken printer");
		};
		await expect(createTurns(session, fail, ready).run("hi")).rejects.toThrow("broken printer");
	});
});
