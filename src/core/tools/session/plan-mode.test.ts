// The two doors of plan mode: every answer of a person (wire-protocol §4.9, agent-kernel §11.4, §11.5).
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
	briefOf,
	createToolPlace,
	issueOf,
	resultOf,
	type ToolPlace,
} from "../../../../test/support/host/tool-environment.ts";
import { createPlanDouble, type PlanDouble, planFile } from "../../../../test/support/sessions/plan-double.ts";
import type { Tool, ToolEnvironment } from "../tool.ts";
import { createEnterPlanMode, createExitPlanMode } from "./plan-mode.ts";

let place: ToolPlace;
beforeAll(async () => {
	place = await createToolPlace();
});
afterAll(() => place.remove());

async function run(create: (environment: ToolEnvironment) => Tool, double: PlanDouble, value: unknown) {
	const tool = create({ ...place.environment, plan: double.plan });
	const opened = await tool.open(value, { toolCallId: "c1", rawArguments: null });
	if (!opened.ok || opened.preparation.kind !== "ready") throw new Error(JSON.stringify(opened));
	const outcome = await opened.preparation.execute(new AbortController().signal);
	return { result: resultOf(outcome), isRefusal: "kind" in outcome };
}

const brief = (text: string) => [{ type: "brief", text }];
const answered = (question: string, answer: string) => ({ kind: "answered", answers: { [question]: answer } }) as const;

describe("EnterPlanMode", () => {
	const enter = (double: PlanDouble) => run(createEnterPlanMode, double, {});
	const say = (answer: string) => createPlanDouble({ outcome: answered("Enter plan mode?", answer) });

	it("asks, and switches plan mode on at Yes", async () => {
		const double = say("Yes");
		const { result, isRefusal } = await enter(double);
		expect(result).toEqual({
			is_error: false,
			output: `Plan to ${planFile}.`,
			message: "Plan mode on",
			display: brief("Plan mode on"),
			extras: null,
		});
		expect([isRefusal, double.happened]).toEqual([false, ["asked", "on"]]);
		expect(double.asked).toEqual([
			[
				{
					question: "Enter plan mode?",
					header: "Plan Mode",
					options: [
						{ label: "Yes", description: expect.any(String) },
						{ label: "No", description: expect.any(String) },
					],
					multi_select: false,
				},
			],
		]);
	});

	it.each([
		["No", "Declined"],
		["later, perhaps", "Declined"],
	])("leaves plan mode off at %j", async (answer, message) => {
		const double = say(answer);
		const { result, isRefusal } = await enter(double);
		expect([result.is_error, result.message, result.display]).toEqual([false, message, brief(message)]);
		expect([isRefusal, double.happened]).toEqual([false, ["asked"]]);
		if (answer !== "No") expect(result.output).toContain(answer);
	});

	it("asks with an approval request where questions are not answered", async () => {
		const approved = createPlanDouble({ outcome: { kind: "approved" } });
		expect((await enter(approved)).result.message).toBe("Plan mode on");
		const rejected = createPlanDouble({ outcome: { kind: "rejected", feedback: "later" } });
		const { result } = await enter(rejected);
		expect([result.message, rejected.isOn]).toEqual(["Declined", false]);
		expect(result.output).toContain("later");
	});

	it("leaves plan mode off when the question is dismissed", async () => {
		const double = createPlanDouble({ outcome: { kind: "dismissed" } });
		const { result } = await enter(double);
		expect([result.is_error, result.message, result.display]).toEqual([false, "Dismissed", brief("Dismissed")]);
		expect(double.happened).toEqual(["asked"]);
	});

	it.each([{ yolo: true }, { afk: true }])("asks no question with %j", async (changes) => {
		const double = createPlanDouble(changes);
		const { result } = await enter(double);
		expect([result.is_error, result.message, result.display]).toEqual([
			false,
			"Plan mode on",
			brief("Plan mode on (auto)"),
		]);
		expect(double.happened).toEqual(["on"]);
	});

	it("fails when plan mode is already on", async () => {
		const double = createPlanDouble({ isOn: true });
		expect(briefOf((await enter(double)).result)).toBe("Already in plan mode");
		expect(double.happened).toEqual([]);
	});

	it.each([{}, { yolo: true }, { outcome: { kind: "unsupported" } as const, canAsk: true }])(
		"fails when no client supports questions: %j",
		async (changes) => {
			const double = createPlanDouble({ canAsk: false, ...changes });
			const { result } = await enter(double);
			expect(briefOf(result)).toBe("Client unsupported");
			expect(result.message).toContain("does not support plan mode");
			expect(double.isOn).toBe(false);
		},
	);
});

