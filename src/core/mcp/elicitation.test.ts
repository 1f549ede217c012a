import { describe, expect, it } from "vitest";
import type { Question, QuestionOutcome } from "../tools/operations.ts";
import { answerForm } from "./elicitation.ts";

const never = new AbortController().signal;

/** Asks the form, answering each question with the next of the texts; what is no text ends the asking. */
async function fill(
	properties: Record<string, unknown> | null,
	answers: readonly (string | Exclude<QuestionOutcome["kind"], "answered">)[],
	required: readonly string[] = [],
) {
	const asked: Question[] = [];
	const left = [...answers];
	const ask = async (questions: readonly Question[], toolCallId: string): Promise<QuestionOutcome> => {
		expect([questions.length, toolCallId]).toEqual([1, "call"]);
		asked.push(...questions);
		const answer = left.shift() ?? "dismissed";
		if (answer === "dismissed" || answer === "away" || answer === "unsupported") return { kind: answer };
		return { kind: "answered", answers: { [questions[0]?.question ?? ""]: answer } };
	};
	// What servers send is read by the library first; what it lets through need not be of any use.
	const requestedSchema = { type: "object", properties, required } as never;
	const result = await answerForm(
		{ message: "Please.", requestedSchema },
		"srv",
		{ questions: { ask }, toolCallId: "call" },
		never,
	);
	return { result, asked, labels: asked.map(({ options }) => options.map(({ label }) => label)) };
}

