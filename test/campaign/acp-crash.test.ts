// A small fixed part of the crash campaign of the Agent Client Protocol, and its judge: it must notice what a process could lose.
import { describe, expect, it } from "vitest";
import { withoutSync } from "../../src/ports/files/unsynced-files.ts";
import { acpCrash } from "./acp/crash.ts";
import { checkLoaded, gather } from "./acp/crash-deliveries.ts";
import { playCrash, runCrash } from "./frame/crash.ts";

const id = "s";
const update = (fields: object) => ({ method: "session/update", params: { sessionId: id, update: fields } });
const chunk = (kind: string, messageId: string, text: string) =>
	update({ sessionUpdate: kind, messageId, content: { type: "text", text } });
const conversation = [
	chunk("user_message_chunk", "t-u", "hi"),
	chunk("agent_message_chunk", "t-1", "Hello"),
	update({ sessionUpdate: "plan", entries: [{ content: "Do it", priority: "medium", status: "pending" }] }),
	update({ sessionUpdate: "tool_call_update", toolCallId: "t/call-1", status: "completed" }),
	chunk("agent_message_chunk", "t-2", "Done"),
];
const prompted = { id: `prompt ${id} 0 1`, result: { stopReason: "end_turn" } };
const loaded = { id: `load ${id}`, result: {} };

describe("the crash campaign of the Agent Client Protocol", () => {
	it("finds nothing at a sample of its points", { timeout: 60_000 }, async () => {
		const options = { rounds: 3, seed: 1, points: 12, log: () => {} } as const;
		const { findings } = await runCrash(acpCrash, "--dialect acp --kind crash", options);
		expect(findings).toEqual([]);
	});

	it("finds what is lost with files that sync nothing", { timeout: 60_000 }, async () => {
		const [scenario = []] = acpCrash.scenarios;
		const found: string[] = [];
		for (let effect = 20; effect <= 90 && found.length === 0; effect += 5) {
			const stops = [{ effect, when: "after", loss: "least" } as const];
			found.push(...(await playCrash(acpCrash, { scenario, stops }, withoutSync)).faults);
		}
		expect(found).not.toEqual([]);
	});
});

describe("the judge of what a load shows", () => {
	it("accepts all that was delivered", () => {
		expect(checkLoaded([...conversation, prompted], [...conversation, loaded], id)).toEqual([]);
	});

	it.each(conversation.map((_, index) => index))("finds message %i missing", (index) => {
		const shown = conversation.filter((_, other) => other !== index);
		expect(checkLoaded([...conversation, prompted], [...shown, loaded], id)).not.toEqual([]);
	});

	it("counts only what was committed when the power was lost, and not what a load shows again", () => {
		const created = { id: "new - 1", result: { sessionId: id } };
		const lines = (messages: readonly object[]) => messages.map((message) => JSON.stringify(message));
		const first = { delivered: lines([created, prompted, ...conversation]), lostPower: false };
		expect(gather([{ ...first, lostPower: true }]).slice(1)).toEqual([created, prompted]);
		const command = update({ sessionUpdate: "tool_call_update", toolCallId: "t/call-1", status: "in_progress" });
		const second = { delivered: lines([...conversation, command, loaded]), lostPower: true };
		expect(gather([first, second]).slice(1)).toEqual([created, prompted]);
	});
});
