import { describe, expect, it } from "vitest";
import { createModelGate, createScriptedModel, done, say } from "../../../test/support/models/scripted-model.ts";
import { createTurnSubject } from "../../../test/support/sessions/turn-subject.ts";

const usage = { input_other: 80, output: 7, input_cache_read: 15, input_cache_creation: 5 };

describe("a turn of text", () => {
	it("persists the input first, then emits the step, and persists its message last", async () => {
		const subject = createTurnSubject(createScriptedModel([[say("Hel"), say("lo"), done(usage, "m1")]]));
		expect(await subject.run()).toEqual({ status: "finished" });
		expect(subject.order).toEqual([
			"rows checkpoint user",
			"commit",
			"step.started",
			"rows checkpoint",
			"content.delta",
			"content.delta",
			"rows usage",
			"status.changed",
			"rows assistant usage",
			"commit",
		]);
		expect(subject.rows).toEqual([
			{ type: "checkpoint", id: 0 },
			{ type: "message", message: { role: "user", content: [{ type: "text", text: "hi" }] } },
			{ type: "checkpoint", id: 1 },
			{ type: "usage", tokenCount: 100 },
			{ type: "message", message: { role: "assistant", content: [{ type: "text", text: "Hello" }] } },
			{ type: "usage", tokenCount: 107 },
		]);
		expect(subject.events.at(-1)).toEqual({
			type: "status.changed",
			context_usage: 0.1,
			context_tokens: 100,
			max_context_tokens: 1000,
			token_usage: usage,
			message_id: "m1",
			plan_mode: false,
			mcp_status: null,
		});
	});

	it("emits no context usage when the model reports none", async () => {
		const subject = createTurnSubject(createScriptedModel([[say("a"), done()]]));
		await subject.run();
		expect(subject.events.at(-1)).toMatchObject({
			context_usage: null,
			context_tokens: null,
			token_usage: null,
			plan_mode: false,
		});
	});

	it("fails at once without a model, and names the requested one", async () => {
		const subject = createTurnSubject(null, [], { unsetModelAlias: "k3" });
		expect(await subject.run()).toEqual({
			status: "failed",
			error: { code: "model-not-set", message: "LLM is not set", data: { model: "k3" } },
		});
		expect(subject.order).toEqual([]);
	});

	it.each([
		[["image_url"], "capability: image_in"],
		[["image_url", "video_url", "image_url"], "capabilities: image_in, video_in"],
	] as const)("fails at once for input that the model does not accept: %j", async (types, missing) => {
		const subject = createTurnSubject(createScriptedModel([]));
		const media = { url: "u", id: null };
		const input = types.map((type) =>
			type === "image_url" ? ({ type, image_url: media } as const) : ({ type, video_url: media } as const),
		);
		expect(await subject.run(input)).toEqual({
			status: "failed",
			error: {
				code: "capability-missing",
				message: `LLM model 'scripted' does not support required ${missing}.`,
				data: null,
			},
		});
		expect(subject.order).toEqual([]);
	});

	it("accepts audio, and reasoning for models that always think", async () => {
		const audio = { type: "audio_url", audio_url: { url: "u", id: null } } as const;
		const think = { type: "think", think: "a", encrypted: null } as const;
		const model = () => createScriptedModel([[say("a"), done()]], ["always_thinking"]);
		expect(await createTurnSubject(model()).run([audio, think])).toEqual({ status: "finished" });
	});
});

describe("steers", () => {
	it("enter the context between steps and continue a turn that would end", async () => {
		const gate = createModelGate();
		const model = createScriptedModel([
			[say("a"), gate, done()],
			[say("b"), done()],
		]);
		const subject = createTurnSubject(model);
		const running = subject.run();
		await gate.reached;
		subject.steers.add("first");
		subject.steers.add([{ type: "text", text: "second" }]);
		gate.open();
		expect(await running).toEqual({ status: "finished" });
		expect(subject.events.flatMap((body) => (body.type === "steer.consumed" ? [body.input] : []))).toEqual([
			"first",
			[{ type: "text", text: "second" }],
		]);
		expect(model.requests[1]?.messages.at(-1)).toEqual({
			role: "user",
			content: [
				{ type: "text", text: "first" },
				{ type: "text", text: "second" },
			],
		});
		expect(subject.steers.isEmpty()).toBe(true);
	});

	it("fail the turn when the model does not accept one, without an interrupted step", async () => {
		const gate = createModelGate();
		const subject = createTurnSubject(createScriptedModel([[say("a"), gate, done()]]));
		const running = subject.run();
		await gate.reached;
		subject.steers.add([{ type: "image_url", image_url: { url: "u", id: null } }]);
		gate.open();
		expect(await running).toMatchObject({ status: "failed", error: { code: "capability-missing" } });
		expect(subject.order).not.toContain("step.interrupted");
		expect(subject.order).not.toContain("steer.consumed");
	});
});

describe("notifications for the model", () => {
	const notice = (text: string, retained: string[]) => ({
		text,
		retained: async () => void retained.push(text),
	});

	it("are added at the beginning of a step, each as its own message, and settled once persisted", async () => {
		const retained: string[] = [];
		const waiting = [[notice("<notification one>", retained), notice("<notification two>", retained)], []];
		const model = createScriptedModel([[say("ok"), done()]]);
		const subject = createTurnSubject(model, [], {
			notices: async () => waiting.shift() ?? [],
			reminders: async () => ["Mind it."],
		});
		await subject.run();
		expect(subject.order.slice(2, 4)).toEqual(["step.started", "rows checkpoint user user user"]);
		expect(
			model.requests[0]?.messages.map(({ content }) => content.map((part) => part.type === "text" && part.text)),
		).toEqual([
			["hi"],
			["<notification one>"],
			["<notification two>"],
			["<system-reminder>\nMind it.\n</system-reminder>"],
		]);
		expect(retained).toEqual(["<notification one>", "<notification two>"]);
	});

	it("that could not be persisted are not settled", async () => {
		const retained: string[] = [];
		const subject = createTurnSubject(createScriptedModel([[say("ok"), done()]]), [], {
			notices: async () => [notice("<notification one>", retained)],
		});
		subject.failRowsOf("<notification one>");
		await expect(subject.run()).rejects.toThrow("disk full");
		expect(retained).toEqual([]);
	});
});
