import { describe, expect, it } from "vitest";
import { readChosen, readForm, toChoices, toForm, toPlanChoices } from "./questions.ts";

const question = (more: object = {}) => ({
	question: "Which one?",
	header: "",
	body: "",
	options: [
		{ label: "A", description: "the first" },
		{ label: "B", description: "" },
	],
	multi_select: false,
	other_label: "",
	other_description: "",
	...more,
});
const answers = (given: object) => ({ kind: "question", answers: given });
const accepted = (content: object | null) => ({ action: "accept", content });
const selected = (optionId: string) => ({ outcome: { outcome: "selected", optionId } });

describe("questions as a form", () => {
	it("have a property for each, and one for an answer in other words", () => {
		expect(toForm([question({ body: "About it.", header: "Kind" })])).toEqual({
			q0: {
				type: "string",
				title: "Which one?",
				description: "About it.",
				oneOf: [
					{ const: "A", title: "A", description: "the first" },
					{ const: "B", title: "B" },
				],
			},
			q0_other: {
				type: "string",
				title: "Kind: Other",
				description: "An answer in your own words, instead of the options.",
			},
		});
	});

	it("offer several options of a question that takes several", () => {
		expect(
			toForm([question(), question({ multi_select: true, other_label: "More", other_description: "Say." })]),
		).toMatchObject({
			q1: { type: "array", items: { anyOf: [{ const: "A" }, { const: "B" }] } },
			q1_other: { title: "More", description: "Say." },
		});
	});

	it.each([
		[accepted({ q0: "A" }), { "Which one?": "A" }],
		[accepted({ q0: "A", q0_other: "C" }), { "Which one?": "C" }],
		[accepted({ q0: "A", q0_other: "  " }), { "Which one?": "A" }],
		[accepted({ q0: ["A", "", 5, "B"] }), { "Which one?": "A, B" }],
		[accepted({ q0: [], q0_other: 5 }), {}],
		[accepted(null), {}],
		[accepted([]), {}],
		[{ action: "accept" }, {}],
		[{ action: "decline" }, {}],
		[{ action: "cancel", content: { q0: "A" } }, {}],
	])("are answered by %j", (result, given) => {
		expect(readForm(result, [question()])).toEqual(answers(given));
	});

	it.each([null, "accept", {}, { action: 5 }])("have no answer in %j", (result) => {
		expect(readForm(result, [question()])).toBeNull();
	});
});

describe("a question as a choice", () => {
	it("offers its options, and to skip it", () => {
		const choices = toChoices(question());
		expect(choices.map(({ optionId, name, kind }) => [optionId, name, kind])).toEqual([
			["option_0", "A", "allow_once"],
			["option_1", "B", "allow_once"],
			["skip", "Skip", "reject_once"],
		]);
		expect(readChosen(selected("option_1"), question(), choices)).toEqual(answers({ "Which one?": "B" }));
		for (const nothing of ["skip", "option_9", ""])
			expect(readChosen(selected(nothing), question(), choices)).toEqual(answers({}));
		expect(readChosen({ outcome: { outcome: "cancelled" } }, question(), choices)).toEqual(answers({}));
		expect(readChosen({}, question(), choices)).toBeNull();
	});
});

describe("a plan that is handed in", () => {
	const labeled = (...labels: string[]) => question({ options: labels.map((label) => ({ label, description: "" })) });
	const idsOf = (...labels: string[]) =>
		toPlanChoices(labeled(...labels)).map(({ optionId, kind }) => [optionId, kind]);

	it("is decided under the ids that clients know", () => {
		expect(idsOf("Approve", "Reject", "Reject and Exit")).toEqual([
			["plan_approve", "allow_once"],
			["plan_revise", "reject_once"],
			["plan_reject_and_exit", "reject_once"],
		]);
		expect(idsOf("One", "Two", "Reject", "Reject and Exit").map(([id]) => id)).toEqual([
			"plan_opt_0",
			"plan_opt_1",
			"plan_revise",
			"plan_reject_and_exit",
		]);
	});

	it("is answered by the label of the option", () => {
		const asked = labeled("One", "Two", "Reject", "Reject and Exit");
		const choices = toPlanChoices(asked);
		expect(readChosen(selected("plan_opt_1"), asked, choices)).toEqual(answers({ "Which one?": "Two" }));
		expect(readChosen(selected("plan_reject_and_exit"), asked, choices)).toEqual(
			answers({ "Which one?": "Reject and Exit" }),
		);
	});
});