describe("a form", () => {
	it("is a question for each field", async () => {
		const { result, asked, labels } = await fill(
			{
				name: { type: "string", title: "Name", description: "All of it", maxLength: 20 },
				agree: { type: "boolean" },
				size: { type: "string", enum: ["s", "m"], enumNames: ["Small", "Medium"], default: "m" },
			},
			["Ada", "Yes", "Small"],
			["name", "agree"],
		);
		expect(result).toEqual({ action: "accept", content: { name: "Ada", agree: true, size: "s" } });
		expect(asked.map(({ question }) => question)).toEqual([
			"The MCP server srv asks: Please.\nName: All of it; at most 20 characters",
			"The MCP server srv asks: Please.\nagree",
			"The MCP server srv asks: Please.\nsize",
		]);
		expect(labels).toEqual([["Decline"], ["Yes", "No", "Decline"], ["Small", "Medium", "Decline"]]);
		expect(asked[2]?.options[1]?.description).toBe("The server's default.");
	});

	it.each<[string, object, string, unknown]>([
		["text", { type: "string" }, "a, b", "a, b"],
		["a whole number", { type: "integer" }, " 42 ", 42],
		["a number", { type: "number" }, "-1.5e3", -1500],
		["a default", { type: "number", default: 3.5 }, "3.5", 3.5],
		["a boolean", { type: "boolean", default: true }, "no", false],
		["a boolean by its value", { type: "boolean" }, "true", true],
		["one of several values", { type: "string", enum: ["s", "m"] }, "M", "m"],
		["one of several values with titles", { type: "string", oneOf: [{ const: "s", title: "Small" }] }, "Small", "s"],
		["several", { type: "array", items: { enum: ["a", "b", "c"] } }, "a,c", ["a", "c"]],
		[
			"several values with titles",
			{ type: "array", items: { anyOf: [{ const: "x", title: "X, the first" }, { const: "y" }] } },
			"X; the first, y",
			["x", "y"],
		],
	])("accepts %s", async (_, field, answer, value) => {
		expect((await fill({ f: field }, [answer])).result).toEqual({ action: "accept", content: { f: value } });
	});

	it.each<[string, object, string, unknown]>([
		["by its case", { type: "string", enum: ["a", "A"] }, "A", "A"],
		["by its label before the value of another", { type: "string", enum: ["1", "2"], enumNames: ["2", "1"] }, "1", "2"],
		[
			"by its label before its value in another case",
			{ type: "string", enum: ["x", "Yes"], enumNames: ["yes"] },
			"Yes",
			"Yes",
		],
		["of several", { type: "array", items: { enum: ["b", "B"] } }, "B", ["B"]],
		["with blanks around it", { type: "string", enum: [" a"] }, " a", " a"],
	])("takes the choice that was chosen %s", async (_, field, answer, value) => {
		expect((await fill({ f: field }, [answer], ["f"])).result).toEqual({ action: "accept", content: { f: value } });
	});

	it("distinguishes its own choices from those of the server", async () => {
		const rsvp = { type: "string", enum: ["Accept", "Decline", "Leave out"] };
		const { result, labels } = await fill({ one: rsvp, other: rsvp, last: rsvp }, [
			"Decline",
			"Leave out",
			"Leave it out",
		]);
		expect(result).toEqual({ action: "accept", content: { one: "Decline", other: "Leave out" } });
		expect(labels[0]).toEqual(["Accept", "Decline", "Leave out", "Leave it out", "Decline to answer"]);
		expect((await fill({ one: rsvp }, ["Decline to answer"])).result).toEqual({ action: "decline" });
	});

	it("omits optional fields, unless they have a default", async () => {
		const properties = { a: { type: "string" }, b: { type: "string", default: "x" } };
		const { result, labels } = await fill(properties, ["Leave out", "x"]);
		expect(result).toEqual({ action: "accept", content: { b: "x" } });
		expect(labels).toEqual([
			["Leave out", "Decline"],
			["x", "Decline"],
		]);
	});

	it.each<[object, string, string]>([
		[{ type: "integer", minimum: 1, maximum: 5 }, "2.5", "it must be a whole number, from 1 to 5"],
		[{ type: "integer" }, "", "it must be a whole number"],
		[{ type: "number", minimum: 0 }, "-1", "it must be a number, at least 0"],
		[{ type: "string", minLength: 2 }, "x", "it must have at least 2 characters"],
		[{ type: "string", enum: ["s", "m"] }, "l", "it must be among s, m"],
		[{ type: "array", items: { enum: ["a", "b"] } }, "a, z", "it must be among a, b"],
		[{ type: "array", items: { enum: ["a", "b"] }, minItems: 2 }, "a", "from 2 to 2 choices are expected"],
	])("reports the fault and repeats the question: %j", async (field, answer, issue) => {
		const { result, asked } = await fill({ f: field }, [answer, "Decline"]);
		expect(result).toEqual({ action: "decline" });
		expect(asked[1]?.question).toMatch(new RegExp(`\n"${answer}" does not fit: ${issue}\\.$`));
	});

	it("ends when no answer fits", async () => {
		const { result, asked } = await fill({ f: { type: "integer" } }, ["a", "b", "c", "4"]);
		expect([result, asked.length]).toEqual([{ action: "cancel" }, 3]);
	});

	it.each([
		["Decline", "decline"],
		["dismissed", "cancel"],
		["away", "decline"],
		["unsupported", "decline"],
	] as const)("ends at the first field without an answer: %s", async (answer, action) => {
		const { result, asked } = await fill({ a: { type: "string" }, b: { type: "string" } }, ["x", answer]);
		expect([result, asked.length]).toEqual([{ action }, 2]);
	});

	it("without fields requests consent", async () => {
		expect((await fill({}, ["Accept"])).result).toEqual({ action: "accept", content: {} });
		expect((await fill({}, ["no way"])).result).toEqual({ action: "decline" });
		expect((await fill({}, ["dismissed"])).result).toEqual({ action: "cancel" });
	});

	it.each([[null], [{ f: { type: "object" } }], [{ f: {} }]])(
		"that nobody can fill in is declined: %j",
		async (form) => {
			const { result, asked } = await fill(form, []);
			expect([result, asked]).toEqual([{ action: "decline" }, []]);
		},
	);
});
