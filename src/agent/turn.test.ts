import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../test/support/campaign-clock.ts";
import {
	call,
	createModelGate,
	createScriptedModel,
	done,
	parts,
	say,
	toolCall,
} from "../../test/support/scripted-model.ts";
import { approveBy, createToolDouble, createTurnSubject, editNeed } from "../../test/support/turn-subject.ts";
import { createDeferred } from "../base/deferred.ts";
import { toolError, toolSuccess } from "../events/content.ts";
import { modelFailure } from "../models/model.ts";

const usage = { input_other: 80, output: 7, input_cache_read: 15, input_cache_creation: 5 };
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("a turn of text", () => {
	it("keeps the input first, then tells the step, and keeps its message last", async () => {
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

	it("tells no context counts without usage", async () => {
		const subject = createTurnSubject(createScriptedModel([[say("a"), done()]]));
		await subject.run();
		expect(subject.events.at(-1)).toMatchObject({
			context_usage: null,
			context_tokens: null,
			token_usage: null,
			plan_mode: false,
		});
	});

	it("fails at once without a model, naming what was asked for", async () => {
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
	] as const)("fails at once for input the model cannot take: %j", async (types, missing) => {
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

	it("lets audio through, and thoughts to models that always think", async () => {
		const audio = { type: "audio_url", audio_url: { url: "u", id: null } } as const;
		const think = { type: "think", think: "a", encrypted: null } as const;
		const model = () => createScriptedModel([[say("a"), done()]], ["always_thinking"]);
		expect(await createTurnSubject(model()).run([audio, think])).toEqual({ status: "finished" });
	});
});

describe("tools in a turn", () => {
	const twoSteps = (...first: Parameters<typeof createScriptedModel>[0][number]) =>
		createScriptedModel([
			[...first, done()],
			[say("ok"), done()],
		]);

	it("starts a call once it is complete, the last after the status, and keeps results in the order of the calls", async () => {
		const slow = createDeferred<void>();
		const tools = [
			createToolDouble("Slow", {
				async execute() {
					await slow.promise;
					return toolSuccess({ output: "slow" });
				},
			}),
			createToolDouble("Quick", {
				hasEffect: true,
				execute: async () => (slow.resolve(), toolSuccess({ output: "quick" })),
			}),
		];
		const subject = createTurnSubject(twoSteps(call("c1", "Slow"), call("c2", "Quick")), tools);
		expect(await subject.run()).toEqual({ status: "finished" });
		expect(subject.order.slice(4, 13)).toEqual([
			"tool-call.started",
			"tool-call.started",
			"status.changed",
			"started c2",
			"finished c2",
			expect.stringMatching(/tool.result c[12]/),
			expect.stringMatching(/tool.result c[12]/),
			"rows assistant tool tool",
			"commit",
		]);
		const messages = subject.rows.flatMap((row) => (row.type === "message" ? [row.message] : []));
		expect(messages.slice(1, 4)).toEqual([
			{
				role: "assistant",
				content: [],
				toolCalls: [toolCall("c1", "Slow", "{}"), toolCall("c2", "Quick", "{}")],
			},
			{ role: "tool", toolCallId: "c1", content: [{ type: "text", text: "slow" }] },
			{ role: "tool", toolCallId: "c2", content: [{ type: "text", text: "quick" }] },
		]);
	});

	it("starts a complete call while the model still speaks", async () => {
		const gate = createModelGate();
		const executed = createDeferred<void>();
		const tool = createToolDouble("T", { execute: async () => (executed.resolve(), toolSuccess({})) });
		const subject = createTurnSubject(twoSteps(call("c1", "T"), say("more"), gate), [tool]);
		const running = subject.run();
		await gate.reached;
		await executed.promise;
		expect(subject.order).not.toContain("status.changed");
		gate.open();
		expect(await running).toEqual({ status: "finished" });
	});

	it("runs identical calls once and tells each", async () => {
		let runs = 0;
		const tool = createToolDouble("T", { execute: async () => toolSuccess({ output: `run ${++runs}` }) });
		const model = twoSteps(
			call("c1", "T", '{"a":1,"b":2}'),
			call("c2", "T", '{ "b":2, "a":1 }'),
			call("c3", "T", '{"a":1}'),
		);
		const subject = createTurnSubject(model, [tool]);
		await subject.run();
		const results = subject.events.flatMap((body) =>
			body.type === "tool.result" ? [[body.toolCallId, body.result.output]] : [],
		);
		expect(new Map(results.map(([id, output]) => [id, output]))).toEqual(
			new Map([
				["c1", "run 1"],
				["c2", "run 1"],
				["c3", "run 2"],
			]),
		);
	});

	it.each([
		["an unknown tool", call("c1", "X"), "Tool `X` not found", "Tool `X` not found"],
		["unreadable arguments", call("c1", "T", "{"), /^Error parsing JSON arguments: ./, "Invalid arguments"],
		[
			"arguments that do not fit",
			call("c1", "Picky"),
			"Error validating JSON arguments: too few.",
			"Invalid arguments",
		],
		["a tool that crashes", call("c1", "Crash"), "Error running tool: boom", "Tool runtime error"],
		["a tool that crashes while it looks", call("c1", "CrashEarly"), "Error running tool: early", "Tool runtime error"],
		[
			"arguments of endless depth",
			call("c1", "Picky", `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`),
			/too few/,
			"Invalid arguments",
		],
	])("gives the model a result for %s and goes on", async (_name, chunk, message, brief) => {
		const tools = [
			createToolDouble("T"),
			createToolDouble("Picky", { open: async () => ({ ok: false, issue: "too few." }) }),
			createToolDouble("Crash", { execute: () => Promise.reject(new Error("boom")) }),
			createToolDouble("CrashEarly", { open: () => Promise.reject(new Error("early")) }),
		];
		const subject = createTurnSubject(twoSteps(chunk), tools);
		expect(await subject.run()).toEqual({ status: "finished" });
		const result = subject.events.flatMap((body) => (body.type === "tool.result" ? [body.result] : []))[0];
		expect(result?.is_error).toBe(true);
		expect(result?.message).toMatch(message);
		expect(result?.display).toEqual([{ type: "brief", text: brief }]);
	});

	it("stops after a refusal without a word, once the others are over", async () => {
		const tools = [createToolDouble("E", { approval: editNeed }), createToolDouble("T")];
		const subject = createTurnSubject(createScriptedModel([[call("c1", "E"), call("c2", "T"), done()]]), tools, {
			approve: approveBy({ c1: { kind: "rejected", feedback: "" } }),
		});
		expect(await subject.run()).toEqual({ status: "finished" });
		expect(subject.events).toContainEqual({
			type: "tool.result",
			toolCallId: "c1",
			result: toolError(
				"The tool call is rejected by the user. Stop what you are doing and wait for the user to tell you how to proceed.",
				"Rejected by user",
			),
		});
		expect(subject.order).toContain("tool.result c2");
	});

	it("goes on after a refusal with feedback, also beside one without", async () => {
		const tools = [createToolDouble("E", { approval: editNeed })];
		const subject = createTurnSubject(twoSteps(call("c1", "E", '{"n":1}'), call("c2", "E", '{"n":2}')), tools, {
			approve: approveBy({ c1: { kind: "rejected", feedback: "F" }, c2: { kind: "rejected", feedback: "" } }),
		});
		await subject.run();
		expect(subject.events.filter((body) => body.type === "step.started")).toHaveLength(2);
		expect(subject.events).toContainEqual({
			type: "tool.result",
			toolCallId: "c1",
			result: toolError("The tool call is rejected by the user. User feedback: F", "Rejected: F"),
		});
	});

	it("fails when a result holds what the model cannot take, and keeps nothing of the step", async () => {
		const image = { type: "image_url", image_url: { url: "u", id: null } } as const;
		const tool = createToolDouble("T", { result: toolSuccess({ output: [image] }) });
		const subject = createTurnSubject(twoSteps(call("c1", "T")), [tool]);
		expect(await subject.run()).toMatchObject({ status: "failed", error: { code: "capability-missing" } });
		expect(subject.order.slice(-2)).toEqual(["tool.result c1", "step.interrupted"]);
		expect(subject.rows.filter((row) => row.type === "message")).toHaveLength(1);
	});

	it("ends at the limit of steps without a further step", async () => {
		const step = [call("c1", "T"), done()];
		const subject = createTurnSubject(createScriptedModel([step, step, step]), [createToolDouble("T")], {
			limits: { maxSteps: 2, maxAttempts: 1 },
		});
		expect(await subject.run()).toEqual({ status: "max-steps", steps: 2 });
		expect(subject.order.at(-1)).toBe("commit");
	});

	it("rejects when a result cannot be told, once the other calls are over", async () => {
		let isOver = false;
		const tools = [
			createToolDouble("T"),
			createToolDouble("Slow", {
				execute: (signal) =>
					new Promise((resolve) =>
						signal.addEventListener("abort", () => {
							isOver = true;
							resolve(toolSuccess({}));
						}),
					),
			}),
		];
		const subject = createTurnSubject(twoSteps(call("c1", "Slow"), call("c2", "T")), tools, {
			emit: async (body) => {
				if (body.type === "tool.result") throw new Error("disk full");
			},
		});
		await expect(subject.run()).rejects.toThrow("disk full");
		expect(isOver).toBe(true);
	});
});

describe("calls that change the same thing", () => {
	/** A file whose edits are prepared against what it holds, and refused when it changed since. */
	function createEditor(slowest: string) {
		const file = { text: "" };
		const prepared = createDeferred<void>();
		const tool = createToolDouble("Edit", {
			async open(value) {
				const added = JSON.stringify(value);
				if (added.includes(slowest)) await settled().then(settled);
				const seen = file.text;
				return {
					ok: true,
					preparation: {
						kind: "ready",
						approval: editNeed,
						hasEffect: true,
						target: "/file",
						async execute() {
							if (file.text !== seen) return toolError("changed", "Changed");
							await settled();
							file.text = `${seen}${added}`;
							return toolSuccess({ output: "done" });
						},
					},
				};
			},
		});
		return { file, tool, prepared };
	}
	const model = () =>
		createScriptedModel([
			[call("c1", "Edit", '"a"'), call("c2", "Edit", '"b"'), done()],
			[say("ok"), done()],
		]);

	it.each([["a"], ["b"]])(
		"are carried out in order when nobody is asked, even if %s is slow to prepare",
		async (slowest) => {
			const { file, tool } = createEditor(slowest);
			const subject = createTurnSubject(model(), [tool], {
				approve: async () => ({ kind: "approved", isShown: false }),
			});
			await subject.run();
			expect(file.text).toBe('"a""b"');
			expect(subject.order.filter((entry) => /^(started|finished)/.test(entry))).toEqual([
				"started c1",
				"finished c1",
				"started c2",
				"finished c2",
			]);
		},
	);

	it("are refused when what a person was shown has changed", async () => {
		const { file, tool } = createEditor("nothing");
		const subject = createTurnSubject(model(), [tool], {
			approve: async (_need, { id }) => {
				if (id === "c2") while (file.text === "") await settled();
				return { kind: "approved", isShown: true };
			},
		});
		await subject.run();
		expect(file.text).toBe('"a"');
		expect(subject.order).toContain("finished c2 badly");
	});
});

describe("retries of a turn", () => {
	it("tells each, waits by the clock, and starts no step anew", async () => {
		const clock = createFakeClock();
		const model = createScriptedModel([
			[say("par"), modelFailure("status", "busy", 503)],
			[modelFailure("connection", "reset")],
			[say("ok"), done()],
		]);
		const subject = createTurnSubject(model, [], { clock });
		const running = subject.run();
		while (clock.waiting() === 0) await settled();
		expect(subject.events.at(-1)).toEqual({
			type: "step.retrying",
			n: 1,
			next_attempt: 2,
			max_attempts: 3,
			wait_s: 0.3,
			error_type: "APIStatusError",
			status_code: 503,
		});
		clock.advance(299);
		await settled();
		expect(model.requests).toHaveLength(1);
		clock.advance(1);
		while (clock.waiting() === 0) await settled();
		expect(subject.events.at(-1)).toMatchObject({
			next_attempt: 3,
			wait_s: 0.6,
			error_type: "APIConnectionError",
			status_code: null,
		});
		clock.advance(600);
		expect(await running).toEqual({ status: "finished" });
		expect(subject.events.filter((body) => body.type === "step.started")).toHaveLength(1);
		expect(model.requests[2]).toEqual(model.requests[0]);
		expect(subject.rows.at(-1)).toEqual({
			type: "message",
			message: { role: "assistant", content: [{ type: "text", text: "ok" }] },
		});
	});

	it.each([
		["a stream that breaks off", [say("a")], "The model's answer broke off."],
		["an empty answer", [done()], "The model sent an empty answer."],
		["a refusal", [modelFailure("status", "bad key", 401)], "bad key"],
	])("fails with %s after the last attempt", async (_name, script, message) => {
		const subject = createTurnSubject(createScriptedModel([script]), [], { limits: { maxSteps: 5, maxAttempts: 1 } });
		expect(await subject.run()).toEqual({ status: "failed", error: { code: "provider-failed", message, data: null } });
		expect(subject.order.at(-1)).toBe("step.interrupted");
		expect(subject.events.at(-1)).toEqual({ type: "step.interrupted", reason: "error" });
	});

	it("ends the calls of the failed attempt before it tells the retry, and tells nothing of them", async () => {
		const clock = createFakeClock();
		const order: string[] = [];
		const tool = createToolDouble("T", {
			execute: (signal) =>
				new Promise((resolve) =>
					signal.addEventListener("abort", () => {
						order.push("effect over");
						resolve(toolSuccess({}));
					}),
				),
		});
		const gate = createModelGate();
		const model = createScriptedModel([
			[call("c1", "T"), say("x"), gate, modelFailure("timeout", "slow")],
			[say("ok"), done()],
		]);
		const subject = createTurnSubject(model, [tool], {
			clock,
			emit: async (body) => void order.push(body.type),
		});
		const running = subject.run();
		await gate.reached;
		gate.open();
		while (clock.waiting() === 0) await settled();
		clock.advance(1000);
		await running;
		expect(order.slice(-4)).toEqual(["effect over", "step.retrying", "content.delta", "status.changed"]);
	});
});

describe("steers", () => {
	it("enter the context between steps and keep a turn going that wants to end", async () => {
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
		expect(subject.steers.add("late")).toBe(false);
	});

	it("fail the turn when the model cannot take one, without an interrupted step", async () => {
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

describe("cancelling a turn", () => {
	const script = [say("a"), call("c1", "E", "{}"), say("b"), done(usage)];
	const points = [
		"step.started",
		"rows checkpoint",
		"content.delta",
		"tool-call.started",
		"rows usage",
		"status.changed",
		"approve",
		"started c1",
		"execute",
		"finished c1",
		"tool.result c1",
	];

	it.each(points)("at %s ends it as cancelled, with no result and no message of the step", async (point) => {
		const order: string[] = [];
		let isIn = false;
		const at = (name: string) => {
			order.push(name);
			if (name === point) subject.controller.abort();
		};
		const tool = createToolDouble("E", {
			approval: editNeed,
			hasEffect: true,
			async execute() {
				isIn = true;
				at("execute");
				await settled();
				isIn = false;
				return toolSuccess({});
			},
		});
		const subject = createTurnSubject(createScriptedModel([script, [say("ok"), done()]]), [tool], {
			emit: async (body) => at(body.type === "tool.result" ? `tool.result ${body.toolCallId}` : body.type),
			approve: async (_need, _call, signal) => {
				at("approve");
				await settled();
				return signal.aborted ? { kind: "cancelled" } : { kind: "approved", isShown: true };
			},
			journal: { started: async () => at("started c1"), finished: async () => at("finished c1") },
		});
		const push = subject.order.push.bind(subject.order);
		subject.order.push = (...entries) => {
			for (const entry of entries) at(entry === "rows usage" || entry === "rows checkpoint" ? entry : "");
			return push(...entries);
		};
		expect(await subject.run()).toEqual({ status: "cancelled" });
		expect(order.at(-1)).toBe("step.interrupted");
		expect(isIn).toBe(false);
		expect(subject.rows.filter((row) => row.type === "message").map((row) => row.message.role)).toEqual(["user"]);
		if (point !== "tool.result c1") expect(order).not.toContain("tool.result c1");
		const hasStarted = order.includes("started c1");
		expect(order.includes("finished c1")).toBe(hasStarted);
		if (point === "started c1") expect(order).not.toContain("execute");
	});

	it("while it waits for a retry ends it at once", async () => {
		const clock = createFakeClock();
		const subject = createTurnSubject(createScriptedModel([[modelFailure("timeout", "slow")]]), [], { clock });
		const running = subject.run();
		while (clock.waiting() === 0) await settled();
		subject.controller.abort();
		expect(await running).toEqual({ status: "cancelled" });
		expect(clock.waiting()).toBe(0);
	});

	it("while the step is being kept lets that be completed", async () => {
		const subject = createTurnSubject(createScriptedModel([[parts({ type: "text", text: "a" }), done()]]), [], {
			commit: async () => {
				if (subject.rows.some((row) => row.type === "message" && row.message.role === "assistant"))
					subject.controller.abort();
			},
		});
		expect(await subject.run()).toEqual({ status: "finished" });
	});
});
