// What watches tool calls sees each that was not forbidden, with what became of it (agent-kernel §5.4, §10.1).
import { describe, expect, it } from "vitest";
import { call, createScriptedModel, done, say } from "../../../test/support/models/scripted-model.ts";
import {
	approveBy,
	createToolDouble,
	createTurnSubject,
	editNeed,
} from "../../../test/support/sessions/turn-subject.ts";
import { toolError, toolSuccess } from "../../api/values/content.ts";
import { allowed, blocked } from "../hooks/hook.ts";
import type { Tool } from "../tools/tool.ts";
import type { ToolWatch, TurnDependencies } from "./dependencies.ts";

/** Runs one call of the tool and gives what was watched, in the order of things. */
async function watched(
	tool: Tool,
	argumentsText: string | null,
	changes: Partial<TurnDependencies> = {},
	forbids = false,
) {
	const seen: unknown[] = [];
	const watch: ToolWatch = {
		async before({ id }, input) {
			seen.push(["before", id, input]);
			return forbids ? blocked("not today") : allowed;
		},
		after: ({ id }, _input, { is_error, message }) => void seen.push(["after", id, is_error ? message : "ok"]),
		crashed: ({ id }, _input, error) => void seen.push(["crashed", id, error]),
	};
	const model = createScriptedModel([
		[call("c1", "Tool", argumentsText), done()],
		[say("ok"), done()],
	]);
	const subject = createTurnSubject(model, [tool], {
		watch,
		...changes,
		async emit(body) {
			if (body.type === "tool.result") seen.push(["told", body.result.is_error]);
		},
	});
	await subject.run();
	return { seen: seen.slice(1), first: seen[0], subject };
}

describe("a call with tool hooks", () => {
	it("reaches the hooks before it is requested, with the arguments that the model sent", async () => {
		const order: string[] = [];
		const tool = createToolDouble("Tool", {
			async open() {
				order.push("opened");
				return null;
			},
		});
		const { first, seen } = await watched(tool, '{"a":1}');
		expect(first).toEqual(["before", "c1", { a: 1 }]);
		expect(seen).toEqual([
			["after", "c1", "ok"],
			["told", false],
		]);
		expect(order).toEqual(["opened"]);
	});

	it("that a hook blocks is neither approved nor executed, and reaches no later hook", async () => {
		const reached: string[] = [];
		const tool = createToolDouble("Tool", {
			approval: editNeed,
			async open() {
				reached.push("opened");
				return null;
			},
		});
		const approve: TurnDependencies["approve"] = async () => {
			reached.push("asked");
			return { kind: "approved", isShown: true };
		};
		const { seen } = await watched(tool, "{}", { approve }, true);
		expect([seen, reached]).toEqual([[["told", true]], []]);
	});

	it.each<[string, Tool, unknown]>([
		["fails while it runs", createToolDouble("Tool", { result: toolError("no luck", "b") }), "no luck"],
		[
			"is answered without running",
			createToolDouble("Tool", {
				open: async () => ({ ok: true, preparation: { kind: "settled", result: toolError("no file", "b") } }),
			}),
			"no file",
		],
		[
			"has arguments that do not fit",
			createToolDouble("Tool", { open: async () => ({ ok: false, issue: "path: missing" }) }),
			expect.stringContaining("path: missing"),
		],
		[
			"a person refused in",
			createToolDouble("Tool", { execute: async () => ({ kind: "refusal", result: toolError("no", "b") }) }),
			"no",
		],
	])("that %s is reported to the hooks as a result", async (_name, tool, message) => {
		const { seen } = await watched(tool, "{}");
		expect(seen.slice(0, 2)).toEqual([
			["after", "c1", message],
			["told", true],
		]);
	});

	it("that a person rejected is reported to the hooks as a result", async () => {
		const tool = createToolDouble("Tool", { approval: editNeed });
		const { seen } = await watched(tool, "{}", { approve: approveBy({ c1: { kind: "rejected", feedback: "" } }) });
		expect(seen).toEqual([
			["after", "c1", expect.stringContaining("rejected by the user")],
			["told", true],
		]);
	});

	it.each<[string, Tool]>([
		[
			"runs",
			createToolDouble("Tool", {
				async execute() {
					throw new Error("out of order");
				},
			}),
		],
		[
			"is opened",
			createToolDouble("Tool", {
				async open() {
					throw new Error("out of order");
				},
			}),
		],
	])("that crashes while it %s is reported to the hooks as crashed alone", async (_name, tool) => {
		expect((await watched(tool, "{}")).seen).toEqual([
			["crashed", "c1", "out of order"],
			["told", true],
		]);
	});

	it("reaches no hook when the tool is unknown or the arguments are unreadable", async () => {
		const other = createToolDouble("Other");
		expect((await watched(other, "{}")).first).toEqual(["told", true]);
		expect((await watched(createToolDouble("Tool"), "{")).first).toEqual(["told", true]);
	});
});

describe("a rejection in a tool", () => {
	const refusing = createToolDouble("Tool", {
		execute: async () => ({ kind: "refusal", result: toolError("The user rejected the plan.", "Plan rejected") }),
	});
	const scripts = () =>
		createScriptedModel([
			[call("c1", "Tool"), done()],
			[say("ok"), done()],
		]);

	it("ends the turn of the session's own agent, but not that of a subagent", async () => {
		for (const isSubagent of [false, true]) {
			const subject = createTurnSubject(scripts(), [refusing], { isSubagent });
			expect(await subject.run()).toEqual({ status: "finished", ...(isSubagent ? {} : { stoppedBy: "refusal" }) });
			expect(subject.events.filter(({ type }) => type === "step.started")).toHaveLength(isSubagent ? 2 : 1);
		}
	});
});

describe("plan mode in a step", () => {
	it("is emitted again when it differs from the emitted state, however early a tool switched it", async () => {
		let isOn = false;
		const tool = createToolDouble("Tool", {
			async execute() {
				isOn = true;
				return toolSuccess({});
			},
		});
		const model = createScriptedModel([
			[call("c1", "Tool"), done({ input_other: 1, output: 1, input_cache_read: 0, input_cache_creation: 0 })],
			[say("ok"), done()],
		]);
		const delivered: boolean[] = [];
		const subject = createTurnSubject(model, [tool], {
			planMode: () => isOn,
			async emit(body) {
				if (body.type !== "status.changed" || body.plan_mode === null) return;
				delivered.push(body.plan_mode);
				// The client is slow to take it: the tool is done meanwhile.
				for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
			},
		});
		await subject.run();
		expect(delivered).toEqual([false, true, true]);
	});
});
