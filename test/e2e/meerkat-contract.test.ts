// What the contract of Meerkat RPC has beyond the first protocol, over the built executable.
import { mkdirSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { isResponse, type ServerLine } from "../support/executable/running-server.ts";
import { answer, ask, create, createDeferred, end, eventsOf, serve } from "../support/meerkat/meerkat-lines.ts";
import { createHeldStage } from "../support/models/held-provider.ts";

const image = { type: "image", source: "inline", media_type: "image/png", data: "iVBORw0KGgo=" };
const payloads = (lines: readonly ServerLine[]) =>
	eventsOf(lines).map((event) => event["payload"] as Record<string, unknown>);

const has = (type: string) => (line: ServerLine) => payloads([line]).some((payload) => payload["type"] === type);

it("an image of a prompt reaches the model, and comes back in the begin of the run", async () => {
	const stage = createStage({ scripts: ["text: Seen."], modelSettings: { capabilities: ["image_in"] } });
	const server = serve(stage);
	await ask(server, "hello", "capabilities/get");
	const prompt = [image, { type: "text", text: "Look." }];
	const lines = await ask(server, "create", "session/create", { prompt });
	expect(lines.at(-1)?.result).toMatchObject({ text: "Seen." });
	expect(payloads(lines)[0]).toMatchObject({ type: "run_started", prompt: "Look.", input: { content: prompt } });
	await end(server);
});

it("the variables of a session are those of its commands", async () => {
	const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "echo $TEAM" }), "text: done"] });
	const server = serve(stage);
	await ask(server, "hello", "capabilities/get");
	const lines = await ask(server, "create", "session/create", { prompt: "go", shell_env: { TEAM: "red" } });
	const result = payloads(lines).find(({ type }) => type === "tool_execution_completed");
	expect(result).toMatchObject({ result: "red\n" });
	await end(server);
});

it("a turn changes the model for itself and for later ones", async () => {
	const stage = createStage({ scripts: ["text: one", "text: two", "text: three"] });
	const settings = JSON.parse(stage.configText);
	const models = { ...settings.models, other: { ...settings.models.m, model: "other-model" } };
	const server = serve(stage, "--config", JSON.stringify({ ...settings, models }));
	await ask(server, "hello", "capabilities/get");
	const session_id = await create(server);
	const model = async (id: string) => (await answer(server, id, "session/read", { session_id })).result?.["model"];
	const before = await model("a");
	await answer(server, "two", "turn/start", { session_id, prompt: "go", model: "other" });
	expect(await model("b")).not.toBe(before);
	await answer(server, "three", "turn/start", { session_id, prompt: "go" });
	expect(await model("c")).toBe(await model("d"));
	const refused = await answer(server, "four", "turn/start", { session_id, prompt: "go", model: "none" });
	expect(refused.error).toMatchObject({ code: -32602, message: expect.stringContaining("other of p") });
	await end(server);
});

it("a run is stopped by its id, and one that is not current stays", async () => {
	const { stage, nextRequest } = await createHeldStage();
	const server = serve(stage);
	await ask(server, "hello", "capabilities/get");
	const session_id = await createDeferred(server);
	server.request("turn", "turn/start", { session_id, prompt: "go" });
	const [begun = {}] = payloads(await server.readUntil(has("run_started")));
	const { run_id } = begun["identity"] as { run_id: string };
	await nextRequest();
	const other = await answer(server, "other", "turn/stop_run", { session_id, run_id: "x", reason: "r" });
	expect(other.result).toEqual({ session_id, receipt: { outcome: "not_current", run_id: "x" } });
	server.request("stop", "turn/stop_run", { session_id, run_id });
	const seen = new Set<unknown>();
	const lines = await server.readUntil((each) => {
		if (isResponse(each, "stop") || isResponse(each, "turn")) seen.add(each.id);
		return seen.size === 2;
	});
	const failedAt = lines.findIndex(has("run_failed"));
	const stoppedAt = lines.findIndex((each) => isResponse(each, "stop"));
	expect(failedAt).toBeGreaterThanOrEqual(0);
	expect(stoppedAt).toBeGreaterThan(failedAt);
	const contributors = [{ input_id: run_id, completion: "cancelled", terminal: "cancelled" }];
	expect(lines[stoppedAt]?.result).toEqual({ session_id, receipt: { outcome: "stopped", run_id, contributors } });
	await end(server);
});

it("labels and the history of an archived session are there in a later process", async () => {
	const stage = createStage({ scripts: ["text: one"] });
	const first = serve(stage);
	await ask(first, "hello", "capabilities/get");
	const session_id = await create(first, { prompt: "go", labels: { team: "a" } });
	await end(first);
	const second = serve(stage);
	await ask(second, "hello", "capabilities/get");
	const read = await answer(second, "read", "session/read", { session_id });
	expect(read.result).toMatchObject({ labels: { team: "a" } });
	await answer(second, "archive", "session/archive", { session_id });
	await end(second);
	const third = serve(stage);
	await ask(third, "hello", "capabilities/get");
	const history = await answer(third, "history", "session/history", { session_id, offset: null, limit: null });
	expect(history.result).toMatchObject({ session_id, message_count: 3, offset: 0, limit: 100 });
	expect((await answer(third, "again", "session/read", { session_id })).error).toMatchObject({ code: -32001 });
	await end(third);
});

it("a configuration that somebody else has changed meanwhile is not overwritten", async () => {
	const stage = createStage();
	// Else it would be that of whoever runs the tests.
	mkdirSync(path.join(stage.workDir, ".rkat"));
	const patch = (value: number) => ({ patch: { max_tokens: value } });
	const [one, two] = [serve(stage), serve(stage)];
	for (const server of [one, two]) await ask(server, "hello", "capabilities/get");
	const read = await answer(one, "a", "config/get");
	expect(read.result).toMatchObject({ generation: 0 });
	const own = await answer(one, "b", "config/patch", { ...patch(100), expected_generation: 0 });
	expect(own.result).toMatchObject({ config: { max_tokens: 100 }, generation: 1 });
	await answer(two, "c", "config/patch", patch(200));
	const stale = await answer(one, "d", "config/patch", { ...patch(300), expected_generation: 1 });
	expect(stale.error).toMatchObject({ code: -32602, message: "Generation conflict: expected 1, current 2" });
	const now = await answer(one, "e", "config/get");
	expect(now.result).toMatchObject({ config: { max_tokens: 200 }, generation: 2 });
	for (const server of [one, two]) await end(server);
});
