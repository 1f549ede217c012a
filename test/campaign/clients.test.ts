// A fixed-seed piece of the clients campaign, and the rules it judges by: they must notice what a client is given wrongly.
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/api/values/event.ts";
import { type Connect, connectInMemory, createSocketPlace, inMemory } from "./clients/access.ts";
import { runClients } from "./clients/clients.ts";

const options = { rounds: 24, seed: 20, points: "all", log: () => {} } as const;

/** A way to the session that changes the batches of every attachment. */
function changing(change: (batch: readonly AgentEvent[]) => readonly AgentEvent[]): Connect {
	return async (session) => {
		const access = await connectInMemory(session);
		return {
			...access,
			async attach(attachOptions) {
				const attachment = await access.attach(attachOptions);
				async function* events() {
					for await (const batch of attachment.events) yield change(batch);
				}
				return { ...attachment, events: events() };
			},
		};
	};
}

describe("the clients campaign", () => {
	it("shows every client the same session, whatever the others do", { timeout: 60_000 }, async () => {
		const { findings, figures } = await runClients(options, inMemory);
		expect(findings).toEqual([]);
		expect(figures["attachments"]).toBeGreaterThan(100);
		expect(figures["answers that settled"]).toBeGreaterThan(10);
		expect(figures["gaps seen"]).toBeGreaterThan(0);
	});

	it("shows it over sockets as well", { timeout: 60_000 }, async () => {
		const { findings, figures } = await runClients({ ...options, rounds: 8 }, createSocketPlace());
		expect(findings).toEqual([]);
		expect(figures["attachments"]).toBeGreaterThan(20);
	});

	it.each<[string, Connect, string]>([
		["an event is lost", changing((batch) => batch.filter(({ body }) => body.type !== "step.started")), "is due"],
		[
			"an event comes twice",
			changing((batch) => batch.flatMap((event) => (event.seq === undefined ? [event] : [event, event]))),
			"is due",
		],
		[
			"a delta is lost",
			changing((batch) => batch.filter(({ body }) => body.type !== "content.delta" || body.offset === 0)),
			"is complete as",
		],
		[
			"an event is another",
			changing((batch) => batch.map((event) => ({ ...event, turnId: "another" }))),
			"is not what the journal has",
		],
	])("notices when %s", { timeout: 60_000 }, async (_, connect, fault) => {
		const { findings } = await runClients({ ...options, rounds: 10 }, { ...inMemory, connect }, 0);
		expect(findings.join("\n")).toContain(fault);
	});
});
