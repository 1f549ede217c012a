// Plan mode that was set to on is on when the session is opened again, even before its first turn.
import { describe, expect, it } from "vitest";
import { createCampaignServer } from "../../../test/support/sessions/campaign-server.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";

describe("plan mode of a session without a turn", () => {
	it("is on again when the session is reopened", async () => {
		const store = createMemoryStore();
		const first = await createCampaignServer({ store });
		await first.session.send({ type: "plan-mode.set", enabled: true });
		await first.close();
		const second = await createCampaignServer({ store });
		expect([second.planMode(), second.session.hasHistory]).toEqual([true, true]);
		await second.close();
	});

	it("is on again when a slash command switched it on", async () => {
		const store = createMemoryStore();
		const first = await createCampaignServer({ store });
		const attachment = first.session.attachPlain({ client: null, tools: [], capabilities: [], hooks: null });
		const { turnId } = await first.session.send({ type: "turn.start", input: "/plan on" });
		for await (const events of attachment.events) {
			if (events.some(({ body, ...event }) => body.type === "turn.ended" && event.turnId === turnId)) break;
		}
		await first.close();
		const second = await createCampaignServer({ store });
		expect(second.planMode()).toBe(true);
		await second.close();
	});
});
