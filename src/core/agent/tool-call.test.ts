import { describe, expect, it } from "vitest";
import { toolCall } from "../../../test/support/models/model-conversation.ts";
import { call, createModelGate, createScriptedModel, done, say } from "../../../test/support/models/scripted-model.ts";
import {
	approveBy,
	createToolDouble,
	createTurnSubject,
	editNeed,
} from "../../../test/support/sessions/turn-subject.ts";
import { toolError, toolSuccess } from "../../api/values/content.ts";
import { createDeferred } from "../../base/deferred.ts";
import { KernelError } from "../../base/errors.ts";
import { allowed } from "../hooks/hook.ts";
import type { ApprovalNeed, Tool } from "../tools/tool.ts";

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

const notPersisted = new KernelError("storage-failed", "The disk is full.");

describe("tools in a turn", () => {
	const twoSteps = (...first: Parameters<typeof createScriptedModel>[0][number]) =>
		createScriptedModel([
			[...first, done()],
			[say("ok"), done()],
		]);

	it("executes no effect before its intent is persisted", async () => {
		const asked = createDeferred<void>();
		const persisted = createDeferred<void>();
		let isExecuted = false;
		const tool = createToolDouble("T", {
			hasEffect: true,
			async execute() {
				isExecuted = true;
				return toolSuccess({ output: "done" });
			},
		});
		const subject = createTurnSubject(twoSteps(call("c1", "T")), [tool], {
			journal: {
				started: async () => {
					asked.resolve();
					await persisted.promise;
				},
				ended: async () => {},
			},
		});
		const running = subject.run();
		await asked.promise;
		await settled();
		expect(isExecuted).toBe(false);
		persisted.resolve();
		await running;
		expect(isExecuted).toBe(true);
	});

	it("starts a call once it is complete, the last after the status, and stores results in the order of the calls", async () => {
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
				async execute() {
					slow.resolve();
					return toolSuccess({ output: "quick" });
				},
			}),
		];
		const subject = createTurnSubject(twoSteps(call("c1", "Slow"), call("c2", "Quick")), tools);
		expect(await subject.run()).toEqual({ status: "finished" });
		expect(subject.order.slice(4, 13)).toEqual([
			"tool-call.started",
			"tool-call.started",
			"started c1",
			"status.changed",
			"started c2",
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

	it("gives a tool, its hooks and its client arguments that fit its schema", async () => {
		const opened: unknown[] = [];
		const seen: unknown[] = [];
		const tool: Tool = {
			...createToolDouble("T"),
			parameters: async () => ({
				type: "object",
				properties: { names: { type: "array" }, note: { type: "string" } },
			}),
			async open(value, { rawArguments }) {
				opened.push(value, rawArguments);
				return { ok: true, preparation: { kind: "settled", result: toolSuccess({}) } };
			},
		};
		const subject = createTurnSubject(
			twoSteps(call("c1", "T", '{"names":"[1]","note":null}'), call("c2", "T", '{ "names": [12345678901234567890] }')),
			[tool],
			{
				watch: {
					async before(_call, input) {
						seen.push(input);
						return allowed;
					},
					after() {},
					crashed() {},
				},
			},
		);
		await subject.run();
		// What fits is passed on as the model wrote it.
		const second = [{ names: [12345678901234567000] }, '{ "names": [12345678901234567890] }'];
		expect(opened).toEqual([{ names: [1] }, '{"names":[1]}', ...second]);
		expect(seen).toEqual([{ names: [1] }, second[0]]);
	});

	it("starts a complete call while the model still streams", async () => {
		const gate = createModelGate();
		const executed = createDeferred<void>();
		const tool = createToolDouble("T", {
			async execute() {
				executed.resolve();
				return toolSuccess({});
			},
		});
		const subject = createTurnSubject(twoSteps(call("c1", "T"), say("more"), gate), [tool]);
		const running = subject.run();
		await gate.reached;
		await executed.promise;
		expect(subject.order).not.toContain("status.changed");
		gate.open();
		expect(await running).toEqual({ status: "finished" });
	});

	it("executes identical calls once and emits a result for each", async () => {
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
		["whole numbers beyond those that are exact", "9007199254740992", "9007199254740993"],
		["long fractions", "0.123456789012345671", "0.123456789012345672"],
		["numbers beyond all others", "1e400", "1e500"],
	])("takes no calls for identical whose arguments differ in %s", async (_name, one, other) => {
		const ran: string[] = [];
		const execute = async (_signal: AbortSignal, toolCallId: string) => {
			ran.push(toolCallId);
			return toolSuccess({ output: "done" });
		};
		const model = twoSteps(call("c1", "T", `{"id":${one}}`), call("c2", "T", `{"id":${other}}`));
		await createTurnSubject(model, [createToolDouble("T", { execute })]).run();
		expect(ran).toEqual(["c1", "c2"]);
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
		[
			"a tool that crashes while it prepares",
			call("c1", "CrashEarly"),
			"Error running tool: early",
			"Tool runtime error",
		],
		[
			"arguments of endless depth",
			call("c1", "Picky", `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`),
			/nest more than 1000 levels deep/,
			"Invalid arguments",
		],
	])("gives the model a result for %s and continues", async (_name, chunk, message, brief) => {
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

	it.each([
		["executes", { execute: () => Promise.reject(notPersisted) }],
		["opens", { open: () => Promise.reject(notPersisted) }],
	] as const)(
		"rejects when the session cannot be persisted while a tool %s, and sends the model nothing",
		async (_when, behavior) => {
			const subject = createTurnSubject(twoSteps(call("c1", "Keep")), [createToolDouble("Keep", behavior)]);
			await expect(subject.run()).rejects.toBe(notPersisted);
			expect(subject.order.filter((entry) => entry.startsWith("tool.result"))).toEqual([]);
		},
	);

	it("ends the turn without text after a rejection, once the other calls have ended", async () => {
		const tools = [createToolDouble("E", { approval: editNeed }), createToolDouble("T")];
		const subject = createTurnSubject(createScriptedModel([[call("c1", "E"), call("c2", "T"), done()]]), tools, {
			approve: approveBy({ c1: { kind: "rejected", feedback: "" } }),
		});
		expect(await subject.run()).toEqual({ status: "finished", stoppedBy: "refusal" });
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

	it("continues after a rejection with feedback, also next to one without", async () => {
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

	it("ends at the step limit without a further step", async () => {
		const step = [call("c1", "T"), done()];
		const subject = createTurnSubject(createScriptedModel([step, step, step]), [createToolDouble("T")], {
			limits: { maxSteps: 2, maxAttempts: 1 },
		});
		expect(await subject.run()).toEqual({ status: "max-steps", limit: "steps", steps: 2 });
		expect(subject.order.at(-1)).toBe("commit");
	});

	it("rejects when a result cannot be emitted, once the other calls have ended", async () => {
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

describe("calls that change the same file", () => {
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

	it("are executed as decided when they would now act on something else", async () => {
		const executed: string[] = [];
		let prepared = 0;
		const tool = createToolDouble("Edit", {
			async open() {
				prepared += 1;
				const path = `/resolved-${prepared}`;
				const approval: ApprovalNeed = { ...editNeed, subjects: [{ kind: "file", operation: "edit", path }] };
				const execute = async () => {
					executed.push(path);
					return toolSuccess({ output: "done" });
				};
				return { ok: true, preparation: { kind: "ready", approval, hasEffect: true, target: "/file", execute } };
			},
		});
		const oneCall = createScriptedModel([
			[call("c1", "Edit"), done()],
			[say("ok"), done()],
		]);
		const subject = createTurnSubject(oneCall, [tool], { approve: async () => ({ kind: "approved", isShown: false }) });
		await subject.run();
		expect([prepared, executed]).toEqual([2, ["/resolved-1"]]);
	});

	it.each([["a"], ["b"]])(
		"are executed in order when no approval is needed, even if %s is slow to prepare",
		async (slowest) => {
			const { file, tool } = createEditor(slowest);
			const subject = createTurnSubject(model(), [tool], {
				approve: async () => ({ kind: "approved", isShown: false }),
			});
			await subject.run();
			expect(file.text).toBe('"a""b"');
			expect(subject.order.filter((entry) => /^(started|executed)/.test(entry))).toEqual(["started c1", "started c2"]);
		},
	);

	it("are refused when the change that a person approved no longer applies", async () => {
		const { file, tool } = createEditor("nothing");
		const subject = createTurnSubject(model(), [tool], {
			approve: async (_need, { id }) => {
				if (id === "c2") while (file.text === "") await settled();
				return { kind: "approved", isShown: true };
			},
		});
		await subject.run();
		expect(file.text).toBe('"a"');
		const results = subject.events.flatMap((event) => (event.type === "tool.result" ? [event] : []));
		expect(results.find(({ toolCallId }) => toolCallId === "c2")).toMatchObject({ result: { is_error: true } });
	});
});
