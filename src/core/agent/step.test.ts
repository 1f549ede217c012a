import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import {
	call,
	createModelGate,
	createScriptedModel,
	done,
	parts,
	say,
} from "../../../test/support/models/scripted-model.ts";
import { createToolDouble, createTurnSubject, editNeed } from "../../../test/support/sessions/turn-subject.ts";
import { toolSuccess } from "../../api/values/content.ts";
import type { ContextRow } from "../../api/values/conversation.ts";
import type { EventBody } from "../../api/values/event.ts";
import { createDeferred } from "../../base/deferred.ts";
import { modelFailure } from "../models/model.ts";

const usage = { input_other: 80, output: 7, input_cache_read: 15, input_cache_creation: 5 };
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const lastType = ({ events }: { readonly events: readonly EventBody[] }) => events.at(-1)?.type;

describe("retries of a turn", () => {
	it("emits each retry, waits by the clock, and begins no new step", async () => {
		const clock = createFakeClock();
		const model = createScriptedModel([
			[say("par"), modelFailure("status", "busy", 503)],
			[modelFailure("connection", "reset")],
			[say("ok"), done()],
		]);
		const subject = createTurnSubject(model, [], { clock });
		const running = subject.run();
		while (lastType(subject) !== "step.retrying") await settled();
		expect(subject.events.at(-1)).toEqual({
			type: "step.retrying",
			n: 1,
			next_attempt: 2,
			max_attempts: 3,
			wait_s: 0.5,
			error_type: "APIStatusError",
			status_code: 503,
			reason: "HTTP 503: busy",
		});
		await settled();
		clock.advance(499);
		await settled();
		expect(model.requests).toHaveLength(1);
		clock.advance(1);
		while (model.requests.length < 2 || lastType(subject) !== "step.retrying") await settled();
		expect(subject.events.at(-1)).toMatchObject({
			next_attempt: 3,
			wait_s: 1,
			error_type: "APIConnectionError",
			status_code: null,
		});
		await settled();
		clock.advance(1000);
		expect(await running).toEqual({ status: "finished" });
		expect(subject.events.filter((body) => body.type === "step.started")).toHaveLength(1);
		expect(model.requests[2]).toEqual(model.requests[0]);
		expect(subject.rows.at(-1)).toEqual({
			type: "message",
			message: { role: "assistant", content: [{ type: "text", text: "ok" }] },
		});
	});

	it.each([
		["a stream that breaks off", [say("a")], { message: "The model's answer broke off.", retryable: true }],
		["an empty answer", [done()], { message: "The model sent an empty answer.", retryable: true }],
		["a refusal", [modelFailure("status", "bad key", 401)], { message: "bad key" }],
	])("fails with %s after the last attempt", async (_name, script, error) => {
		const subject = createTurnSubject(createScriptedModel([script]), [], { limits: { maxSteps: 5, maxAttempts: 1 } });
		expect(await subject.run()).toEqual({ status: "failed", error: { code: "provider-failed", data: null, ...error } });
		expect(subject.order.at(-1)).toBe("step.interrupted");
		expect(subject.events.at(-1)).toEqual({ type: "step.interrupted", reason: "error" });
	});

	it("retains a call with an image in its result for a model that accepts none", async () => {
		const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA", id: null } } as const;
		const look = createToolDouble("Look", { result: toolSuccess({ output: [image] }) });
		const model = createScriptedModel([
			[call("c1", "Look"), done()],
			[say("ok"), done()],
		]);
		const subject = createTurnSubject(model, [look]);
		expect(await subject.run()).toEqual({ status: "finished" });
		expect(subject.rows).toContainEqual({
			type: "message",
			message: expect.objectContaining({ role: "tool", toolCallId: "c1", content: expect.arrayContaining([image]) }),
		});
	});

	it.each([
		["a stream that breaks off", [say("a")], "APIConnectionError"],
		["an empty answer", [done()], "APIEmptyResponseError"],
		["a refusal", [modelFailure("status", "bad key", 401)], "APIStatusError"],
		["an expired sign-in", [modelFailure("login", "sign in", 401)], "APIStatusError"],
		["a timeout", [modelFailure("timeout", "slow")], "APITimeoutError"],
		["a provider's failure without a status", [modelFailure("provider", "exhausted")], "ChatProviderError"],
		["an internal error", [modelFailure("defect", "nonsense")], "InternalError"],
	])("gives %s its error class", async (_name, script, errorType) => {
		const failures: unknown[] = [];
		const subject = createTurnSubject(createScriptedModel([script]), [], {
			limits: { maxSteps: 5, maxAttempts: 1 },
			stepFailed: (error, type) => void failures.push([error, type]),
		});
		const outcome = await subject.run();
		expect(failures).toEqual([[outcome.status === "failed" ? outcome.error : outcome, errorType]]);
	});

	it("gives a request that exceeds the window after compaction the error class of its retry", async () => {
		const failures: unknown[] = [];
		const overflow = modelFailure("overflow", "too long", 400);
		const subject = createTurnSubject(createScriptedModel([[overflow], [overflow]]), [], {
			stepFailed: (_error, type) => void failures.push(type),
		});
		await subject.run();
		const retries = subject.events.flatMap((body) => (body.type === "step.retrying" ? [body.error_type] : []));
		expect([retries, failures]).toEqual([["APIStatusError"], ["APIStatusError"]]);
	});

	it("ends the calls of a failed attempt before it emits the retry, and emits nothing of them", async () => {
		const clock = createFakeClock();
		const order: string[] = [];
		const executing = createDeferred<void>();
		const tool = createToolDouble("T", {
			execute: (signal) =>
				new Promise((resolve) => {
					executing.resolve();
					signal.addEventListener("abort", () => {
						order.push("effect over");
						resolve(toolSuccess({}));
					});
				}),
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
		await executing.promise;
		gate.open();
		while (!order.includes("step.retrying")) await settled();
		await settled();
		clock.advance(1000);
		await running;
		expect(order.slice(-4)).toEqual(["effect over", "step.retrying", "content.delta", "status.changed"]);
	});
});

describe("calls of a failed attempt that changed something", () => {
	const acting = (double: Parameters<typeof createToolDouble>[1] = {}) =>
		createToolDouble("Act", { hasEffect: true, ...double });
	const asked = { type: "message", message: { role: "user", content: [{ type: "text", text: "hi" }] } } as const;
	const conversation = (rows: readonly ContextRow[]) =>
		rows.flatMap((row) => (row.type === "message" ? [row.message] : []));

	it.each([
		["a transient error", modelFailure("connection", "reset")],
		["an overflow within the answer", modelFailure("overflow", "too long", 400)],
	])("are in the request of the next attempt, after %s", async (_name, failure) => {
		const gate = createModelGate();
		const model = createScriptedModel([
			[
				parts({ type: "think", think: "act", encrypted: null }),
				call("c1", "Act"),
				call("c2", "Look"),
				say("x"),
				gate,
				failure,
			],
			[say("ok"), done()],
		]);
		const clock = createFakeClock();
		const results: string[] = [];
		const subject = createTurnSubject(model, [acting(), createToolDouble("Look")], {
			clock,
			emit: async (body) => {
				if (body.type === "tool.result") results.push(body.toolCallId);
				if (body.type === "step.retrying") setImmediate(() => clock.advance(1000));
			},
		});
		const running = subject.run();
		await gate.reached;
		while (results.length < 2) await settled();
		gate.open();
		expect(await running).toEqual({ status: "finished" });
		expect(model.requests[1]?.messages).toMatchObject([
			asked.message,
			{ role: "assistant", content: [{ type: "think", think: "act" }], toolCalls: [{ id: "c1" }] },
			{ role: "tool", toolCallId: "c1", content: [{ type: "text", text: "Act output" }] },
		]);
		expect(conversation(subject.rows).map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
	});

	it("are of unknown outcome when they had not ended", async () => {
		const gate = createModelGate();
		const executing = createDeferred<void>();
		const tool = acting({
			execute: (signal) => {
				executing.resolve();
				return new Promise((resolve) => signal.addEventListener("abort", () => resolve(toolSuccess({}))));
			},
		});
		const model = createScriptedModel([
			[call("c1", "Act"), say("x"), gate, modelFailure("timeout", "slow")],
			[say("ok"), done()],
		]);
		const clock = createFakeClock();
		const subject = createTurnSubject(model, [tool], { clock });
		const running = subject.run();
		await gate.reached;
		await executing.promise;
		gate.open();
		while (lastType(subject) !== "step.retrying") await settled();
		await settled();
		clock.advance(1000);
		await running;
		expect(model.requests[1]?.messages.at(-1)).toMatchObject({
			role: "tool",
			toolCallId: "c1",
			content: [{ text: expect.stringContaining("Look before you repeat it.") }],
		});
	});

	it("are in the context after a failure that ends the turn, stored with its event", async () => {
		const gate = createModelGate();
		const model = createScriptedModel([[call("c1", "Act"), say("x"), gate, modelFailure("provider", "no")]]);
		const subject = createTurnSubject(model, [acting()]);
		const running = subject.run();
		await gate.reached;
		while (!subject.order.includes("tool.result c1")) await settled();
		gate.open();
		expect(await running).toMatchObject({ status: "failed" });
		expect(subject.order.slice(-2)).toEqual(["rows assistant tool", "step.interrupted"]);
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
			journal: { started: async () => at("started c1"), ended: async () => at("ended c1") },
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
		expect(order.includes("ended c1") || order.includes("tool.result c1")).toBe(hasStarted);
		if (point === "started c1") expect(order).not.toContain("execute");
	});

	it("ends the turn at once while it waits for a retry", async () => {
		const clock = createFakeClock();
		const subject = createTurnSubject(createScriptedModel([[modelFailure("timeout", "slow")]]), [], { clock });
		const running = subject.run();
		while (lastType(subject) !== "step.retrying") await settled();
		await settled();
		subject.controller.abort();
		expect(await running).toEqual({ status: "cancelled" });
		expect(clock.waiting()).toBe(0);
	});

	it("lets a step that is being persisted complete", async () => {
		const subject = createTurnSubject(createScriptedModel([[parts({ type: "text", text: "a" }), done()]]), [], {
			commit: async () => {
				if (subject.rows.some((row) => row.type === "message" && row.message.role === "assistant"))
					subject.controller.abort();
			},
		});
		expect(await subject.run()).toEqual({ status: "finished" });
	});
});
