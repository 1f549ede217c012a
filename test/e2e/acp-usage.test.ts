// The tokens and the cost of a session, as the official client receives them.
import { appendFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { type AcpClient, connectAcp } from "../support/executable/acp-client.ts";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";

const scripts = [
	`usage: input_other=1000 output=100\n${toolCall("c1", "Glob", { pattern: "*" })}`,
	"usage: input_other=500 output=50 input_cache_read=2000 input_cache_creation=400\ntext: one",
];
const price = 'currency = "EUR"\ninput = 2\noutput = 10\ncache_read = 0.5\n';

function configurePrice(stage: Stage, table: string): void {
	appendFileSync(path.join(stage.shareDir, "config.toml"), `\n[models.m.price]\n${table}`);
}

const usagesOf = (client: AcpClient, sessionId: string) =>
	client.updates(sessionId).filter(({ sessionUpdate }) => sessionUpdate === "usage_update");

async function connect(stage: Stage): Promise<AcpClient> {
	const client = connectAcp(stage);
	await client.initialize();
	return client;
}

async function end(client: AcpClient): Promise<void> {
	client.endInput();
	expect(await client.exited).toBe(0);
}

it("a session with a price in the settings reports what it has cost, also in another process", async () => {
	const stage = createStage({ scripts });
	configurePrice(stage, price);
	const first = await connect(stage);
	const sessionId = await first.open();
	expect(await first.prompt(sessionId, "one")).toBe("end_turn");
	expect(usagesOf(first, sessionId)).toMatchObject([
		{ used: 1000, size: 100_000, cost: { amount: expect.closeTo(0.003, 9), currency: "EUR" } },
		{ used: 2900, size: 100_000, cost: { amount: expect.closeTo(0.0063, 9), currency: "EUR" } },
	]);
	await end(first);

	stage.setScripts(["usage: input_other=10 output=1\ntext: two"]);
	const second = await connect(stage);
	await second.load(sessionId);
	expect(await second.prompt(sessionId, "two")).toBe("end_turn");
	expect(usagesOf(second, sessionId)).toMatchObject([
		{ used: 2900, cost: { amount: expect.closeTo(0.0063, 9), currency: "EUR" } },
		{ used: 10, cost: { amount: expect.closeTo(0.00633, 9), currency: "EUR" } },
	]);
	await end(second);
});

it("the calls of a subagent cost as well, and dollars are what is meant where no currency is named", async () => {
	const report = `text: ${"I have looked at it. ".repeat(12)}`;
	const stage = createStage({
		scripts: [
			`usage: input_other=1000\n${toolCall("c1", "Agent", { description: "look", prompt: "look" })}`,
			`usage: output=500\n${report}`,
			"usage: input_other=2000\ntext: done",
		],
	});
	configurePrice(stage, "input = 1\noutput = 10\n");
	const client = await connect(stage);
	const sessionId = await client.open();
	expect(await client.prompt(sessionId, "go")).toBe("end_turn");
	expect(usagesOf(client, sessionId).at(-1)).toMatchObject({
		cost: { amount: expect.closeTo(0.008, 9), currency: "USD" },
	});
	await end(client);
});

it("a session without a price reports its tokens alone", async () => {
	const stage = createStage({ scripts });
	const client = await connect(stage);
	const sessionId = await client.open();
	expect(await client.prompt(sessionId, "go")).toBe("end_turn");
	expect(usagesOf(client, sessionId)).toEqual([
		{ sessionUpdate: "usage_update", used: 1000, size: 100_000 },
		{ sessionUpdate: "usage_update", used: 2900, size: 100_000 },
	]);
	await end(client);
});
