import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createEditor, type Editor, updateOf } from "../../../../test/support/acp/editor.ts";
import { hostedPlace } from "../../../../test/support/sessions/hosted-server.ts";

const cancelled = { stopReason: "cancelled" };
const write = {
	kind: "call",
	id: "c1",
	name: "WriteFile",
	arguments: JSON.stringify({ path: `${hostedPlace.workDir}/a.txt`, content: "a\n" }),
} as const;
const done = { kind: "done", counted: true } as const;

let editor: Editor;
beforeEach(async () => {
	editor = await createEditor({ loaded_sessions: 2 });
});
afterEach(() => editor.close());

const texts = () =>
	editor.received.flatMap((message) => {
		const update = updateOf(message);
		return update?.["sessionUpdate"] === "agent_message_chunk" ? [update["content"]] : [];
	});

describe("the requests about sessions", () => {
	it("answer a prompt that waits as soon as it is withdrawn", async () => {
		const sessionId = await editor.open();
		const first = editor.prompt(sessionId, "one");
		const second = editor.prompt(sessionId, "two");
		editor.notify("$/cancel_request", { requestId: second.id });
		expect((await second.response)["result"]).toEqual(cancelled);
		expect(editor.received.some(({ id }) => id === first.id)).toBe(false);
		editor.model.open();
		expect((await first.response)["result"]).toEqual({ stopReason: "end_turn" });
	});

	it("give input to the turn of a prompt that was sent just before", async () => {
		const sessionId = await editor.open();
		const turn = editor.prompt(sessionId, "one");
		const prompt = [{ type: "text", text: "more" }];
		const steering = editor.begin("_session/steering", { sessionId, prompt });
		expect((await steering.response)["result"]).toEqual({ outcome: "injected" });
		editor.model.open();
		expect((await turn.response)["result"]).toEqual({ stopReason: "end_turn" });
	});

	it("show a side question with its answer when the conversation is loaded", async () => {
		const sessionId = await editor.open();
		const turn = editor.prompt(sessionId, "one");
		const aside = editor.prompt(sessionId, "/btw why");
		editor.model.open();
		await Promise.all([turn.response, aside.response]);
		await editor.request("session/load", { sessionId, cwd: hostedPlace.workDir, mcpServers: [] });
		const questions = editor.received.flatMap((message) => {
			const update = updateOf(message);
			return update?.["sessionUpdate"] === "user_message_chunk" ? [update["content"]] : [];
		});
		expect(questions).toEqual(["one", "/btw why"].map((text) => ({ type: "text", text })));
	});

	it("answer a side question as soon as it is cancelled, and never show its answer", async () => {
		const sessionId = await editor.open();
		const turn = editor.prompt(sessionId, "one");
		const aside = editor.prompt(sessionId, "/btw why");
		await editor.request("session/list", {});
		editor.notify("session/cancel", { sessionId });
		expect((await aside.response)["result"]).toEqual(cancelled);
		expect((await turn.response)["result"]).toEqual(cancelled);
		editor.model.open();
		await editor.prompt(sessionId, "two").response;
		expect(texts()).toEqual([{ type: "text", text: "Well." }]);
	});

	it("stop the model call of a side question that is cancelled, and nothing of the turn beside it", async () => {
		const sessionId = await editor.open();
		editor.model.push([write, done]);
		const turn = editor.prompt(sessionId, "one");
		const { id: permission } = await editor.arrival(({ method }) => method === "session/request_permission");
		expect(editor.model.isWaiting()).toBe(false);
		const aside = editor.prompt(sessionId, "/btw why");
		await vi.waitFor(() => expect(editor.model.isWaiting()).toBe(true));
		editor.notify("$/cancel_request", { requestId: aside.id });
		expect((await aside.response)["result"]).toEqual(cancelled);
		await vi.waitFor(() => expect(editor.model.isWaiting()).toBe(false));
		editor.model.open();
		editor.send({ id: permission, result: { outcome: { outcome: "selected", optionId: "approve" } } });
		expect((await turn.response)["result"]).toEqual({ stopReason: "end_turn" });
		expect(texts()).toEqual([{ type: "text", text: "Well." }]);
	});

	it("go on with a turn as it was when a load of its session is withdrawn", async () => {
		const sessionId = await editor.open();
		editor.model.push([write, done]);
		const turn = editor.prompt(sessionId, "one");
		const { id: permission } = await editor.arrival(({ method }) => method === "session/request_permission");
		const load = editor.begin("session/load", { sessionId, cwd: hostedPlace.workDir, mcpServers: [] });
		editor.notify("$/cancel_request", { requestId: load.id });
		expect((await load.response)["error"]).toMatchObject({ code: -32800 });
		editor.send({ id: permission, result: { outcome: { outcome: "selected", optionId: "approve" } } });
		editor.model.open();
		expect((await turn.response)["result"]).toEqual({ stopReason: "end_turn" });
		const states = editor.received.flatMap((message) => updateOf(message)?.["status"] ?? []);
		expect(states.at(-1)).toBe("completed");
		expect(texts()).toEqual([{ type: "text", text: "Well." }]);
	});

	it("close a stored session where there is no room to load it", async () => {
		editor.model.open();
		const stored = await editor.open();
		await editor.prompt(stored, "one").response;
		await editor.request("session/close", { sessionId: stored });
		editor.model.close();
		const busy = [await editor.open(), await editor.open()].map((id) => editor.prompt(id, "wait"));
		await editor.request("session/list", {});
		expect(await editor.request("session/close", { sessionId: stored })).toMatchObject({ result: {} });
		editor.model.open();
		await Promise.all(busy.map(({ response }) => response));
	});

	it("close a session that was never prompted where there is no room to load it", async () => {
		const unused = await editor.open();
		const busy = [await editor.open(), await editor.open()].map((id) => editor.prompt(id, "wait"));
		await editor.request("session/list", {});
		expect(await editor.request("session/close", { sessionId: unused })).toMatchObject({ result: {} });
		editor.model.open();
		await Promise.all(busy.map(({ response }) => response));
	});
});
