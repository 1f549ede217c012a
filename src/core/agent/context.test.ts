import { describe, expect, it } from "vitest";
import type { ContextRow } from "../../api/values/conversation.ts";
import { Context, messageRow, userRow } from "./context.ts";

const log = { change: async () => {} };
const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] }) as const;

describe("Context", () => {
	it("restores prompt, counts and checkpoints from rows", async () => {
		const rows: readonly ContextRow[] = [
			{ type: "system-prompt", content: "stored" },
			{ type: "checkpoint", id: 0 },
			userRow("a"),
			{ type: "usage", tokenCount: 10 },
			{ type: "checkpoint", id: 4 },
			{ type: "usage", tokenCount: 12 },
		];
		const context = new Context(log, rows, "other");
		expect([context.systemPrompt, context.tokenCount, context.messages]).toEqual(["stored", 12, [user("a")]]);
		expect(context.checkpointRow()).toEqual({ type: "checkpoint", id: 5 });
		await context.append([context.checkpointRow()]);
		expect(context.checkpointRow()).toEqual({ type: "checkpoint", id: 6 });
		expect(new Context(log, [], "other").systemPrompt).toBe("other");
	});

	it("adds rows only after they are persisted", async () => {
		const failing = { change: () => Promise.reject(new Error("disk full")) };
		const context = new Context(failing, [], "");
		await expect(context.append([userRow("a")])).rejects.toThrow("disk full");
		expect(context.messages).toEqual([]);
	});

	it("merges adjacent user messages for a request, but never notifications", () => {
		const answer = { role: "assistant", content: [{ type: "text", text: "x" }] } as const;
		const notification = user('<notification id="n1">news</notification>');
		const messages = [user("a"), user("b"), notification, user("c"), user("d"), answer, user("e")];
		const context = new Context(log, messages.map(messageRow), "");
		expect(context.requestMessages()).toEqual([
			{ role: "user", content: [...user("a").content, ...user("b").content] },
			notification,
			{ role: "user", content: [...user("c").content, ...user("d").content] },
			answer,
			user("e"),
		]);
		expect(context.messages).toHaveLength(7);
	});

	it("merges as many adjacent user messages as a damaged or hostile session has, in linear time", () => {
		const count = 300_000;
		const messages = Array.from({ length: count }, (_, n) => user(`${n}`));
		const [merged, ...others] = new Context(log, messages.map(messageRow), "").requestMessages();
		expect(others).toEqual([]);
		expect(merged?.content).toHaveLength(count);
		expect(merged?.content.at(-1)).toEqual(user(`${count - 1}`).content[0]);
	});
});
