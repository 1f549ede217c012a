// A replay that is cancelled, or overtaken by the end, whatever it waits for (wire-protocol §2.6).
import { describe, expect, it } from "vitest";
import { eventAt } from "../../../test/contracts/store-contract.ts";
import { createCampaignServer } from "../../../test/support/sessions/campaign-server.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";
import type { SessionStore } from "../../ports/store/session-store.ts";

function line(id: string, method: string): string {
	return `${JSON.stringify({ jsonrpc: "2.0", id, method, params: {} })}\n`;
}

/** A store whose log has a first event, and then does not come. */
function createHangingStore(): SessionStore {
	const store = createMemoryStore();
	return {
		...store,
		async openOrCreate(workDir, id) {
			const session = await store.openOrCreate(workDir, id);
			return {
				...session,
				async *events() {
					yield [eventAt({ type: "turn.started", input: "hi" })];
					await new Promise(() => {});
				},
			};
		},
	};
}

describe("a replay of a log that does not come", () => {
	it("is cancelled at once", async () => {
		const server = await createCampaignServer({ store: createHangingStore() });
		server.client.write(line("r", "replay"));
		expect(await server.client.read()).toContain("TurnBegin");
		server.client.write(line("c", "cancel"));
		expect(JSON.parse((await server.client.read()) ?? "")).toMatchObject({ id: "c", result: {} });
		expect(JSON.parse((await server.client.read()) ?? "")).toMatchObject({
			id: "r",
			result: { status: "cancelled", events: 1, requests: 0 },
		});
	});
});
