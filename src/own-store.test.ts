import { expect, it, onTestFinished } from "vitest";
import { createMapRecords, type MapRecords } from "../test/support/store/map-records.ts";
import { createAgent, scriptedModel } from "./index.ts";
import type { ScriptedAnswers } from "./scripted-model.ts";
import { startInTemporaryPlace } from "./testing/temporary-place.ts";

const environment = { PATH: process.env["PATH"] ?? "" };

async function start({ records }: MapRecords, answers: ScriptedAnswers) {
	const model = scriptedModel(answers);
	const agent = await startInTemporaryPlace("/tmp", ({ home, workDir }) =>
		createAgent({ home, workDir, settings: {}, environment, store: records, models: { mine: model } }),
	);
	onTestFinished(() => agent.close());
	return { agent, model };
}

it("keeps sessions in a store of the embedding program, and continues them from it", async () => {
	const map = createMapRecords();
	const first = await start(map, [{ calls: [{ tool: "TodoList", arguments: {} }] }, "I will remember 7."]);
	const session = await first.agent.open();
	expect(await session.prompt("Remember 7")).toMatchObject({ outcome: "finished" });
	await first.agent.open();
	await first.agent.close();
	expect(map.calls).toMatchObject({ append: expect.toSatisfy((count) => count > 3), list: 0 });

	const second = await start(map, ["It was 7.", "Copied."]);
	const listed: unknown[] = [];
	for await (const each of second.agent.sessions()) listed.push(each);
	expect(listed).toMatchObject([{ id: session.id, title: "Remember 7" }]);
	const again = await second.agent.open({ id: session.id });
	expect(await again.prompt("Which number?")).toMatchObject({ outcome: "finished", text: "It was 7." });
	expect(second.model.requests[0]?.messages.map(({ role }) => role)).toEqual([
		"user",
		"assistant",
		"tool",
		"assistant",
		"user",
	]);
	const copy = await second.agent.open({ fork: session.id });
	expect(await copy.prompt("And you?")).toMatchObject({ text: "Copied." });
	await again.close();
	await second.agent.delete(session.id);
	expect(map.texts(session.id)).toEqual([]);
	expect(map.texts(copy.id).length).toBeGreaterThan(1);
});

it("fails the turn whose record the store refuses, and reads the session again for the next prompt", async () => {
	const map = createMapRecords();
	const one = await start(map, ["One.", "Lost.", "Three."]);
	const session = await one.agent.open();
	await session.prompt("1");
	const other = await start(map, ["Two."]);
	expect(await (await other.agent.open({ id: session.id })).prompt("2")).toMatchObject({ text: "Two." });
	await other.agent.close();
	expect(await session.prompt("lost")).toMatchObject({
		outcome: "failed",
		error: { message: expect.stringContaining(`The session ${session.id} was not stored`) },
	});
	expect(await session.prompt("3")).toMatchObject({ outcome: "finished" });
	const seen = one.model.requests.at(-1)?.messages.flatMap(({ content }) => content);
	expect(seen).toContainEqual({ type: "text", text: "Two." });
});

it("recovers a turn of a program that ended in the middle of it", async () => {
	const map = createMapRecords();
	const shell = { tool: "Shell", arguments: { command: "sleep 60; echo done" } };
	const lost = await start(map, [{ text: "I run it.", calls: [shell] }]);
	const session = await lost.agent.open({ approve: (ask) => ask.once() });
	session.prompt("Run it");
	await expect.poll(() => map.texts(session.id).join("\n"), { timeout: 20_000 }).toContain('"tool.started"');
	const next = await start(map, ["I will look first."]);
	const again = await next.agent.open({ id: session.id });
	const { text } = await again.prompt("What happened?");
	expect(text).toContain("What came of it is unknown; it has not been run again.");
	expect(text).toContain("I will look first.");
	const [, call, result] = next.model.requests[0]?.messages ?? [];
	expect(call).toMatchObject({ role: "assistant", content: [{ type: "text", text: "I run it." }] });
	expect(JSON.stringify(result)).toContain("The outcome of this call is unknown");
}, 30_000);

it("says what failed when the store cannot be read", async () => {
	const { records } = createMapRecords();
	const broken = { ...createMapRecords(), records: { ...records, read: () => ["{}"] } };
	const { agent } = await start(broken, []);
	await expect(agent.open({ id: "4c5d0f0e-0d1a-4f6e-9b57-000000000000" })).rejects.toThrow("cannot be read");
});

it("goes back to before a turn in the conversation alone", async () => {
	const { agent } = await start(createMapRecords(), ["first", "second"]);
	const session = await agent.open();
	await session.prompt("One");
	const before = (await session.prompt("Two")).turnId ?? "";
	await expect(session.rewind({ before })).rejects.toThrow("the conversation can be rewound alone");
	expect(await session.rewind({ before, files: false })).toMatchObject({ files: null, messages: 2 });
});
