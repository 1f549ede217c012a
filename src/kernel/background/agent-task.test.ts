// Background subagents of a session: which of their events are delivered, their interactions, and their ends.
import { describe, expect, it } from "vitest";
import { briefOf } from "../../../test/support/host/tool-environment.ts";
import {
	call,
	createModelGate,
	createScriptedModel,
	done,
	type ModelScript,
	say,
} from "../../../test/support/models/scripted-model.ts";
import { untilTasksEnd } from "../../../test/support/sessions/background-work.ts";
import { backgroundSettings, createQuietParts } from "../../../test/support/sessions/session-doubles.ts";
import {
	agentCall,
	createSubagentSubject,
	longReport,
	type SubagentOptions,
	type SubagentSubject,
} from "../../../test/support/sessions/subagent-subject.ts";
import { createToolDouble } from "../../../test/support/sessions/turn-subject.ts";
import { createSessionDouble } from "../../../test/support/store/failing-session.ts";
import type { EventBody, EventType } from "../../api/values/event.ts";
import type { ClientHook } from "../../api/values/hooks/hook.ts";
import { type Model, type ModelRequest, modelFailure } from "../../core/models/model.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";

const report: ModelScript = [say(longReport), done()];
const touch: ModelScript = [say("I touch it."), call("c1", "E", '{"x":1}'), done()];
const answer = (text: string): ModelScript => [say(text), done()];
const inBackground = (changes: object = {}) =>
	agentCall("P", { subagent_type: "small", run_in_background: true, ...changes });

