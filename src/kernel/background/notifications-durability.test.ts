// Notifications of a task survive a crash at any point: the client gets each at least once, the model exactly once.
import { describe, expect, it } from "vitest";
import {
	checkEveryCrash,
	count,
	createLeft,
	live,
	losses,
	text,
} from "../../../test/support/sessions/notified-session.ts";

describe("the notification of a task", () => {
	it("reaches client and model once, when nothing fails", async () => {
		const files = await createLeft();
		expect(await live(files)).toHaveLength(1);
		expect(await live(files)).toEqual([]);
		expect(count(await text(files, "context.jsonl"), /<notification id=/g)).toBe(1);
	});

	// Each write with one of the losses; with all of them in notifications-crashes.test.ts.
	it.each(["before", "after"] as const)("survives a crash %s any write", (when) =>
		checkEveryCrash(when, (at) => [losses[at % losses.length] ?? null]),
	);
});
