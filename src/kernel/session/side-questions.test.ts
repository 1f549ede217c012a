import { describe, expect, it } from "vitest";
import {
	call,
	createModelGate,
	createScriptedModel,
	done,
	type ModelScript,
	parts,
	say,
} from "../../../test/support/models/scripted-model.ts";
import { plainAttachment } from "../../../test/support/sessions/session-doubles.ts";
import { createSessionSubject } from "../../../test/support/sessions/session-subject.ts";
import { createToolDouble } from "../../../test/support/sessions/turn-subject.ts";
import { createMemoryLog } from "../../../test/support/store/store-directory.ts";
import type { Model } from "../../core/models/model.ts";
import { modelFailure } from "../../core/models/model.ts";

const ask = (question: string) => ({ type: "side-question.start", question }) as const;
const start = (input: string) => ({ type: "turn.start", input }) as const;
const plain = (text: string): ModelScript => [say(text), done()];
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

async function createSubject(model: Model | null, tools: Parameters<typeof createSessionSubject>[1] = []) {
	const subject = await createSessionSubject(model, tools);
	const client = subject.attach();
	/** The outcome of one question, and the events delivered about it. */
	const askAside = async (question: string) => {
		await subject.session.send(ask(question));
		return await client.next("side-question.ended");
	};
	return { ...subject, client, askAside };
}

