// What a model reads of each outcome of a question (wire-protocol §4.8, agent-kernel §6.10).
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, createToolPlace, issueOf, type ToolPlace } from "../../../../test/support/host/tool-environment.ts";
import type { Question, QuestionOperations, QuestionOutcome } from "../operations.ts";
import { createAskUserQuestion } from "./ask-user-question.ts";

let place: ToolPlace;
beforeAll(async () => {
	place = await createToolPlace();
});
afterAll(() => place.remove());

const options = [{ label: "pg" }, { label: "sqlite", description: "small" }];
const which = { question: "Which DB?", header: "DB", options };

async function ask(outcome: QuestionOutcome, questions: unknown = [which]) {
	const asked: (readonly Question[])[] = [];
	const person: QuestionOperations = {
		async ask(given) {
			asked.push(given);
			return outcome;
		},
	};
	const tool = createAskUserQuestion({ ...place.environment, questions: person });
	return { result: await call(tool, { questions }), asked };
}

const brief = (text: string) => [{ type: "brief", text }];

describe("AskUserQuestion", () => {
	it("returns the answer", async () => {
		const { result, asked } = await ask({ kind: "answered", answers: { "Which DB?": "pg" } });
		expect(result).toEqual({
			is_error: false,
			output: '{"answers": {"Which DB?": "pg"}}',
			message: "User has answered.",
			display: brief("User answered"),
			extras: null,
		});
		expect(asked).toEqual([
			[
				{
					question: "Which DB?",
					header: "DB",
					options: [
						{ label: "pg", description: "" },
						{ label: "sqlite", description: "small" },
					],
					multi_select: false,
				},
			],
		]);
	});

	it.each([
		["Database engine", "Database eng"],
		["Which of the", "Which of the"],
		["Storage for the data", "Storage for"],
		["Datenbanken 🐘🐘", "Datenbanken"],
	])("cuts the header %j to the 12 characters that clients have room for", async (header, shown) => {
		const { asked } = await ask({ kind: "dismissed" }, [{ ...which, header }]);
		expect(asked[0]?.[0]?.header).toBe(shown);
	});

	it("returns several answers in the client's order, as they are spelled", async () => {
		const answers = { "Größe?": "groß, “weit”", 'A "b"?': "x\ny", "Which?": "a,b" };
		expect((await ask({ kind: "answered", answers })).result.output).toBe(
			'{"answers": {"Größe?": "groß, “weit”", "A \\"b\\"?": "x\\ny", "Which?": "a,b"}}',
		);
	});

	it("reports that the question was dismissed", async () => {
		expect((await ask({ kind: "dismissed" })).result).toEqual({
			is_error: false,
			output: '{"answers": {}, "note": "User dismissed the question without answering."}',
			message: "User dismissed the question without answering.",
			display: brief("User dismissed"),
			extras: null,
		});
	});

	it("reports that nobody is there", async () => {
		const { result } = await ask({ kind: "away" });
		expect([result.is_error, result.display]).toEqual([false, brief("Auto-dismissed (afk)")]);
		const output: unknown = JSON.parse(String(result.output));
		expect(output).toEqual({ answers: {}, note: expect.stringContaining("afk mode") });
		expect(result.output).toMatch(/^\{"answers": \{\}, "note": "/);
	});

	it("fails when no client supports questions", async () => {
		const { result } = await ask({ kind: "unsupported" });
		expect([result.is_error, result.output, result.display]).toEqual([true, "", brief("Client unsupported")]);
		expect(result.message).toContain("does not support interactive questions");
		expect(result.message).toContain("Do NOT call this tool again");
	});

	it("requires a client that supports questions, and no approval", async () => {
		const tool = createAskUserQuestion(place.environment);
		expect(tool.needs).toEqual(["questions"]);
		const opened = await tool.open({ questions: [which] }, { toolCallId: "c1", rawArguments: null });
		expect(opened).toMatchObject({ ok: true, preparation: { approval: null, hasEffect: false } });
	});

	it.each([
		[[]],
		[[which, which, which, which, which]],
		[[{ ...which, options: options.slice(1) }]],
		[[{ ...which, options: [...options, ...options, ...options] }]],
		[[{ ...which, question: 5 }]],
		[[{ header: "DB", options }]],
		[[{ ...which, multi_select: "maybe" }]],
		["Which DB?"],
	])("refuses %j", async (questions) => {
		expect(await issueOf(createAskUserQuestion(place.environment), { questions })).not.toBeNull();
	});
});
