import { describe, expect, it, onTestFinished } from "vitest";
import { describeClient } from "../../test/contracts/client-contract.ts";
import { connectToGateway, createScriptedAgent, makeDirectory } from "../../test/support/client/client-places.ts";

describe("in the same process", () => {
	describeClient({
		connect: async (scripts) => ({ kernel: await createScriptedAgent(scripts), workDir: await makeDirectory() }),
	});
});

describe("over HTTP", () => {
	describeClient({
		connect: async (scripts) => ({ ...(await connectToGateway(scripts)), workDir: await makeDirectory() }),
	});

	it("loses no durable event and no answer when the connection breaks", async () => {
		const shell = 'tool_call: {"id":"c1","name":"Shell","arguments":"{\\"command\\":\\"touch hi\\"}"}\n';
		const { kernel, cut } = await connectToGateway([shell, "text: done\n"]);
		onTestFinished(() => kernel.close());
		const session = await kernel.open({ workDir: await makeDirectory() });
		const seen: string[] = [];
		const start = (await session.snapshot()).cursor;
		const watching = (async () => {
			for await (const event of session.events({ after: start })) {
				if (event.seq !== undefined) seen.push(`${event.seq} ${event.type}`);
				if (event.type === "turn.ended") return;
			}
		})();
		const turn = session.prompt("Go");
		for await (const event of turn) {
			if (event.type !== "approval") continue;
			cut();
			expect(await event.ask.once()).toMatchObject({ settled: true });
		}
		expect(await turn).toMatchObject({ outcome: "finished", text: "done" });
		await watching;
		const stored: string[] = [];
		for await (const { seq, type } of session.history({ after: start })) stored.push(`${seq} ${type}`);
		expect(seen).toEqual(stored);
	});
});