describe("a side question", () => {
	it("is answered without a turn, outside of the context", async () => {
		const model = createScriptedModel([plain("first"), plain(" aside "), plain("second")]);
		const { session, client, askAside, double } = await createSubject(model);
		await session.send(start("one"));
		await client.next("turn.ended");
		const before = client.bodies.length;
		const ended = await askAside("why?");
		expect(client.bodies.slice(before)).toEqual([
			{ type: "side-question.started", id: ended.id, question: "why?" },
			{ type: "side-question.ended", id: ended.id, response: "aside", error: null },
		]);
		expect(ended.id).toEqual(expect.any(String));
		expect(model.requests[1]?.tools).toEqual([]);
		expect(model.requests[1]?.systemPrompt).toBe("Be brief.");
		expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
		expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain("why?");
		await session.send(start("two"));
		await client.next("turn.ended");
		expect(JSON.stringify(model.requests[2]?.messages)).not.toContain("aside");
		const rows = JSON.stringify(double.stored.contextRows);
		expect(rows).not.toContain("why?");
	});

	it("says when its answer is incomplete", async () => {
		const end = { kind: "truncated", reason: "length" } as const;
		const model = createScriptedModel([[say("half"), { type: "done", usage: null, messageId: null, end }]]);
		const { askAside } = await createSubject(model);
		const { response } = await askAside("why?");
		expect(response).toMatch(/^half\n\n\[The answer is incomplete: .*\(length\)/);
	});

	it("is asked again when the model fails, and clients are told", async () => {
		const model = createScriptedModel([[modelFailure("status", "overloaded", 529)], plain("aside")]);
		const { session, client, clock } = await createSubject(model);
		await session.send(ask("why?"));
		const title = "Retrying in 0.5 s (attempt 2 of 3)";
		expect(await client.next("notification.raised")).toMatchObject({ title, body: "HTTP 529: overloaded" });
		await settled();
		clock.advance(500);
		expect(await client.next("side-question.ended")).toMatchObject({ response: "aside" });
	});

	it("is answered in a session without prompts, which then continues with one context", async () => {
		const model = createScriptedModel([plain("aside"), plain("first"), plain("second")]);
		const { session, client, askAside } = await createSubject(model);
		await askAside("why?");
		await session.send(start("one"));
		await client.next("turn.ended");
		await session.send(start("two"));
		await client.next("turn.ended");
		expect(model.requests[2]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
	});

	it("concurrent with the first prompt shares its context", async () => {
		const byKind = { turn: 0 };
		const seen: number[] = [];
		const model: Model = {
			...createScriptedModel([]),
			async *stream(request) {
				if (request.tools.length === 0 && JSON.stringify(request.messages).includes("why?")) yield say("aside");
				else {
					byKind.turn += 1;
					seen.push(request.messages.length);
					yield say("answer");
				}
				yield done();
			},
		};
		const { session, client } = await createSubject(model);
		await Promise.all([session.send(ask("why?")), session.send(start("one"))]);
		await client.next("turn.ended");
		await session.send(start("two"));
		await client.next("turn.ended");
		expect(seen).toEqual([1, 3]);
		const prompts = client.bodies.filter(({ type }) => type === "turn.started");
		expect(prompts).toHaveLength(2);
	});

	it("is answered while a turn runs, without effect on it", async () => {
		const gate = createModelGate();
		const model = createScriptedModel([[say("a"), gate, say("b"), done()], plain("aside")]);
		const { session, client, askAside } = await createSubject(model);
		await session.send(start("one"));
		await gate.reached;
		expect(await askAside("why?")).toMatchObject({ response: "aside", error: null });
		gate.open();
		expect(await client.next("turn.ended")).toMatchObject({ outcome: { status: "finished" } });
		const completed = client.bodies.flatMap((body) => (body.type === "content.completed" ? [body.part] : []));
		expect(completed).toEqual([{ type: "text", text: "ab" }]);
	});

	it("is answered while an approval is open", async () => {
		const model = createScriptedModel([[call("c1", "E"), done()], plain("aside"), plain("over")]);
		const need = { byDefault: "ask" as const, action: "edit file", subjects: [], description: "Edit it", display: [] };
		const { session, client, askAside } = await createSubject(model, [createToolDouble("E", { approval: need })]);
		await session.send(start("one"));
		const requested = await client.next("interaction.requested");
		expect(await askAside("why?")).toMatchObject({ response: "aside" });
		const answer = { kind: "approval", decision: "approve", feedback: "" } as const;
		await session.send({ type: "interaction.respond", interactionId: requested.interaction.id, answer });
		expect(await client.next("turn.ended")).toMatchObject({ outcome: { status: "finished" } });
	});

	it("has an answer without reasoning", async () => {
		const thought = parts({ type: "think", think: "hm", encrypted: null });
		const { askAside } = await createSubject(createScriptedModel([[thought, say("so"), done()]]));
		expect(await askAside("why?")).toMatchObject({ response: "so" });
	});

	it.each<readonly [string, string, Model | null, string]>([
		["without a question", "", createScriptedModel([]), "There is no question: write it after /btw."],
		["without a model", "why?", null, "LLM is not set"],
		["when the provider fails", "why?", createScriptedModel([[modelFailure("provider", "no credit")]]), "no credit"],
		["when the answer is empty", "why?", createScriptedModel([[say(" "), done()]]), "The model sent an empty answer."],
	])("ends with an error %s", async (_name, question, model, error) => {
		const { askAside } = await createSubject(model);
		expect(await askAside(question)).toMatchObject({ response: null, error });
	});

	it("during a turn reports no internal error, which is logged", async () => {
		const log = createMemoryLog();
		const broken: Model = {
			...createScriptedModel([]),
			stream: () => {
				throw new Error("inside");
			},
		};
		const { session, attach } = await createSessionSubject(broken, [], { log });
		const client = attach();
		await session.send(ask("why?"));
		expect((await client.next("side-question.ended")).error).toBe("Internal error; the log has the details.");
		expect(String(log.lines.find(({ level }) => level === "error")?.fields["error"])).toContain("inside");
	});

	it("is stopped alone when it is cancelled, with its model call", async () => {
		const [one, other] = [createModelGate(), createModelGate()];
		const scripts = [
			[say("half"), one, done()],
			[other, say("aside"), done()],
		];
		const { session, client } = await createSubject(createScriptedModel(scripts));
		const { id } = await session.send(ask("why?"));
		await one.reached;
		await session.send(ask("how?"));
		await other.reached;
		// The answer of the first one never comes by itself.
		expect(await session.send({ type: "side-question.cancel", id })).toBeNull();
		expect(await client.next("side-question.ended")).toMatchObject({ id, error: "The question was stopped." });
		for (const unknown of [id, "none"]) await session.send({ type: "side-question.cancel", id: unknown });
		other.open();
		expect(await client.next("side-question.ended")).toMatchObject({ response: "aside" });
	});

	it("ends with the session, and is refused afterwards", async () => {
		const gate = createModelGate();
		const { session, client } = await createSubject(createScriptedModel([[say("half"), gate, done()]]));
		await session.send(ask("why?"));
		await gate.reached;
		await session.stop();
		await settled();
		expect(client.bodies.at(-1)).toMatchObject({
			type: "side-question.ended",
			response: null,
			error: "The question was stopped.",
		});
		await expect(session.send(ask("more?"))).rejects.toMatchObject({ code: "closed" });
	});

	it("ends for its client when it cannot be persisted", async () => {
		const { double, askAside } = await createSubject(createScriptedModel([plain("aside")]));
		double.failEvents = true;
		expect(await askAside("why?")).toMatchObject({ response: null, error: "Cannot write /s/wire.jsonl: disk full" });
	});

	it("does not delay the end of the session while a client reads nothing", async () => {
		const gate = createModelGate();
		const model = createScriptedModel([[gate, say("aside"), done()]]);
		const { session } = await createSessionSubject(model);
		session.attach(plainAttachment);
		await session.send(ask("why?"));
		await gate.reached;
		// The feed of a client that reads nothing fills up; later events wait for it.
		const waiting = Array.from({ length: 130 }, () => session.send(ask("")));
		await Promise.all(waiting);
		for (let n = 0; n < 10; n += 1) await settled();
		gate.open();
		await expect(session.stop()).resolves.toBeUndefined();
	});
});

describe("a side question as its own prompt", () => {
	it("is answered in its own turn, and neither question nor answer is in the context", async () => {
		const model = createScriptedModel([plain("first"), plain(" aside "), plain("second")]);
		const { session, client, double } = await createSubject(model);
		await session.send(start("one"));
		await client.next("turn.ended");
		const before = client.bodies.length;
		const rows = JSON.stringify(double.stored.contextRows);
		await session.send(start("/btw why?"));
		expect((await client.next("turn.ended")).outcome).toEqual({ status: "finished" });
		const id = expect.any(String);
		expect(client.bodies.slice(before)).toEqual([
			{ type: "turn.started", input: "/btw why?" },
			{ type: "side-question.started", id, question: "why?" },
			{ type: "content.delta", part: { type: "text", text: "aside" }, offset: 0 },
			{ type: "content.completed", part: { type: "text", text: "aside" } },
			{ type: "side-question.ended", id, response: "aside", error: null },
			{ type: "turn.ended", outcome: { status: "finished" } },
		]);
		expect(JSON.stringify(double.stored.contextRows)).toBe(rows);
		expect(model.requests[1]?.tools).toEqual([]);
		expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain("why?");
		await session.send(start("two"));
		await client.next("turn.ended");
		expect(JSON.stringify(model.requests[2]?.messages)).not.toMatch(/aside|why\?/);
	});

	it("ends together with its turn when it is cancelled", async () => {
		const gate = createModelGate();
		const { session, client } = await createSubject(createScriptedModel([[say("half"), gate, done()]]));
		await session.send(start("/btw why?"));
		await gate.reached;
		await session.send({ type: "turn.cancel" });
		expect(await client.next("side-question.ended")).toMatchObject({ error: "The question was stopped." });
		expect((await client.next("turn.ended")).outcome).toEqual({ status: "cancelled" });
		expect(client.bodies.map(({ type }) => type)).toEqual([
			"turn.started",
			"side-question.started",
			"side-question.ended",
			"turn.ended",
		]);
	});

	it.each([
		["when the provider fails", [modelFailure("provider", "no credit")], "provider-failed", "no credit"],
		["when the answer is empty", [say(" "), done()], "provider-failed", "The model sent an empty answer."],
	])("fails %s, and its end has the reason", async (_, script: ModelScript, code, message) => {
		const { session, client } = await createSubject(createScriptedModel([script]));
		await session.send(start("/btw why?"));
		expect(await client.next("side-question.ended")).toMatchObject({ response: null, error: message });
		expect((await client.next("turn.ended")).outcome).toMatchObject({ status: "failed", error: { code, message } });
	});

	it("ends for its client when its answer cannot be persisted", async () => {
		const gate = createModelGate();
		const { double, session, client } = await createSubject(createScriptedModel([[say("a"), gate, done()]]));
		await session.send(start("/btw why?"));
		await gate.reached;
		double.failEvents = true;
		gate.open();
		const error = "Cannot write /s/wire.jsonl: disk full";
		expect(await client.next("side-question.ended")).toMatchObject({ response: null, error });
		expect((await client.next("turn.ended")).outcome).toMatchObject({
			status: "failed",
			error: { code: "storage-failed" },
		});
		expect(client.bodies.filter(({ type }) => type === "side-question.ended")).toHaveLength(1);
	});

	it("reports no internal error", async () => {
		const broken: Model = {
			...createScriptedModel([]),
			stream: () => {
				throw new Error("inside");
			},
		};
		const { session, client } = await createSubject(broken);
		await session.send(start("/btw why?"));
		expect((await client.next("side-question.ended")).error).toBe("Internal error; the log has the details.");
		expect((await client.next("turn.ended")).outcome).toMatchObject({ status: "failed", error: { code: "internal" } });
	});

	it("is listed with the other slash commands", async () => {
		const { session } = await createSubject(createScriptedModel([]));
		expect((await session.send({ type: "session.describe" })).slashCommands.map(({ name }) => name)).toContain("btw");
	});
});
