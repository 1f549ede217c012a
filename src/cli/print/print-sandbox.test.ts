import { expect, it, vi } from "vitest";
import type { SandboxDescription } from "../../api/session-state.ts";
import type { AgentEvent, EventBody } from "../../api/values/event.ts";
import { createSandboxNote } from "./print-sandbox.ts";

const event = (body: EventBody): AgentEvent => ({ body, agentPath: [], turnId: null, sessionId: "s", at: 0 });
const call = (name: string) =>
	event({
		type: "tool.requested",
		call: { type: "function", id: "c", function: { name, arguments: "{}" }, extras: null },
	});

async function notesOf(sandbox: SandboxDescription | null, isDue: boolean, ...names: readonly string[]) {
	const notes: string[] = [];
	const description = { slashCommands: [], commandHooks: [], models: [], modes: [], sandbox };
	const take = createSandboxNote(
		{ send: vi.fn().mockResolvedValue(description) },
		isDue,
		(text) => void notes.push(text),
	);
	for (const name of names) take(call(name));
	await Promise.resolve();
	return notes;
}

it("comes once, with the first command", async () => {
	expect(await notesOf({ status: "active", why: null }, true, "ReadFile")).toEqual([]);
	expect(await notesOf({ status: "active", why: null }, true, "ReadFile", "Shell", "Shell")).toEqual([
		expect.stringMatching(/^Commands run in a sandbox: .*--yolo/),
	]);
	expect(await notesOf({ status: "active", why: null }, false, "Shell")).toEqual([]);
});

it("says how to get a sandbox where there is none", async () => {
	expect(await notesOf(null, true, "Shell")).toEqual([
		expect.stringMatching(/^Commands run with your rights: .*install bubblewrap/),
	]);
});
