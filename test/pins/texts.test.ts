// Frozen: the short texts that clients and tests compare (agent-kernel §5.7 and §15.3, wire-protocol §1.7).
// When this goes red, a client that compares them breaks: change the code back, not the text here.
import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { textPart, toolError, toolSuccess } from "../../src/api/values/content.ts";
import { missingCapability } from "../../src/core/agent/capabilities.ts";
import {
	crashedTool,
	rejectedByPerson,
	toToolMessage,
	unfittingArguments,
	unknownTool,
	unparsableArguments,
} from "../../src/core/agent/tool-results.ts";
import { createTools } from "../../src/core/tools/built-in-tools.ts";
import { defaultToolPaths } from "../../src/core/tools/tool-paths.ts";
import { checkClientTools } from "../../src/kernel/clients/client-tools.ts";
import { createToolPlace, resultOf, type ToolPlace } from "../support/host/tool-environment.ts";
import { createScriptedModel } from "../support/models/scripted-model.ts";
import { plainAttachment } from "../support/sessions/session-doubles.ts";
import { createSessionSubject } from "../support/sessions/session-subject.ts";
import { createToolDouble, createTurnSubject } from "../support/sessions/turn-subject.ts";

const brief = (text: string) => [{ type: "brief", text }];

it("pins the refusals of a session", async () => {
	const { session } = await createSessionSubject(createScriptedModel([]));
	await session.send({ type: "turn.start", input: "a" });
	await expect(session.send({ type: "turn.start", input: "b" })).rejects.toThrow(
		/^An agent turn is already in progress$/,
	);
	await session.stop();
	await expect(session.send({ type: "turn.cancel" })).rejects.toThrow(/^No agent turn is in progress$/);
	await expect(session.send({ type: "turn.steer", input: "a" })).rejects.toThrow(/^No agent turn is in progress$/);
});

it("pins what a turn fails with", async () => {
	expect(await createTurnSubject(null).run()).toMatchObject({ error: { message: "LLM is not set" } });
	const image = { type: "image_url", image_url: { url: "u", id: null } } as const;
	const think = { type: "think", think: "a", encrypted: null } as const;
	expect(missingCapability({ ...createScriptedModel([]), name: "M" }, [image])?.message).toBe(
		"LLM model 'M' does not support required capability: image_in.",
	);
	expect(missingCapability({ ...createScriptedModel([]), name: "M" }, [think, image])?.message).toBe(
		"LLM model 'M' does not support required capabilities: thinking, image_in.",
	);
});

it("pins the results the loop gives", () => {
	expect(
		[
			unknownTool("X"),
			unparsableArguments("R"),
			unfittingArguments("R"),
			crashedTool("R"),
			rejectedByPerson("", false),
			rejectedByPerson("F", false),
		].map(({ is_error, output, message, display }) => [is_error, output, message, display]),
	).toEqual([
		[true, "", "Tool `X` not found", brief("Tool `X` not found")],
		[true, "", "Error parsing JSON arguments: R", brief("Invalid arguments")],
		[true, "", "Error validating JSON arguments: R", brief("Invalid arguments")],
		[true, "", "Error running tool: R", brief("Tool runtime error")],
		[
			true,
			"",
			"The tool call is rejected by the user. Stop what you are doing and wait for the user to tell you how to proceed.",
			brief("Rejected by user"),
		],
		[true, "", "The tool call is rejected by the user. User feedback: F", brief("Rejected: F")],
	]);
});

it("pins tool results as the model reads them", () => {
	const image = { type: "image_url", image_url: { url: "u", id: null } } as const;
	const texts = [
		toolError("m", "b"),
		toolError("m", "b", { output: "o" }),
		toolSuccess({ message: "m", output: "o" }),
		toolSuccess({ message: "m" }),
		toolSuccess({ output: "o" }),
		toolSuccess({}),
		toolSuccess({ output: [] }),
		toolSuccess({ output: [textPart("t"), image] }),
		toolSuccess({ output: [image] }),
	].map((result) => toToolMessage("c1", result));
	expect(texts.map(({ content }) => content.map((part) => (part.type === "text" ? part.text : part.type)))).toEqual([
		["<system>ERROR: m</system>"],
		["<system>ERROR: m</system>", "o"],
		["<system>m</system>", "o"],
		["<system>m</system>"],
		["o"],
		["<system>Tool output is empty.</system>"],
		["<system>Tool output is empty.</system>"],
		["t", "image_url"],
		[expect.stringMatching(/^<system>.+<\/system>$/), "image_url"],
	]);
	expect(texts[0]).toMatchObject({ role: "tool", toolCallId: "c1" });
});

it("pins the refusal of a client's tool", async () => {
	const { session } = await createSessionSubject(null, [createToolDouble("Shell")]);
	const shell = { name: "Shell", description: "", parameters: {} };
	expect((await session.attach({ ...plainAttachment, tools: [shell] })).tools.rejected).toEqual([
		{ name: "Shell", reason: "conflicts with builtin tool" },
	]);
	const ask = () => Promise.reject(new Error("nobody calls it"));
	const identifiers = { uuid: () => "", hex: () => "" };
	const { tools } = await checkClientTools([{ ...shell, name: "t" }], () => false, identifiers, ask);
	expect(tools.get("t")?.description).toBe("No description provided.");
});

describe("built-in tools", () => {
	let place: ToolPlace;
	beforeAll(async () => {
		place = await createToolPlace();
		await writeFile(place.at("work", "a.txt"), "one\n");
		await writeFile(place.at("outside", "b.txt"), "one\n");
	});
	afterAll(() => place.remove());

	const ready = async (name: string, value: unknown) => {
		const tool = createTools(defaultToolPaths, place.environment).find((candidate) => candidate.name === name);
		const opened = await tool?.open(value, { toolCallId: "c1", rawArguments: JSON.stringify(value) });
		if (opened?.ok !== true || opened.preparation.kind !== "ready") throw new Error(JSON.stringify(opened));
		return opened.preparation;
	};

	it("pin actions and descriptions of approvals", async () => {
		const edit = { old: "one", new: "two" };
		const inside = place.at("work", "a.txt");
		const outside = place.at("outside", "b.txt");
		const needs = [
			await ready("Shell", { command: "ls" }),
			await ready("WriteFile", { path: inside, content: "x" }),
			await ready("WriteFile", { path: outside, content: "x" }),
			await ready("StrReplaceFile", { path: inside, edit }),
			await ready("StrReplaceFile", { path: outside, edit }),
		].map(({ approval }) => [approval?.action, approval?.description]);
		expect(needs).toEqual([
			["run command", "Run command `ls`"],
			["edit file", `Write file \`${inside}\``],
			["edit file outside of working directory", `Write file \`${outside}\``],
			["edit file", `Edit file \`${inside}\``],
			["edit file outside of working directory", `Edit file \`${outside}\``],
		]);
	});

	it("pin the messages of success that are compared", async () => {
		const { signal } = new AbortController();
		const shell = resultOf(await (await ready("Shell", { command: "echo a" })).execute(signal));
		expect([shell.output, shell.message]).toEqual(["a\n", "Command executed successfully."]);
		const todo = resultOf(
			await (await ready("SetTodoList", { todos: [{ title: "t", status: "done" }] })).execute(signal),
		);
		expect([todo.output, todo.message]).toEqual(["Todo list updated", "Todo list updated"]);
	});
});
