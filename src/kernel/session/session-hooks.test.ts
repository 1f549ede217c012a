// Hooks, questions and plan mode in the turns of a session (wire-protocol §4.1, §4.8, §4.12, §11.1).

import { describe, expect, it } from "vitest";
import { createToolPlace } from "../../../test/support/host/tool-environment.ts";
import { call, createScriptedModel, done, say } from "../../../test/support/models/scripted-model.ts";
import { createQuietParts } from "../../../test/support/sessions/session-doubles.ts";
import { createSessionSubject, type SessionSubject } from "../../../test/support/sessions/session-subject.ts";
import { createToolDouble, editNeed } from "../../../test/support/sessions/turn-subject.ts";
import { createSessionDouble, storageFailure } from "../../../test/support/store/failing-session.ts";
import { heldSession } from "../../../test/support/store/held-session.ts";
import type { UserInput } from "../../api/values/content.ts";
import type { ClientHook } from "../../api/values/hooks/hook.ts";
import type { HookEvent } from "../../api/values/hooks/hook-event.ts";
import type { ModelRequest } from "../../core/models/model.ts";
import { createAskUserQuestion } from "../../core/tools/session/ask-user-question.ts";
import { createEnterPlanMode, createExitPlanMode } from "../../core/tools/session/plan-mode.ts";

const on = (event: HookEvent, timeout = 30): ClientHook => ({
	kind: "client",
	event,
	matcher: "",
	timeout,
	subscriptionId: event,
});
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const subscriptions = (...hooks: ClientHook[]) => ({ hooks });

/** Roles and texts of what the model was shown. */
const shown = (request: ModelRequest | undefined) =>
	(request?.messages ?? []).map(({ role, content }) => [
		role,
		content.map((part) => (part.type === "text" ? part.text : part.type)).join("|"),
	]);

async function answerHook(
	subject: SessionSubject,
	client: ReturnType<SessionSubject["attach"]>,
	reason: string | null,
) {
	const { interaction } = await client.next("interaction.requested");
	const answer = { kind: "hook", action: reason === null ? "allow" : "block", reason: reason ?? "" } as const;
	await subject.session.send({ type: "interaction.respond", interactionId: interaction.id, answer });
	return interaction;
}

/** The answer comes once the beginning is stored, which the hooks of the prompt precede. */
const start = ({ session }: SessionSubject, input: UserInput = "hi"): void =>
	void session.send({ type: "turn.start", input });

describe("a hook before the prompt", () => {
	it.each([
		["a prompt that it lets pass", null],
		["a prompt that it blocks", "Keep it."],
	])("does not hide that the session cannot be marked as the last one: %s", async (_, reason) => {
		const double = await createSessionDouble();
		const markStarted = () => Promise.reject(storageFailure);
		const stored = { ...double.stored, markStarted };
		const model = createScriptedModel([[say("ok"), done()]]);
		const subject = await createSessionSubject(model, [], { stored: heldSession(stored) }, double);
		const client = subject.attach(subscriptions(on("UserPromptSubmit")));
		start(subject);
		await answerHook(subject, client, reason);
		expect(await client.next("turn.ended")).toMatchObject({
			outcome: { status: "failed", error: { code: "storage-failed", message: storageFailure.message } },
		});
		expect(model.requests).toEqual([]);
	});

	it("runs before the turn is emitted, and a blocked prompt leaves nothing in the context", async () => {
		const model = createScriptedModel([[say("ok"), done()]]);
		const subject = await createSessionSubject(model);
		const client = subject.attach(subscriptions(on("UserPromptSubmit")));
		start(subject, "a secret");
		await answerHook(subject, client, "Keep it.");
		expect(await client.next("turn.ended")).toMatchObject({ outcome: { status: "finished" } });
		expect(client.bodies.map(({ type }) => type)).toEqual([
			"hook.triggered",
			"interaction.requested",
			"interaction.resolved",
			"hook.resolved",
			"turn.started",
			"content.delta",
			"content.completed",
			"turn.ended",
		]);
		expect(model.requests).toEqual([]);
		start(subject, "open");
		await answerHook(subject, client, null);
		await client.next("turn.ended");
		expect(shown(model.requests[0])).toEqual([["user", "open"]]);
		expect(subject.double.stored.state().customTitle).toBe("open");
	});

	it("gets no text for an input of parts", async () => {
		const subject = await createSessionSubject(createScriptedModel([[say("ok"), done()]]));
		const client = subject.attach(subscriptions(on("UserPromptSubmit")));
		start(subject, [{ type: "text", text: "hi" }]);
		expect(await answerHook(subject, client, null)).toMatchObject({ target: "", input: { prompt: "" } });
		await client.next("turn.ended");
	});

	it("ends with a cancel", async () => {
		const model = createScriptedModel([[say("ok"), done()]]);
		const subject = await createSessionSubject(model);
		const client = subject.attach(subscriptions(on("UserPromptSubmit")));
		start(subject);
		await client.next("interaction.requested");
		await subject.session.send({ type: "turn.cancel" });
		expect(await client.next("turn.ended")).toMatchObject({ outcome: { status: "cancelled" } });
		expect(model.requests).toEqual([]);
	});
});

