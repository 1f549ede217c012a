const call = (id: string, name: string, given: object) =>
	`tool_call: ${JSON.stringify({ id, name, arguments: JSON.stringify(given) })}`;

export const demoInput = "A test of this project fails. Find out why and fix the code.";

const testCommand = "node --test basket.test.js";

export const demoProject: Readonly<Record<string, string>> = {
	"package.json": '{ "name": "basket", "type": "module", "private": true }\n',
	"basket.js":
		"/** The sum of the prices, in cents. */\nexport function total(prices) {\n  let sum = 0;\n  for (let index = 1; index < prices.length; index += 1) {\n    sum += prices[index];\n  }\n  return sum;\n}\n",
	"basket.test.js":
		'import assert from "node:assert/strict";\nimport test from "node:test";\nimport { total } from "./basket.js";\n\ntest("adds all prices", () => {\n  assert.equal(total([300, 500, 400]), 1200);\n});\n',
};

const todos = (...done: readonly string[]) => ({
	todos: ["Run the test", "Find the fault", "Fix it and run the test again"].map((title, index) => ({
		title,
		status: done[index] ?? "pending",
	})),
});

const over =
	"text: That was the demo. Its scripted model has no more answers; start a session with your own model to continue.";

export const demoScripts: readonly string[] = [
	[
		"think: The test says where to look. I run it first and read the code that it calls.",
		"text: I will run the test first, to see how it fails.",
		call("todo-1", "SetTodoList", todos("in_progress")),
		call("test-1", "Shell", { command: testCommand, timeout: 60 }),
	].join("\n"),
	[
		"text: The total is short by the first price. I will read the function.",
		call("read-1", "ReadFile", { path: "basket.js" }),
		call("todo-2", "SetTodoList", todos("done", "in_progress")),
	].join("\n"),
	[
		"think: The loop starts at 1, so the first price is left out.",
		"text: The loop starts at **1**, but the first index of a list is `0`. This is the change:",
		call("edit-1", "StrReplaceFile", { path: "basket.js", edit: { old: "let index = 1;", new: "let index = 0;" } }),
	].join("\n"),
	[
		call("todo-3", "SetTodoList", todos("done", "done", "in_progress")),
		call("test-2", "Shell", { command: testCommand, timeout: 60 }),
	].join("\n"),
	[
		call("todo-4", "SetTodoList", todos("done", "done", "done")),
		call("ask-1", "AskUserQuestion", {
			questions: [
				{
					question: "Should I also add a test for an empty basket?",
					header: "Test",
					options: [
						{ label: "Yes", description: "one more line of certainty" },
						{ label: "No", description: "the fix is enough" },
					],
				},
			],
		}),
	].join("\n"),
	"text: The total was wrong because the loop left out the first price. I fixed it by changing one character in `basket.js`.",
	...Array.from({ length: 50 }, () => over),
];
