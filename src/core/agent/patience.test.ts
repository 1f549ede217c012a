import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createModelGate, createScriptedModel, done, say } from "../../../test/support/models/scripted-model.ts";
import { createTurnSubject } from "../../../test/support/sessions/turn-subject.ts";
import { modelFailure } from "../models/model.ts";

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function createSubject(scripts: Parameters<typeof createScriptedModel>[0], maxAttempts = 8) {
	const clock = createFakeClock();
	const model = createScriptedModel(scripts);
	const subject = createTurnSubject(model, [], { clock, limits: { maxSteps: 5, maxAttempts } });
	const waits = () =>
		subject.events.flatMap((body) => (body.type === "notification.raised" ? [body.payload["waited_s"]] : []));
	/** Moves on by seconds, once nothing else is left to do. */
	const pass = async (seconds: number) => {
		await settled();
		clock.advance(seconds * 1000);
		await settled();
	};
	return { ...subject, clock, model, waits, pass };
}

describe("a model that is silent", () => {
	it("is reported after 30 s, and again after twice the time", async () => {
		const gate = createModelGate();
		const subject = createSubject([[gate, say("ok"), done()]]);
		const running = subject.run();
		await gate.reached;
		await subject.pass(29);
		expect(subject.waits()).toEqual([]);
		await subject.pass(1);
		expect(subject.waits()).toEqual([30]);
		await subject.pass(100);
		expect(subject.waits()).toEqual([30, 60, 120]);
		gate.open();
		expect(await running).toEqual({ status: "finished" });
		expect(subject.clock.waiting()).toBe(0);
		expect(subject.events.find((body) => body.type === "notification.raised")).toMatchObject({
			title: "Waiting for the model",
			body: "No data for 30 s.",
		});
	});

	it("in the middle of an answer is reported too, and what came counts anew", async () => {
		const [first, second] = [createModelGate(), createModelGate()];
		const subject = createSubject([[first, say("a"), second, say("b"), done()]]);
		const running = subject.run();
		await first.reached;
		await subject.pass(20);
		first.open();
		await second.reached;
		await subject.pass(20);
		expect(subject.waits()).toEqual([]);
		await subject.pass(10);
		expect(subject.waits()).toEqual([30]);
		second.open();
		expect(await running).toEqual({ status: "finished" });
	});

	it("for as long as it may is not asked again", async () => {
		const gate = createModelGate();
		const subject = createSubject([[gate, modelFailure("timeout", "The provider sent nothing for 300 s.")]]);
		const running = subject.run();
		await gate.reached;
		await subject.pass(300);
		gate.open();
		expect(await running).toMatchObject({
			status: "failed",
			error: { message: "The provider sent nothing for 300 s.", retryable: true },
		});
		expect(subject.model.requests).toHaveLength(1);
	});

	it("has one limit for all attempts of a step", async () => {
		const [first, second] = [createModelGate(), createModelGate()];
		const subject = createSubject([
			[first, modelFailure("status", "bad gateway", 502)],
			[second, say("never"), done()],
		]);
		const running = subject.run();
		await first.reached;
		await subject.pass(200);
		first.open();
		await settled();
		await subject.pass(1);
		await second.reached;
		await subject.pass(99);
		expect(subject.model.requests).toHaveLength(2);
		await subject.pass(1);
		expect(await running).toMatchObject({ error: { message: "The provider sent nothing for 300 s." } });
		expect(subject.waits()).toEqual([30, 60, 120, 240]);
	});
});

it("a notice of the model reaches clients", async () => {
	const notice = "Requests use chat completions.";
	const subject = createSubject([[say("ok"), { type: "done", usage: null, messageId: null, notice }]]);
	expect(await subject.run()).toEqual({ status: "finished" });
	expect(subject.events.find((body) => body.type === "notification.raised")).toMatchObject({
		notification_type: "model.notice",
		body: notice,
	});
});