describe("a hook after the turn", () => {
	it("makes the agent continue once, with its reason as the next input", async () => {
		const model = createScriptedModel([
			[say("one"), done()],
			[say("two"), done()],
		]);
		const subject = await createSessionSubject(model);
		const client = subject.attach(subscriptions(on("Stop")));
		start(subject);
		expect(await answerHook(subject, client, "Run the tests.")).toMatchObject({ input: { stop_hook_active: false } });
		expect(await client.next("turn.ended")).toMatchObject({ outcome: { status: "finished" } });
		expect(shown(model.requests[1])).toEqual([
			["user", "hi"],
			["assistant", "one"],
			["user", "Run the tests."],
		]);
		expect(client.bodies.filter(({ type }) => type === "turn.started")).toHaveLength(1);
		expect(client.bodies.filter(({ type }) => type === "hook.triggered")).toHaveLength(1);
		expect(client.bodies.flatMap((body) => (body.type === "step.started" ? [body.n] : []))).toEqual([1, 1]);
		expect(subject.double.stored.state().customTitle).toBe("hi");
	});

	it("is followed by a second run that accepts steers", async () => {
		const model = createScriptedModel([
			[say("one"), done()],
			[call("c1", "Wait"), done()],
			[say("three"), done()],
		]);
		const subject = await createSessionSubject(model, [
			createToolDouble("Wait", {
				async execute() {
					await subject.session.send({ type: "turn.steer", input: "and lint" });
					return { is_error: false, output: "", message: "", display: [], extras: null };
				},
			}),
		]);
		const client = subject.attach(subscriptions(on("Stop")));
		start(subject);
		await answerHook(subject, client, "Run the tests.");
		await client.next("turn.ended");
		expect(client.bodies.filter(({ type }) => type === "steer.consumed")).toHaveLength(1);
	});

	it("is followed by a run for steers that arrived meanwhile", async () => {
		const model = createScriptedModel([
			[say("one"), done()],
			[say("two"), done()],
		]);
		const subject = await createSessionSubject(model);
		const client = subject.attach(subscriptions(on("Stop")));
		start(subject);
		const { interaction } = await client.next("interaction.requested");
		await subject.session.send({ type: "turn.steer", input: "and lint" });
		const answer = { kind: "hook", action: "allow", reason: "" } as const;
		await subject.session.send({ type: "interaction.respond", interactionId: interaction.id, answer });
		expect(await client.next("turn.ended")).toMatchObject({ outcome: { status: "finished" } });
		expect(shown(model.requests[1])).toEqual([
			["user", "hi"],
			["assistant", "one"],
			["user", "and lint"],
		]);
		await expect(subject.session.send({ type: "turn.steer", input: "too late" })).rejects.toMatchObject({
			code: "no-turn",
		});
	});

	it("does not change the outcome of a cancelled turn", async () => {
		const subject = await createSessionSubject(createScriptedModel([[say("one"), done()]]));
		const client = subject.attach(subscriptions(on("Stop")));
		start(subject);
		await client.next("interaction.requested");
		await subject.session.send({ type: "turn.cancel" });
		expect(await client.next("turn.ended")).toMatchObject({ outcome: { status: "cancelled" } });
	});

	it("does not run after a failed or interrupted turn", async () => {
		const subject = await createSessionSubject(createScriptedModel([]));
		const client = subject.attach(subscriptions(on("Stop")));
		start(subject);
		expect(await client.next("turn.ended")).toMatchObject({ outcome: { status: "failed" } });
		expect(client.bodies.filter(({ type }) => type === "hook.triggered")).toEqual([]);
	});
});

