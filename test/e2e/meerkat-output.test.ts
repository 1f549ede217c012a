// Answers as values of a schema, and what precedes prompts, over the built executable: also in later processes.
import { expect, it } from "vitest";
import { createStage } from "../support/executable/executable.ts";
import type { ServerLine } from "../support/executable/running-server.ts";
import { answer, ask, create, createDeferred, end, eventsOf, serve } from "../support/meerkat/meerkat-lines.ts";

const output_schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };

const typesOf = (lines: readonly ServerLine[]) =>
	eventsOf(lines).map((event) => (event["payload"] as { type: string }).type);

it("a schema counts for the turns of later processes as well", async () => {
	const stage = createStage({ scripts: ['text: {"a": 1}'] });
	const first = serve(stage);
	await ask(first, "hello", "capabilities/get");
	const session_id = await create(first, { prompt: "go", output_schema, structured_output_retries: 1 });
	await end(first);
	stage.setScripts(["text: none", 'text: {"a": 2}']);
	const second = serve(stage);
	await ask(second, "hello", "capabilities/get");
	const lines = await ask(second, "turn", "turn/start", { session_id, prompt: "again" });
	expect(lines.at(-1)?.result).toMatchObject({ structured_output: { a: 2 }, turns: 2 });
	const types = typesOf(lines);
	expect(types.slice(types.indexOf("run_completed"))).toEqual(["run_completed", "extraction_succeeded"]);
	// What was asked for it is not part of the conversation.
	const history = await answer(second, "history", "session/history", { session_id });
	expect(JSON.stringify(history.result)).not.toContain("JSON Schema");
	await end(second);
});

it("a run without events has its value in the result alone", async () => {
	const stage = createStage({ scripts: ['text: {"a": 1}'] });
	const server = serve(stage);
	await ask(server, "hello", "capabilities/get");
	const lines = await ask(server, "create", "session/create", { prompt: "go", output_schema, session_events: false });
	expect(lines.at(-1)?.result).toMatchObject({ structured_output: { a: 1 } });
	expect(typesOf(lines)).toEqual([]);
	await end(server);
});

it("the prompt of a deferred session outlives its process, and is used once", async () => {
	const stage = createStage({ scripts: ["text: one", "text: two"] });
	const first = serve(stage);
	await ask(first, "hello", "capabilities/get");
	const session_id = await createDeferred(first, { prompt: "staged" });
	await end(first);
	const second = serve(stage);
	await ask(second, "hello", "capabilities/get");
	const content = async (id: string, params: object) => {
		const [begun = {}] = eventsOf(await ask(second, id, "turn/start", { session_id, ...params }));
		const { input } = begun["payload"] as { input?: { content: unknown } };
		return input?.content;
	};
	expect(await content("one", { prompt: "go" })).toBe("staged\n\ngo");
	expect(await content("two", { prompt: "on" })).toBe("on");
	await end(second);
});

it("added instructions are the end of the system prompt", async () => {
	const stage = createStage({ scripts: ["text: one"] });
	const server = serve(stage);
	await ask(server, "hello", "capabilities/get");
	const added = { system_prompt: "You count.", additional_instructions: ["Be exact.", "Be brief."] };
	const session_id = await create(server, { prompt: "go", ...added });
	const { result } = await answer(server, "history", "session/history", { session_id });
	const { messages } = result as unknown as { messages: { content: string }[] };
	expect(messages[0]?.content).toBe("You count.\n\nBe exact.\n\nBe brief.");
	await end(server);
});
