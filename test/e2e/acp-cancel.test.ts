// Cancelling over the Agent Client Protocol, with the official client, at every moment of a prompt. The prompt is always
// answered `cancelled`, after its last update, and the session goes on.
import { describe, expect, it } from "vitest";
import {
	type AcpClient,
	approved,
	connectAcp,
	isPermission,
	isUpdate,
	type Message,
	never,
	outlineOf,
	updateOf,
} from "../support/executable/acp-client.ts";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { createHeldStage } from "../support/models/held-provider.ts";

const command = (text: string) => toolCall("c1", "Shell", { command: text });

/** What was received after the answer to the prompt that was cancelled. */
function afterAnswer({ messages }: AcpClient, sessionId: string): readonly Message[] {
	const answer = messages.findIndex(
		({ result }) => typeof result === "object" && result !== null && "stopReason" in result,
	);
	expect(answer).toBeGreaterThan(0);
	return messages.slice(answer + 1).filter((message) => updateOf(message, sessionId) !== null);
}

/** Shows that the session goes on, and that nothing of the cancelled prompt came late. */
async function expectToGoOn(client: AcpClient, sessionId: string) {
	// Whatever was late would have come before this answer.
	await client.agent.request("session/list", {});
	expect(outlineOf(afterAnswer(client, sessionId).flatMap((message) => updateOf(message) ?? []))).toEqual([]);
	expect(await client.prompt(sessionId, "again")).toBe("end_turn");
}

describe("cancelling", () => {
	it("before the first event, in the message behind the prompt", async () => {
		const client = connectAcp(createStage({ scripts: ["text: one", "text: two"] }));
		await client.initialize();
		const sessionId = await client.open();
		await client.received(isUpdate("available_commands_update"));
		const prompt = client.prompt(sessionId, "hi");
		await client.cancel(sessionId);
		expect(await prompt).toBe("cancelled");
		await expectToGoOn(client, sessionId);
	});

	it("while the model streams", async () => {
		const held = await createHeldStage();
		const client = connectAcp(held.stage);
		await client.initialize();
		const sessionId = await client.open();
		const prompt = client.prompt(sessionId, "hi");
		const first = await held.nextRequest();
		await first.say("half of");
		await client.received(isUpdate("agent_message_chunk"));
		await client.cancel(sessionId);
		expect(await prompt).toBe("cancelled");
		await first.closed;
		const goingOn = expectToGoOn(client, sessionId);
		const second = await held.nextRequest();
		await second.say("whole");
		second.end();
		await goingOn;
	});

	it("while a tool runs, which fails and leaves no process", async () => {
		const stage = createStage({ scripts: [command("sleep 97"), "text: fine"] });
		const client = connectAcp(stage);
		await client.initialize();
		const sessionId = await client.open();
		const prompt = client.prompt(sessionId, "hi");
		await client.received(isUpdate("tool_call_update", "in_progress"));
		await client.cancel(sessionId);
		expect(await prompt).toBe("cancelled");
		expect(outlineOf(client.updates(sessionId)).at(-1)).toBe("tool_call_update failed");
		await expect.poll(() => stage.commands().filter((each) => each.includes("sleep 97"))).toEqual([]);
		await expectToGoOn(client, sessionId);
	});

	it("while a permission is open, which is withdrawn; its late answer changes nothing", async () => {
		const client = connectAcp(createStage({ scripts: [command("touch made"), "text: fine"] }), {
			decide: async (_permission, signal) => {
				await new Promise((resolve) => signal.addEventListener("abort", resolve));
				return approved;
			},
		});
		await client.initialize();
		const sessionId = await client.open();
		const prompt = client.prompt(sessionId, "hi");
		const { id } = await client.received(isPermission);
		await client.cancel(sessionId);
		expect(await prompt).toBe("cancelled");
		expect(client.messages).toContainEqual({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: id } });
		await expectToGoOn(client, sessionId);
	});

	it.each(["before", "after"])(
		"while a permission is open that the client answers %s its cancellation",
		async (when) => {
			const answers: (() => void)[] = [];
			const client = connectAcp(createStage({ scripts: [command("touch made"), "text: fine"] }), {
				decide: () => new Promise((resolve) => answers.push(() => resolve({ outcome: "cancelled" }))),
			});
			await client.initialize();
			const sessionId = await client.open();
			const prompt = client.prompt(sessionId, "hi");
			await expect.poll(() => answers.length).toBe(1);
			if (when === "before") answers[0]?.();
			await client.cancel(sessionId);
			if (when === "after") answers[0]?.();
			expect(await prompt).toBe("cancelled");
			await expectToGoOn(client, sessionId);
		},
	);

	it("when nothing runs, twice, and an unknown session: in silence", async () => {
		const client = connectAcp(createStage({ scripts: ["text: one", "text: two"] }));
		await client.initialize();
		const sessionId = await client.open();
		await client.received(isUpdate("available_commands_update"));
		const before = client.messages.length;
		for (const id of [sessionId, sessionId, "unknown"]) await client.cancel(id);
		await client.agent.request("session/list", {});
		expect(client.messages.length).toBe(before + 1);
		expect(await client.prompt(sessionId, "hi")).toBe("end_turn");
		await client.cancel(sessionId);
		await expectToGoOn(client, sessionId);
	});

	it("twice while a turn runs", async () => {
		const client = connectAcp(createStage({ scripts: [command("touch made"), "text: fine"] }), { decide: never });
		await client.initialize();
		const sessionId = await client.open();
		const prompt = client.prompt(sessionId, "hi");
		await client.received(isPermission);
		await client.cancel(sessionId);
		await client.cancel(sessionId);
		expect(await prompt).toBe("cancelled");
		await expectToGoOn(client, sessionId);
	});

	it("all of a hundred prompts that wait", async () => {
		const client = connectAcp(createStage({ scripts: [command("touch made"), "text: fine"] }), { decide: never });
		await client.initialize();
		const sessionId = await client.open();
		const prompts = Array.from({ length: 100 }, (_, index) => client.prompt(sessionId, `prompt ${index}`));
		await client.received(isPermission);
		await client.cancel(sessionId);
		expect(new Set(await Promise.all(prompts))).toEqual(new Set(["cancelled"]));
		expect(await client.prompt(sessionId, "again")).toBe("end_turn");
	});

	it("by withdrawing the request of the prompt", async () => {
		const client = connectAcp(createStage({ scripts: [command("touch made"), "text: fine"] }), { decide: never });
		await client.initialize();
		const sessionId = await client.open();
		const prompt = client.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "hi" }] });
		await client.received(isPermission);
		// `initialize` was the first request of this client, and `session/new` the second.
		await client.agent.notify("$/cancel_request", { requestId: 2 });
		expect(await prompt).toEqual({ stopReason: "cancelled" });
		await expectToGoOn(client, sessionId);
	});
});