/** A session whose agent starts a background subagent with a model of its own, and then answers. */
async function createSubject(small: Model, options: SubagentOptions = {}, changes: object = {}) {
	const model = createScriptedModel([
		[inBackground(changes), done()],
		answer("started"),
		answer("two"),
		answer("three"),
	]);
	const subject = await createSubagentSubject(model, { models: { small }, ...options });
	const { tasks } = subject.double.stored;
	return {
		...subject,
		model,
		task: async () => {
			const [task] = await tasks.list();
			if (task === undefined) throw new Error("no task");
			return task;
		},
		runtime: async () => (await (await tasks.list())[0]?.runtime()) ?? null,
		output: async () => String((await (await tasks.list())[0]?.outputTail(10_000))?.bytes),
		/** Resolves once no task is active any more. */
		over: () => untilTasksEnd(subject.session),
		news: async () => (await subject.double.stored.notifications.list()).map(({ notification }) => notification.type),
	};
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const approve = { kind: "approval", decision: "approve", feedback: "" } as const;
const typesFrom = (bodies: readonly EventBody[], type: EventType) => {
	const types = bodies.map((body) => body.type);
	return types.slice(types.indexOf(type));
};
const texts = (request: ModelRequest | undefined) =>
	(request?.messages ?? []).map(({ content }) =>
		content.map((part) => (part.type === "text" ? part.text : "")).join(""),
	);

/** Starts the subagent and waits for its approval request, between turns. */
async function asking(subject: Awaited<ReturnType<typeof createSubject>>) {
	const asked = subject.client.next("interaction.requested");
	await subject.run();
	const { interaction } = await asked;
	if (interaction.kind !== "approval") throw new Error(interaction.kind);
	return interaction;
}

const agentEvents = ({ events }: SubagentSubject) => events.filter(({ agentPath }) => agentPath.length > 0);

describe("a subagent in the background", () => {
	it("returns a task at once; its events are not emitted, and its end is a notification in the next turn", async () => {
		const gate = createModelGate();
		const subject = await createSubject(createScriptedModel([[gate, say(longReport), done()]]));
		const { P } = await subject.run();
		const task = await subject.task();
		expect(P?.is_error).toBe(false);
		expect(String(P?.output).split("\n").slice(0, 6)).toEqual([
			`task_id: ${task.spec.id}`,
			"kind: agent",
			"status: running",
			"description: a task",
			`agent_id: ${task.spec.agent?.agentId}`,
			"actual_subagent_type: small",
		]);
		expect(task.spec).toMatchObject({
			id: expect.stringMatching(/^agent-[0-9a-z]{8}$/),
			toolCallId: "P",
			timeout: backgroundSettings.agentTaskTimeoutS,
			agent: { subagentType: "small", prompt: "do it", modelOverride: null },
		});
		expect((await subject.session.send({ type: "tasks.list" })).tasks).toMatchObject([
			{ id: task.spec.id, kind: "agent", status: "running", description: "a task" },
		]);
		gate.open();
		await subject.over();
		expect(await subject.runtime()).toMatchObject({ status: "completed", exitCode: null, failureReason: null });
		expect(agentEvents(subject)).toEqual([]);

		const from = subject.client.bodies.length;
		await subject.run();
		expect(typesFrom(subject.client.bodies.slice(from), "turn.started").slice(0, 3)).toEqual([
			"turn.started",
			"notification.raised",
			"step.started",
		]);
		const [delivered = ""] = texts(subject.model.requests[2]).filter((text) => text.startsWith("<notification "));
		expect(delivered).toContain(`source_id="${task.spec.id}"`);
		expect(delivered).toContain(`Agent ID: ${task.spec.agent?.agentId}`);
		expect(delivered).toContain(`[summary]\n${longReport}`);
	});

	it("ends when a person stops it, which stops nothing a second time", async () => {
		const subject = await createSubject(createScriptedModel([[createModelGate(), say(longReport), done()]]));
		await subject.run();
		const { id } = (await subject.task()).spec;
		expect(await subject.session.send({ type: "task.stop", id })).toEqual({ stopped: true });
		await subject.over();
		expect(await subject.runtime()).toMatchObject({ status: "killed", failureReason: "Stopped by a person." });
		expect(await subject.session.send({ type: "task.stop", id })).toEqual({ stopped: false });
	});

	it("writes an output that can be read while it works", async () => {
		const gate = createModelGate();
		const tool = createToolDouble("E");
		const subject = await createSubject(createScriptedModel([touch, [gate, ...report]]), { tool });
		await subject.run();
		await gate.reached;
		expect(await subject.output()).toBe('I touch it.\n[E] {"x":1}\n');
		gate.open();
		await subject.over();
		expect(await subject.output()).toBe(`I touch it.\n[E] {"x":1}\n${longReport}\n[summary]\n${longReport}\n`);
	});

	it("stores its events in its own log, and not in the session's", async () => {
		const double = await createSessionDouble();
		const persisted: string[] = [];
		const watched = {
			...double,
			stored: {
				...double.stored,
				createAgent: async (description: Parameters<typeof double.stored.createAgent>[0]) => {
					const agent = await double.stored.createAgent(description);
					return {
						...agent,
						async appendEvents(events: Parameters<typeof agent.appendEvents>[0]) {
							persisted.push(...events.map(({ body }) => body.type));
						},
					};
				},
			},
		};
		const subject = await createSubject(createScriptedModel([report]), { double: watched });
		await subject.run();
		await subject.over();
		expect(persisted.filter((type) => !type.endsWith(".delta"))).toEqual([
			"turn.started",
			"step.started",
			"content.completed",
			"status.changed",
			"turn.ended",
		]);
		const logged: number[] = [];
		for await (const batch of subject.session.events()) logged.push(...batch.map(({ agentPath }) => agentPath.length));
		expect(logged.every((length) => length === 0)).toBe(true);
	});

	it("that fails reports why", async () => {
		const subject = await createSubject(createScriptedModel([[modelFailure("status", "the model is broken", 400)]]));
		await subject.run();
		await subject.over();
		expect(await subject.runtime()).toMatchObject({
			status: "failed",
			timedOut: false,
			failureReason: expect.stringContaining("the model is broken"),
		});
		expect(await subject.news()).toEqual(["task.failed"]);
	});

	it.each([
		[{}, backgroundSettings.agentTaskTimeoutS],
		[{ timeout: 60 }, 60],
	])("exceeds its time limit: %j", async (changes, seconds) => {
		const gate = createModelGate();
		const subject = await createSubject(createScriptedModel([[gate, ...report]]), {}, changes);
		await subject.run();
		await gate.reached;
		subject.clock.advance(seconds * 1000 - 1);
		await settle();
		expect((await subject.runtime())?.status).toBe("running");
		subject.clock.advance(1);
		await subject.over();
		expect(await subject.runtime()).toMatchObject({ status: "failed", timedOut: true });
		expect(await subject.news()).toEqual(["task.timed_out"]);
	});

	it("that cannot be persisted fails alone", async () => {
		const double = await createSessionDouble();
		const stored = {
			...double.stored,
			createAgent: async (description: Parameters<typeof double.stored.createAgent>[0]) => ({
				...(await double.stored.createAgent(description)),
				changeContext: () => Promise.reject(new Error("disk full")),
			}),
		};
		const subject = await createSubject(createScriptedModel([report]), { double: { ...double, stored } });
		await subject.run();
		await subject.over();
		expect(await subject.runtime()).toMatchObject({ status: "failed", failureReason: "disk full" });
		await subject.run();
		expect(subject.client.bodies.at(-1)).toEqual({ type: "turn.ended", outcome: { status: "finished" } });
	});
});

describe("an interaction of a subagent in the background", () => {
	it("is requested between turns, in the name of the subagent, while the task waits", async () => {
		const subject = await createSubject(createScriptedModel([touch, report]));
		const interaction = await asking(subject);
		const task = await subject.task();
		expect(interaction).toMatchObject({
			toolCallId: "c1",
			sender: "E",
			action: "edit file",
			sourceKind: "background_agent",
			sourceId: task.spec.id,
			agentId: task.spec.agent?.agentId,
			subagentType: "small",
		});
		expect(subject.session.turnId).toBeNull();
		expect(await subject.runtime()).toMatchObject({
			status: "awaiting_approval",
			failureReason: expect.stringContaining("Edit it\nApproving it for the session covers "),
		});
		await subject.session.send({ type: "interaction.respond", interactionId: interaction.id, answer: approve });
		expect(await subject.client.next("interaction.resolved")).toMatchObject({
			interactionId: interaction.id,
			answer: approve,
		});
		await subject.over();
		expect(await subject.runtime()).toMatchObject({ status: "completed", failureReason: null });
		expect(agentEvents(subject).map(({ body, turnId }) => [body.type, turnId])).toEqual([
			["interaction.requested", null],
			["interaction.resolved", null],
			["tool.started", null],
			["tool.ended", null],
		]);
	});

	it("lets the subagent continue after a rejection", async () => {
		const small = createScriptedModel([touch, report]);
		const subject = await createSubject(small);
		const interaction = await asking(subject);
		await subject.session.send({
			type: "interaction.respond",
			interactionId: interaction.id,
			answer: { ...approve, decision: "reject" },
		});
		await subject.over();
		expect((await subject.runtime())?.status).toBe("completed");
		expect(texts(small.requests[1]).at(-1)).toContain("another way");
	});

	it("stays open when a turn ends or is cancelled, and is sent again to a client that attaches", async () => {
		const subject = await createSubject(createScriptedModel([touch, report]));
		const interaction = await asking(subject);
		await subject.run();
		await subject.start();
		await subject.session.send({ type: "turn.cancel" });
		await subject.client.next("turn.ended");
		expect((await subject.runtime())?.status).toBe("awaiting_approval");
		const second = subject.attach();
		expect(await second.next("interaction.requested")).toMatchObject({ interaction: { id: interaction.id } });
		expect(second.bodies).toHaveLength(1);
		await subject.session.send({ type: "interaction.respond", interactionId: interaction.id, answer: approve });
		await subject.over();
		expect((await subject.runtime())?.status).toBe("completed");
	});

	it("is resolved when the task is stopped, and its resolution is delivered", async () => {
		const subject = await createSubject(createScriptedModel([touch, report]));
		const interaction = await asking(subject);
		const { id } = (await subject.task()).spec;
		await subject.operations().tasks?.stop(id, "enough");
		expect(await subject.client.next("interaction.resolved")).toMatchObject({
			interactionId: interaction.id,
			answer: { decision: "reject" },
		});
		await subject.over();
		expect(await subject.runtime()).toMatchObject({ status: "killed", interrupted: true, failureReason: "enough" });
	});

	it("is resolved when the session ends, and the effect never happens", async () => {
		let effects = 0;
		const tool = createToolDouble("E", {
			approval: { byDefault: "ask", action: "edit file", subjects: [], description: "Edit it", display: [] },
			hasEffect: true,
			execute: async () => {
				effects += 1;
				throw new Error("not to be");
			},
		});
		const subject = await createSubject(createScriptedModel([touch, report]), { tool });
		const interaction = await asking(subject);
		await subject.session.stop();
		expect(subject.client.bodies).toContainEqual({
			type: "interaction.resolved",
			interactionId: interaction.id,
			answer: { kind: "approval", decision: "reject", feedback: "" },
			by: { kind: "shutdown" },
		});
		await subject.session.close(AbortSignal.timeout(1000));
		expect(await subject.runtime()).toMatchObject({
			status: "killed",
			interrupted: true,
			failureReason: "The session ended.",
		});
		expect([effects, await subject.news()]).toEqual([0, ["task.killed"]]);
	});

	it("with a hook of the client is requested, but no hook event is emitted", async () => {
		const hook = (event: ClientHook["event"]): ClientHook => ({
			kind: "client",
			event,
			matcher: "^(E|small)$",
			timeout: 30,
			subscriptionId: event,
		});
		const subject = await createSubject(createScriptedModel([touch, report]), {
			tool: createToolDouble("E", { execute: () => Promise.reject(new Error("not to be")) }),
			attach: { hooks: [hook("SubagentStart"), hook("PreToolUse")] },
		});
		const asked: string[] = [];
		const { onEvent } = subject.client;
		subject.client.onEvent = (event) => {
			onEvent(event);
			const { body } = event;
			if (body.type !== "interaction.requested" || body.interaction.kind !== "hook") return;
			asked.push(`${body.interaction.event} ${body.interaction.target}`);
			const action = body.interaction.event === "PreToolUse" ? "block" : "allow";
			const answer = { kind: "hook", action, reason: "no" } as const;
			void subject.session.send({ type: "interaction.respond", interactionId: body.interaction.id, answer });
		};
		await subject.run();
		await subject.over();
		expect(asked).toEqual(["SubagentStart small", "PreToolUse E"]);
		expect(await subject.output()).toContain("[failed] no\n");
		expect((await subject.runtime())?.status).toBe("completed");
		expect(subject.client.bodies.filter(({ type }) => type.startsWith("hook."))).toEqual([]);
	});
});

it("a subagent at work is named to the model after a compaction", async () => {
	const gate = createModelGate();
	const subject = await createSubject(createScriptedModel([[gate, ...report]]));
	await subject.run();
	const { id } = (await subject.task()).spec;
	await subject.session.send({ type: "turn.start", input: "/compact" });
	await subject.client.next("turn.ended");
	await subject.client.next("turn.ended");
	await subject.run();
	const about = (request: ModelRequest | undefined) =>
		texts(request).filter((text) => text.includes(id) && text.includes("not over"));
	expect(about(subject.model.requests.at(-1))).toHaveLength(1);
	gate.open();
	await subject.over();
});

it("a notification for the model is passed to hooks while the turn continues", async () => {
	const hook: ClientHook = {
		kind: "client",
		event: "Notification",
		matcher: "^task\\.completed$",
		timeout: 30,
		subscriptionId: "h",
	};
	const subject = await createSubject(createScriptedModel([report]), { attach: { hooks: [hook] } });
	await subject.run();
	await subject.over();
	const from = subject.client.bodies.length;
	const asked = subject.client.next("interaction.requested");
	const ran = subject.run();
	const { interaction } = await asked;
	expect(interaction).toMatchObject({
		kind: "hook",
		event: "Notification",
		target: "task.completed",
		input: {
			sink: "llm",
			notification_type: "task.completed",
			title: "Background task completed: a task",
			body: expect.stringContaining("Status: completed"),
			severity: "success",
		},
	});
	await subject.session.send({
		type: "interaction.respond",
		interactionId: interaction.id,
		answer: { kind: "hook", action: "allow", reason: "" },
	});
	await ran;
	const types = subject.client.bodies.slice(from).map(({ type }) => type);
	expect(types.filter((type) => type.startsWith("hook."))).toEqual(["hook.triggered", "hook.resolved"]);
});

describe("a start in the background", () => {
	it.each([
		["an unknown id", { resume: "a00000000" }, "Agent not found"],
		["an unknown type", { subagent_type: "poet" }, "Invalid subagent type"],
		["an unknown model", { model: "nope" }, "Invalid model alias"],
	])("is refused for %s", async (_name, changes, brief) => {
		const subject = await createSubject(createScriptedModel([]), {}, changes);
		const { P } = await subject.run();
		expect(P === undefined ? null : briefOf(P)).toBe(brief);
		expect(await subject.double.stored.tasks.list()).toEqual([]);
	});

	it("is refused above the limit", async () => {
		const quiet = createQuietParts((await createSessionDouble()).stored);
		const background = { ...quiet.background, settings: { ...backgroundSettings, maxRunningTasks: 1 } };
		const gate = createModelGate();
		const small = createScriptedModel([[gate, ...report]]);
		const model = createScriptedModel([
			[inBackground(), agentCall("Q", { prompt: "more", subagent_type: "small", run_in_background: true }), done()],
			answer("over"),
		]);
		const { run } = await createSubagentSubject(model, { models: { small }, parts: { background } });
		const { P, Q } = await run();
		expect(P?.is_error).toBe(false);
		expect(Q === undefined ? null : briefOf(Q)).toBe("Background start failed");
		gate.open();
	});

	it("is refused for a subagent at work, in the foreground too, which can be resumed later", async () => {
		const gate = createModelGate();
		const small = createScriptedModel([[gate, ...report], report]);
		const scripts: ModelScript[] = [[inBackground(), done()], answer("started")];
		const model = createScriptedModel(scripts);
		const subject = await createSubagentSubject(model, { models: { small } });
		await subject.run();
		await gate.reached;
		const resume = (await subject.double.stored.tasks.list())[0]?.spec.agent?.agentId ?? "";
		scripts.push(
			[agentCall("Q", { resume }), agentCall("R", { resume, run_in_background: true, prompt: "b" }), done()],
			answer("refused"),
			[agentCall("S", { resume }), done()],
			answer("over"),
		);
		const { Q, R } = await subject.run();
		expect([Q, R].map((result) => (result === undefined ? null : briefOf(result)))).toEqual([
			"Agent failed",
			"Agent already running",
		]);
		gate.open();
		await untilTasksEnd(subject.session);
		const { S } = await subject.run();
		expect(S?.output).toContain(`agent_id: ${resume}\nresumed: true\n`);
	});

	it("takes no slot of subagents in the foreground", async () => {
		const gate = createModelGate();
		const subject = await createSubject(createScriptedModel([[gate, ...report]]), { parallel: 1 });
		await subject.run();
		await gate.reached;
		expect(subject.client.bodies.filter(({ type }) => type === "turn.ended")).toHaveLength(1);
		gate.open();
		await subject.over();
	});
});

it("a subagent of a killed process is lost, and reported as lost", async () => {
	const store = createMemoryStore();
	const gate = createModelGate();
	const first = await createSubject(createScriptedModel([[gate]]), { double: await createSessionDouble(store) });
	await first.run();
	await gate.reached;
	const model = createScriptedModel([answer("hm")]);
	const second = await createSubagentSubject(model, { double: await createSessionDouble(store) });
	await second.session.start();
	await second.run();
	expect(second.client.bodies.find(({ type }) => type === "notification.raised")).toMatchObject({
		notification_type: "task.lost",
	});
	expect(texts(model.requests[0]).some((text) => text.includes("Status: lost"))).toBe(true);
});
