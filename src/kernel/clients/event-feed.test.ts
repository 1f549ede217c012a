import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../events/event.ts";
import { EventFeed } from "./event-feed.ts";

const event = (n: number): AgentEvent => ({
	sessionId: "s",
	turnId: null,
	agentPath: [],
	at: n,
	body: { type: "step.started", n },
});

describe("EventFeed", () => {
	it("delivers queued events to its reader as one batch, in order, and then ends", async () => {
		const feed = new EventFeed();
		feed.push(event(1));
		feed.push(event(2));
		feed.end();
		feed.push(event(3));
		const batches: number[][] = [];
		for await (const batch of feed) batches.push(batch.map(({ at }) => at));
		expect(batches).toEqual([[1, 2]]);
	});

	it("wakes a waiting reader with an event, and with its end", async () => {
		const feed = new EventFeed();
		const reader = feed[Symbol.asyncIterator]();
		const first = reader.next();
		feed.push(event(1));
		expect((await first).value).toEqual([event(1)]);
		const second = reader.next();
		feed.end();
		expect(await second).toEqual({ done: true, value: undefined });
	});

	it("is full at its limit until it is read, and never again once ended", async () => {
		const feed = new EventFeed();
		for (let n = 0; n < 255; n += 1) feed.push(event(n));
		expect(feed.isFull()).toBe(false);
		await feed.capacity();
		feed.push(event(255));
		expect(feed.isFull()).toBe(true);
		const capacity = feed.capacity();
		const batch = await feed[Symbol.asyncIterator]().next();
		expect(batch.value).toHaveLength(256);
		await capacity;
		for (let n = 0; n < 256; n += 1) feed.push(event(n));
		const again = feed.capacity();
		feed.end();
		await again;
		expect(feed.isFull()).toBe(false);
	});
});