describe("ExitPlanMode", () => {
	const question = "Approve this plan";
	const text = "# Plan\n\nDo it.";
	const ready = (answer: string | null, changes: Partial<PlanDouble> = {}) =>
		createPlanDouble({
			isOn: true,
			text,
			outcome: answer === null ? { kind: "dismissed" } : answered(question, answer),
			...changes,
		});
	const exit = (double: PlanDouble, value: unknown = {}) => run(createExitPlanMode, double, value);
	const shown = ["shown", text, planFile];
	const alternatives = [{ label: "Small", description: "less" }, { label: "Large" }];

	it("shows the plan, asks, and switches plan mode off at Approve", async () => {
		const double = ready("Approve");
		const { result, isRefusal } = await exit(double);
		expect([result.is_error, result.message, result.display, isRefusal]).toEqual([
			false,
			"Plan approved",
			brief("Plan approved"),
			false,
		]);
		expect(result.output).toContain(planFile);
		expect(result.output).toContain(text);
		expect(double.happened).toEqual([shown, "asked", "off"]);
		expect(double.asked).toMatchObject([
			[
				{
					question,
					header: "Plan",
					options: [{ label: "Approve" }, { label: "Reject" }, { label: "Reject and Exit" }],
					multi_select: false,
					other_label: "Revise",
				},
			],
		]);
	});

	it("offers two or three alternatives instead of Approve, and names the chosen one", async () => {
		const double = ready("Large");
		const { result } = await exit(double, { options: alternatives });
		expect(double.asked[0]?.[0]?.options.map(({ label }) => label)).toEqual([
			"Small",
			"Large",
			"Reject",
			"Reject and Exit",
		]);
		expect([result.is_error, double.isOn]).toEqual([false, false]);
		expect(result.output).toContain("Large");
		expect(result.output).not.toContain("Small");
	});

	it.each([[null], [[]], [[{ label: "Only" }]]])("offers plain approval with options %j", async (options) => {
		const double = ready("Approve");
		await exit(double, { options });
		expect(double.asked[0]?.[0]?.options.map(({ label }) => label)).toEqual(["Approve", "Reject", "Reject and Exit"]);
		expect(double.isOn).toBe(false);
	});

	it.each([
		["Reject", "Plan rejected", true],
		["Reject and Exit", "Plan rejected, exited plan mode", false],
	])("is rejected by %j", async (answer, text, staysOn) => {
		for (const options of [null, alternatives]) {
			const double = ready(answer);
			const { result, isRefusal } = await exit(double, { options });
			expect([briefOf(result), isRefusal, double.isOn]).toEqual([text, true, staysOn]);
		}
	});

	it.each([
		["make it shorter", null],
		["approve", null],
		["Revise", null],
		["Only", [{ label: "Only" }]],
		["Approve", alternatives],
		["Small,Large", alternatives],
	])("treats %j as feedback on the plan, with options %j", async (answer, options) => {
		const double = ready(answer);
		const { result, isRefusal } = await exit(double, { options });
		expect([result.is_error, result.message, isRefusal, double.isOn]).toEqual([
			false,
			"Plan revision requested",
			false,
			true,
		]);
		expect(result.output).toContain(answer);
	});

	it("leaves plan mode on when the question is dismissed", async () => {
		const double = ready(null);
		const { result, isRefusal } = await exit(double);
		expect([result.is_error, result.message, isRefusal, double.isOn]).toEqual([false, "Dismissed", false, true]);
	});

	it("is approved without a question when nobody is there, but not under yolo alone", async () => {
		const away = ready("Reject", { afk: true, canAsk: false });
		expect((await exit(away)).result.message).toBe("Plan approved");
		expect(away.happened).toEqual(["off"]);
		const yolo = ready("Reject", { yolo: true });
		expect((await exit(yolo)).isRefusal).toBe(true);
	});

	it("requires plan mode and a plan, and shows nothing without them", async () => {
		const off = ready("Approve", { isOn: false });
		expect(briefOf((await exit(off)).result)).toBe("Not in plan mode");
		const unwritten = ready("Approve", { text: null });
		expect(briefOf((await exit(unwritten)).result)).toBe("No plan file");
		expect([off.happened, unwritten.happened]).toEqual([[], []]);
	});

	it("is approved by an approval request, also with alternatives, and names none as chosen", async () => {
		for (const options of [null, alternatives]) {
			const double = ready(null, { outcome: { kind: "approved" } });
			const { result } = await exit(double, { options });
			expect([result.message, double.isOn]).toEqual(["Plan approved", false]);
			expect(result.output).not.toContain("Chosen");
			expect(double.reviews).toEqual([{ description: `Approve the plan in ${planFile}`, text }]);
		}
	});

	it.each([
		["", "Plan rejected", true],
		["shorter", "Plan revision requested", false],
	])("is rejected by an approval request with the feedback %j", async (feedback, brief, refuses) => {
		const double = ready(null, { outcome: { kind: "rejected", feedback } });
		const { result, isRefusal } = await exit(double);
		expect([result.display, isRefusal, double.isOn]).toEqual([[{ type: "brief", text: brief }], refuses, true]);
	});

	it("fails when no client supports plan mode", async () => {
		const double = ready("Approve", { canAsk: false, canShow: false });
		const { result } = await exit(double);
		expect(briefOf(result)).toBe("Client unsupported");
		expect(result.message).toContain("does not support plan mode");
		expect([double.isOn, double.happened]).toEqual([true, []]);
	});

	it.each([
		[[{ label: "Approve" }, { label: "b" }]],
		[[{ label: "reject" }, { label: "b" }]],
		[[{ label: "REVISE" }, { label: "b" }]],
		[[{ label: "Reject and exit" }, { label: "b" }]],
		[[{ label: "a" }, { label: "a" }]],
		[[{ label: "a" }, { label: "b" }, { label: "c" }, { label: "d" }]],
		[[{ label: "" }, { label: "b" }]],
		["a"],
	])("refuses the options %j", async (options) => {
		expect(await issueOf(createExitPlanMode(place.environment), { options })).not.toBeNull();
	});

	it("is offered to clients with plan mode, like EnterPlanMode", () => {
		for (const create of [createEnterPlanMode, createExitPlanMode]) {
			expect(create(place.environment).needs).toEqual(["plan-mode"]);
		}
	});
});