describe("hooks in parallel with the turn", () => {
	it("are waited for before it ends, up to a limit", async () => {
		const subject = await createSessionSubject(createScriptedModel([]));
		const client = subject.attach(subscriptions(on("StopFailure", 600)));
		start(subject);
		const { interaction } = await client.next("interaction.requested");
		expect(interaction).toMatchObject({
			kind: "hook",
			event: "StopFailure",
			target: "InternalError",
			input: { error_type: "InternalError", error_message: expect.any(String) },
		});
		expect(client.bodies.some(({ type }) => type === "turn.ended")).toBe(false);
		subject.clock.advance(5000);
		await client.next("turn.ended");
		const types = client.bodies.map(({ type }) => type);
		expect(types.slice(types.indexOf("step.interrupted"))).toEqual([
			"step.interrupted",
			"hook.triggered",
			"interaction.requested",
			"interaction.resolved",
			"hook.resolved",
			"turn.ended",
		]);
	});

	it.each([
		[
			"finished",
			[
				[call("c1", "T"), done()],
				[say("ok"), done()],
			],
			5,
		],
		["reached the limit of steps", [[call("c1", "T"), done()]], 1],
	] as const)(
		"leave a turn that had %s cancelled when it is cancelled while they run",
		async (_how, script, maxSteps) => {
			const model = createScriptedModel(script.map((step) => [...step]));
			const subject = await createSessionSubject(model, [createToolDouble("T")], {
				limits: { maxSteps, maxAttempts: 1 },
			});
			const client = subject.attach(subscriptions(on("PostToolUse")));
			start(subject);
			await client.next("interaction.requested");
			await settled();
			await subject.session.send({ type: "turn.cancel" });
			expect(await client.next("turn.ended")).toMatchObject({ outcome: { status: "cancelled" } });
		},
	);

	it("are not run for a call whose approval a cancel settled", async () => {
		const edit = createToolDouble("E", { approval: editNeed, hasEffect: true });
		const subject = await createSessionSubject(createScriptedModel([[call("c1", "E"), done()]]), [edit]);
		const client = subject.attach(subscriptions(on("PostToolUse"), on("PostToolUseFailure")));
		start(subject);
		await client.next("interaction.requested");
		await subject.session.send({ type: "turn.cancel" });
		await client.next("turn.ended");
		expect(client.bodies.map(({ type }) => type).slice(-3)).toEqual([
			"interaction.resolved",
			"step.interrupted",
			"turn.ended",
		]);
		expect(client.bodies.filter(({ type }) => type === "hook.triggered")).toEqual([]);
	});

	it("get at most 2000 characters of a result, or its message", async () => {
		const outputs = [
			{ output: "x".repeat(3000), message: "m" },
			{ output: "", message: "only this" },
			{ output: [{ type: "text", text: "a" } as const, { type: "text", text: "b" } as const], message: "m" },
		];
		const model = createScriptedModel([
			[call("c1", "T0"), call("c2", "T1"), call("c3", "T2"), done()],
			[say("ok"), done()],
		]);
		const tools = outputs.map((fields, index) =>
			createToolDouble(`T${index}`, { result: { is_error: false, display: [], extras: null, ...fields } }),
		);
		const subject = await createSessionSubject(model, tools);
		const client = subject.attach(subscriptions(on("PostToolUse")));
		start(subject);
		const interactions = [];
		for (let n = 0; n < 3; n += 1) interactions.push(await answerHook(subject, client, "too late to matter"));
		await client.next("turn.ended");
		expect(interactions).toMatchObject([
			{ target: "T0", input: { tool_name: "T0", tool_input: {}, tool_call_id: "c1", tool_output: "x".repeat(2000) } },
			{ target: "T1", input: { tool_output: "only this" } },
			{ target: "T2", input: { tool_output: "ab" } },
		]);
	});
});

