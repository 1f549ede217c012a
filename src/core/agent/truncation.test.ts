import { describe, expect, it } from "vitest";
import {
	call,
	createScriptedModel,
	type ModelScript,
	parts,
	say,
} from "../../../test/support/models/scripted-model.ts";
import { createToolDouble, createTurnSubject } from "../../../test/support/sessions/turn-subject.ts";
import type { ModelChunk } from "../models/model.ts";
import type { TurnDependencies } from "./dependencies.ts";

const ended = (kind: "truncated" | "paused", reason: string): ModelChunk => ({
	type: "done",
	usage: null,
	messageId: null,
	end: { kind, reason },
});
const truncated = ended("truncated", "max_tokens");
const done: ModelChunk = { type: "done", usage: null, messageId: null };
const thought = parts({ type: "think", think: "hm", encrypted: null });

function createSubject(scripts: readonly ModelScript[], overrides: Partial<TurnDependencies> = {}) {
	const ran: string[] = [];
	const tool = createToolDouble("T", {
		async open(value) {
			ran.push(JSON.stringify(value));
			return null;
		},
	});
	const model = createScriptedModel(scripts);
	const subject = createTurnSubject(model, [tool], overrides);
	const roles = () => subject.rows.flatMap((row) => (row.type === "message" ? [row.message.role] : []));
	const results = () => subject.events.flatMap((body) => (body.type === "tool.result" ? [body.result.message] : []));
	return { ...subject, model, ran, roles, results };
}

describe("a truncated answer", () => {
	it("ends the turn as truncated, with the provider's reason, and stays in the context", async () => {
		const subject = createSubject([[say("half"), truncated]]);
		expect(await subject.run()).toEqual({ status: "truncated", reason: "max_tokens" });
		expect(subject.roles()).toEqual(["user", "assistant"]);
		expect(subject.events.at(-1)).toMatchObject({ type: "status.changed", truncated: "max_tokens" });
	});

	it.each([
		["nothing", []],
		["reasoning alone", [thought]],
	])("that has %s is not retried and adds no message", async (_name, script) => {
		const subject = createSubject([[...script, truncated]]);
		expect(await subject.run()).toEqual({ status: "truncated", reason: "max_tokens" });
		expect([subject.roles(), subject.model.requests.length]).toEqual([["user"], 1]);
	});

	it("runs its complete calls, and the turn goes on", async () => {
		const subject = createSubject([
			[call("c1", "T", '{"a":1}'), truncated],
			[say("ok"), done],
		]);
		expect(await subject.run()).toEqual({ status: "finished" });
		expect(subject.ran).toEqual(['{"a":1}']);
	});

	it.each([null, "", '{"a":', '{"a":"x'])(
		"never runs a call that ends in %j; the model may try again",
		async (text) => {
			const subject = createSubject([
				[call("c1", "T", '{"a":1}'), call("c2", "T", text), truncated],
				[say("ok"), done],
			]);
			expect(await subject.run()).toEqual({ status: "finished" });
			expect(subject.ran).toEqual(['{"a":1}']);
			expect(subject.results()).toContainEqual(expect.stringContaining("The call was not run: your answer reached"));
			expect(subject.roles()).toEqual(["user", "assistant", "tool", "tool", "assistant"]);
		},
	);

	it("ends the turn when it ends within a call twice in a row", async () => {
		const half = [call("c1", "T", '{"a":'), truncated];
		const subject = createSubject([half, half, [say("never"), done]]);
		expect(await subject.run()).toEqual({ status: "truncated", reason: "max_tokens" });
		expect([subject.ran, subject.model.requests.length]).toEqual([[], 2]);
	});

	it("is continued by input that waits", async () => {
		const subject = createSubject([
			[say("half"), truncated],
			[say("rest"), done],
		]);
		subject.steers.add("go on");
		expect(await subject.run()).toEqual({ status: "finished" });
	});
});

describe("a paused answer", () => {
	const paused = ended("paused", "pause_turn");

	it("is sent back, and the model goes on", async () => {
		const subject = createSubject([
			[say("search"), paused],
			[say("found"), done],
		]);
		expect(await subject.run()).toEqual({ status: "finished" });
		expect(subject.model.requests[1]?.messages.at(-1)).toEqual({
			role: "assistant",
			content: [{ type: "text", text: "search" }],
		});
	});

	it("counts as a step", async () => {
		const script = [say("a"), paused];
		const subject = createSubject([script, script, script], { limits: { maxSteps: 2, maxAttempts: 1 } });
		expect(await subject.run()).toEqual({ status: "max-steps", limit: "steps", steps: 2 });
	});
});
