import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createLiveFeed } from "../../../test/support/protocol/live-feed.ts";
import { createSessionDouble, storageFailure } from "../../../test/support/store/failing-session.ts";
import { textPart } from "../../api/values/content.ts";
import type { AgentEvent, EventBody } from "../../api/values/event.ts";
import { createDeferred } from "../../base/deferred.ts";
import { Emitter, type Persistence } from "./emitter.ts";

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const delta = (text: string): EventBody => ({ type: "content.delta", part: textPart(text) });
const step = (n: number): EventBody => ({ type: "step.started", n });
const live = new AbortController().signal;

async function createSubject() {
	const double = await createSessionDouble();
	const emitter = new Emitter(double.stored, createFakeClock(1));
	const feed = createLiveFeed();
	emitter.add(feed);
	const delivered: string[] = [];
	void (async () => {
		for await (const batch of feed) delivered.push(...batch.map(({ body }) => body.type));
	})();
	const emit = async (body: EventBody, persistence: Persistence = {}, turnId = "t1", signal = live) =>
		await emitter.emit({ turnId, agentPath: [] }, body, persistence, signal);
	return { double, emitter, feed, delivered, emit };
}

describe("Emitter", () => {
	it("stores the event with the change of the state that belongs to it, and only then delivers", async () => {
		const { double, delivered, emit } = await createSubject();
		double.hold = createDeferred();
		const emitting = emit(step(1), { state: { planMode: true }, sync: true });
		await settled();
		expect([double.writes, delivered]).toEqual([["step.started", "state", "sync"], []]);
		double.hold.resolve();
		await emitting;
		await settled();
		expect(delivered).toEqual(["step.started"]);
		expect(double.stored.state().planMode).toBe(true);
	});

	it("numbers the durable events it delivers, and no others", async () => {
		const { emitter, emit } = await createSubject();
		const feed = createLiveFeed();
		emitter.add(feed);
		for (const body of [step(1), delta("a"), step(2)]) await emit(body);
		feed.end();
		const seen: unknown[] = [];
		for await (const batch of feed) seen.push(...batch.map(({ body, seq }) => [body.type, seq]));
		expect(seen).toEqual([
			["step.started", 1],
			["content.delta", undefined],
			["content.completed", 2],
			["step.started", 3],
		]);
		expect(emitter.delivered).toBe(3);
	});

	it("tells what is unfinished", async () => {
		const { emitter, emit } = await createSubject();
		await emit(delta("a"));
		await emit(delta("b"));
		expect(emitter.unfinished()).toEqual([
			{ agentPath: [], body: { type: "content.completed", part: textPart("ab") } },
		]);
		await emit(step(1));
		expect(emitter.unfinished()).toEqual([]);
	});

	it("delivers in the order of emission, a merged event before the event that ends it", async () => {
		const { double, delivered, emit } = await createSubject();
		await emit(delta("a"));
		await emit(delta("b"));
		expect(double.writes).toEqual([]);
		double.hold = createDeferred();
		const emitting = [emit(step(1)), emit(delta("c")), emit(step(2)), emit(delta("d"))];
		await settled();
		expect(delivered).toEqual(["content.delta", "content.delta"]);
		double.hold.resolve();
		await Promise.all(emitting);
		await settled();
		expect(delivered.slice(2)).toEqual([
			"content.completed",
			"step.started",
			"content.delta",
			"content.completed",
			"step.started",
			"content.delta",
		]);
	});

	it("delivers nothing that could not be persisted, and nothing later of that turn except its end", async () => {
		const { double, delivered, emit } = await createSubject();
		double.hold = createDeferred();
		double.failEvents = true;
		const results = [emit(step(1)), emit(step(2)), emit(delta("a"))].map((emitting) =>
			emitting.then(
				() => "told",
				(thrown: unknown) => thrown,
			),
		);
		await settled();
		double.hold.resolve();
		expect(await results[0]).toBe(storageFailure);
		double.failEvents = false;
		expect(await Promise.all(results)).toEqual([storageFailure, storageFailure, storageFailure]);
		await expect(emit(delta("b"))).rejects.toBe(storageFailure);
		await expect(emit(step(3))).rejects.toBe(storageFailure);
		await settled();
		expect(delivered).toEqual([]);
		await emit({ type: "turn.ended", outcome: { status: "cancelled" } });
		await emit({ type: "turn.started", input: "again" }, {}, "t2");
		await settled();
		expect(delivered).toEqual(["turn.ended", "turn.started"]);
	});

	it("delivers what is stored already when the turn fails elsewhere meanwhile: no client misses a number", async () => {
		const { double, emitter, feed, emit } = await createSubject();
		const numbers: (number | undefined)[] = [];
		const other = createLiveFeed();
		emitter.add(other);
		const reading = (async () => {
			for await (const batch of other) numbers.push(...batch.map(({ seq }) => seq));
		})();
		double.hold = createDeferred();
		let isPersisted = false;
		const persistence = {
			beforeDelivery: () => {
				isPersisted = true;
			},
		};
		const emitting = emit(step(1), persistence).then(
			() => "emitted",
			(thrown: unknown) => thrown,
		);
		const ending = emit({ type: "turn.ended", outcome: { status: "cancelled" } });
		await settled();
		emitter.fail("t1", storageFailure);
		double.hold.resolve();
		// What emitted it stops all the same.
		expect(await emitting).toBe(storageFailure);
		await ending;
		expect([isPersisted, emitter.delivered]).toEqual([true, 2]);
		feed.end();
		other.end();
		await reading;
		expect(numbers).toEqual([1, 2]);
	});

	it("waits for a slow client, but not beyond the signal", async () => {
		const { emitter, emit } = await createSubject();
		const slow = createLiveFeed();
		emitter.add(slow);
		for (let n = 0; n < 255; n += 1) await emit(delta("x"));
		let isOver = false;
		const controller = new AbortController();
		const emitting = emit(delta("y"), {}, "t1", controller.signal).then(() => {
			isOver = true;
		});
		await settled();
		expect(isOver).toBe(false);
		controller.abort();
		await emitting;
		const other = emit(delta("z"));
		emitter.remove(slow);
		slow.end();
		await other;
	});

	it("delivers the same to every client", async () => {
		const { emitter, emit } = await createSubject();
		const feeds = [createLiveFeed(), createLiveFeed()];
		for (const feed of feeds) emitter.add(feed);
		await emit(step(1));
		for (const feed of feeds) feed.end();
		const seen: (readonly AgentEvent[])[] = [];
		for (const feed of feeds) for await (const batch of feed) seen.push(batch);
		const numbered = { seq: 1, epoch: expect.any(String) };
		const event = { sessionId: expect.any(String), turnId: "t1", agentPath: [], at: 1, body: step(1), ...numbered };
		expect(seen).toEqual([[event], [event]]);
	});

	it("ends a turn with a gap, even if an event outside it failed as well", async () => {
		const { double, emitter, delivered, emit } = await createSubject();
		double.failEvents = true;
		await expect(emit(step(1))).rejects.toBe(storageFailure);
		const outside = emitter.emit({ turnId: null, agentPath: [] }, step(9), {}, live);
		await expect(outside).rejects.toBe(storageFailure);
		double.failEvents = false;
		await expect(emit(step(2))).rejects.toBe(storageFailure);
		await emitter.emit({ turnId: null, agentPath: [] }, step(3), {}, live);
		await settled();
		expect(delivered).toEqual(["step.started"]);
	});

	it("stores the events of a subagent in its own log too, while it runs", async () => {
		const { emitter } = await createSubject();
		const own: unknown[] = [];
		const path = [{ parentToolCallId: "P", agentId: "a1", subagentType: "coder" }];
		const speak = (n: number, agentPath = path) => emitter.emit({ turnId: "t1", agentPath }, step(n), {}, live);
		emitter.addAgent("a1", { appendEvents: async (events) => void own.push(...events.map(({ body }) => body)) });
		await speak(1);
		await speak(2, []);
		await speak(
			3,
			path.map((entry) => ({ ...entry, agentId: "a2" })),
		);
		emitter.removeAgent("a1");
		await speak(4);
		expect(own).toEqual([step(1)]);
	});
});