describe("questions of a session", () => {
	const question = { question: "Which?", options: [{ label: "a" }, { label: "b" }] };

	async function askingSubject() {
		const place = await createToolPlace();
		const model = createScriptedModel([
			[call("c1", "AskUserQuestion", JSON.stringify({ questions: [question] })), done()],
			[say("ok"), done()],
		]);
		const subject = await createSessionSubject(model, [], {
			createTools: async (operations) => [createAskUserQuestion({ ...place.environment, ...operations })],
		});
		await place.remove();
		return { subject, model };
	}

	it("are offered only to a client that supports them", async () => {
		for (const capabilities of [[], ["questions"] as const]) {
			const { subject, model } = await askingSubject();
			const client = subject.attach({ capabilities });
			start(subject);
			if (capabilities.length > 0) {
				const { interaction } = await client.next("interaction.requested");
				await subject.session.send({
					type: "interaction.respond",
					interactionId: interaction.id,
					answer: { kind: "question", answers: { "Which?": "a" } },
				});
			}
			await client.next("turn.ended");
			expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(
				capabilities.length > 0 ? ["AskUserQuestion"] : [],
			);
		}
	});

	it("count as dismissed when the client detaches meanwhile", async () => {
		const { subject, model } = await askingSubject();
		const client = subject.attach({ capabilities: ["questions"] });
		start(subject);
		await client.next("interaction.requested");
		client.attachment.close();
		const other = subject.attach();
		await other.next("turn.ended");
		expect(JSON.stringify(shown(model.requests[1]))).toContain("dismissed the question");
	});
});

describe("plan mode of a session", () => {
	const tools = ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"];

	it.each([
		[[], []],
		[["questions"], ["AskUserQuestion"]],
		[["plan-mode"], ["EnterPlanMode", "ExitPlanMode"]],
		[["questions", "plan-mode"], tools],
	] as const)("is offered to a client with %j: %j", async (capabilities, offered) => {
		const place = await createToolPlace();
		const model = createScriptedModel([[say("ok"), done()]]);
		const subject = await createSessionSubject(model, [], {
			createTools: async (operations) =>
				[createAskUserQuestion, createEnterPlanMode, createExitPlanMode].map((create) =>
					create({ ...place.environment, ...operations }),
				),
		});
		await place.remove();
		const client = subject.attach({ capabilities });
		start(subject);
		await client.next("turn.ended");
		expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(offered);
	});

	it("persists nothing when the agent has no tools for it", async () => {
		const double = await createSessionDouble();
		const planPlace = { ...createQuietParts(double.stored).planPlace, isSupported: false, startsOn: true };
		const subject = await createSessionSubject(createScriptedModel([]), [], { planPlace }, double);
		const client = subject.attach();
		await subject.session.start();
		for (const enabled of [true, false]) {
			await expect(subject.session.send({ type: "plan-mode.set", enabled })).rejects.toMatchObject({
				code: "unsupported",
				message: "Plan mode is not supported",
			});
		}
		await client.attachment.drained();
		expect([client.bodies, subject.double.stored.state().planMode, subject.double.stored.contextRows]).toEqual([
			[],
			false,
			[],
		]);
	});

	it("reminds the model at the beginning of a step, in the context", async () => {
		const model = createScriptedModel([
			[say("one"), done()],
			[say("two"), done()],
		]);
		const subject = await createSessionSubject(model);
		const client = subject.attach();
		await subject.session.send({ type: "plan-mode.set", enabled: true });
		start(subject);
		await client.next("turn.ended");
		start(subject, "more");
		await client.next("turn.ended");
		const texts = shown(model.requests[1]);
		expect(JSON.stringify(texts).match(/<system-reminder>/g)).toHaveLength(1);
		expect(texts[0]?.[1]).toMatch(/hi[\s\S]*<system-reminder>\nPlan mode is on[\s\S]*\n<\/system-reminder>$/);
	});

	it("has the last requested state, and emits every change, after concurrent requests", async () => {
		const subject = await createSessionSubject(createScriptedModel([]));
		const client = subject.attach();
		const set = (enabled: boolean) => subject.session.send({ type: "plan-mode.set", enabled });
		expect(await Promise.all([set(true), set(false), set(true), set(false)])).toEqual([
			{ planMode: true },
			{ planMode: false },
			{ planMode: true },
			{ planMode: false },
		]);
		await client.attachment.drained();
		const delivered = client.bodies.flatMap((body) => (body.type === "status.changed" ? [body.plan_mode] : []));
		expect([delivered, subject.double.stored.state().planMode]).toEqual([[true, false, true, false], false]);
	});
});
