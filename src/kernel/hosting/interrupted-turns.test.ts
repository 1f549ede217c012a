import { describe, expect, it } from "vitest";
import { readJournal } from "../../../test/support/protocol/event-reader.ts";
import { createHost, runTurn } from "../../../test/support/sessions/session-host.ts";
import type { AgentEvent, EventBody } from "../../api/values/event.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";
import { plainRequest } from "./hosted-options.ts";
import { SessionHost } from "./session-host.ts";

/** A session whose process ended in the middle of its second turn, after these events of that turn. */
async function createInterrupted(...bodies: readonly EventBody[]) {
	const store = createMemoryStore();
	const { host, kernel } = await createHost({}, { store });
	const handle = await host.create(plainRequest);
	await runTurn(handle);
	const { id, workDir } = handle.session;
	handle.release();
	await kernel.close();
	const stored = await store.openOrCreate(workDir, id);
	const toEvent = (body: EventBody): AgentEvent => ({ sessionId: id, turnId: "cut", agentPath: [], at: 1, body });
	await stored.commit({ events: bodies.map(toEvent) });
	return { store, id };
}

const started = { type: "turn.started", input: "go" } as const;

describe("a turn that a process left without an end", () => {
	it.each([
		["while the model spoke", [started, { type: "step.started", n: 1 }]],
		[
			"while a tool acted",
			[
				started,
				{ type: "step.started", n: 1 },
				{ type: "tool.started", toolCallId: "c", name: "Shell", arguments: "{}", has_effect: true },
			],
		],
	] satisfies [string, EventBody[]][])("%s, is ended once by a host that is to do so", async (_name, bodies) => {
		const { store, id } = await createInterrupted(...bodies);
		const { parts } = await createHost({}, { store });
		const host = new SessionHost({ ...parts, endsInterruptedTurns: true });
		const { session, release } = await host.acquire(id);
		const ends = (await readJournal(session)).filter(({ body }) => body.type === "turn.ended");
		expect(ends.at(-1)).toMatchObject({
			turnId: "cut",
			body: { outcome: { status: "failed", error: { code: "closed" } } },
		});
		expect(ends).toHaveLength(2);
		release();
		await host.unload(id);
		const again = await host.acquire(id);
		expect((await readJournal(again.session)).filter(({ body }) => body.type === "turn.ended")).toHaveLength(2);
		await runTurn(again);
	});

	it("is ended once for all who acquire the session, at the same time or later", async () => {
		const { store, id } = await createInterrupted(started);
		const { parts } = await createHost({}, { store });
		const host = new SessionHost({ ...parts, endsInterruptedTurns: true });
		const [{ session }] = await Promise.all([host.acquire(id), host.acquire(id, { archived: true }), host.acquire(id)]);
		await host.acquire(id);
		const ends = (await readJournal(session)).filter(
			({ turnId, body }) => turnId === "cut" && body.type === "turn.ended",
		);
		expect(ends).toHaveLength(1);
	});

	it("stays as it is in another host", async () => {
		const { store, id } = await createInterrupted(started);
		const { host } = await createHost({}, { store });
		const { session } = await host.acquire(id);
		const last = (await readJournal(session)).at(-1);
		expect(last?.body.type).toBe("turn.started");
	});
});
