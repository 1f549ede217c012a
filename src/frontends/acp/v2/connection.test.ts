// A side question during a turn, in version 2.
import { expect, it, onTestFinished } from "vitest";
import { createEditor, updateOf } from "../../../../test/support/acp/editor.ts";
import { onlyDraftDialect } from "./dialect.ts";

it("a side question is shown and answered as the prompt that it is, while the turn goes on", async () => {
	const editor = await createEditor({}, onlyDraftDialect);
	onTestFinished(() => editor.close());
	const sessionId = await editor.open();
	const turn = editor.prompt(sessionId, "one");
	expect((await turn.response)["result"]).toEqual({ messageId: expect.any(String) });
	const aside = editor.prompt(sessionId, "/btw why");
	const { result } = await aside.response;
	expect(result).toEqual({ messageId: expect.any(String) });
	editor.model.open();
	await editor.arrival((message) => updateOf(message)?.["state"] === "idle");
	const messages = editor.received.flatMap((message) => {
		const update = updateOf(message);
		return update?.["sessionUpdate"] === "user_message_chunk" ? [update] : [];
	});
	expect(messages).toMatchObject([
		{ content: { type: "text", text: "one" } },
		{ content: { type: "text", text: "/btw why" }, ...Object(result) },
	]);
});
