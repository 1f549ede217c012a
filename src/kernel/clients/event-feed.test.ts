import { describe, expect, it } from "vitest";
import { createLiveFeed } from "../../../test/support/protocol/live-feed.ts";
import type { Flow } from "../../api/session-options.ts";
import { textPart, toolSuccess } from "../../api/values/content.ts";
import type { AgentEvent, EventBody } from "../../api/values/event.ts";
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
		const feed = createLiveFeed();
		feed.push(event(1));
		feed.push(event(2));
		feed.end();
		feed.push(event(3));
		const batches: number[][] = [];
		for await (const batch of feed) batches.push(batch.map(({ at }) => at));
		expect(batches).toEqual([[1, 2]]);
	});

	it("wakes a waiting reader with an event, and with its end", async () => {
		const feed = createLiveFeed();
		const reader = feed[Symbol.asyncIterator]();
		const first = reader.next();
		feed.push(event(1));
		expect((await first).value).toEqual([event(1)]);
		const second = reader.next();
		feed.end();
		expect(await second).toEqual({ done: true, value: undefined });
	});

	it("says that the history is another one, drops what it had of the one before, and delivers all of it", async () => {
		const numbered = (n: number, epoch: string): AgentEvent => ({ ...event(n), seq: n, epoch });
		let history = [numbered(1, "old")];
		async function* read(after: number) {
			yield history.slice(after);
		}
		const source = { read, delivered: () => history.length, left: () => history.length };
		const feed = new EventFeed({ flow: "droppable", after: 1, source, wantsProgress: false });
		feed.push(numbered(2, "old"));
		history = [1, 2, 3].map((n) => numbered(n, "new"));
		const reset: AgentEvent = { ...event(4), body: { type: "session.reset" } };
		feed.reload(reset);
		feed.end();
		const delivered: AgentEvent[] = [];
		for await (const batch of feed) delivered.push(...batch);
		expect(delivered).toEqual([reset, ...history]);
	});

	it("stops reading back a history that another one has replaced", async () => {
		const numbered = (n: number, epoch: string): AgentEvent => ({ ...event(n), seq: n, epoch });
		let history = [1, 2].map((n) => numbered(n, "old"));
		async function* read(after: number) {
			for (const each of history.slice(after)) yield Array.from({ length: 256 }, () => each);
		}
		const source = { read, delivered: () => history.length, left: () => history.length };
		const feed = new EventFeed({ flow: "droppable", after: 0, source, wantsProgress: false });
		const reader = feed[Symbol.asyncIterator]();
		expect((await reader.next()).value?.[0]).toEqual(numbered(1, "old"));
		history = [numbered(1, "new")];
		const reset: AgentEvent = { ...event(4), body: { type: "session.reset" } };
		feed.reload(reset);
		expect((await reader.next()).value).toEqual([reset]);
		expect((await reader.next()).value?.[0]).toEqual(numbered(1, "new"));
	});

	const progress = (n: number): AgentEvent => ({
		...event(n),
		body: { type: "tool.progress", toolCallId: "c1", stream: "stdout", text: "x", offset: n },
	});

	it("delivers the progress of calls only to a client that wants it", async () => {
		async function* read() {}
		const source = { read, delivered: () => 0, left: () => 0 };
		const feed = new EventFeed({ flow: "blocking", after: 0, source, wantsProgress: false });
		feed.push(progress(1));
		feed.push(event(2));
		const batch = await feed[Symbol.asyncIterator]().next();
		expect(batch.value).toEqual([event(2)]);
	});

	it("drops the progress of calls while it is full", async () => {
		const feed = createLiveFeed();
		for (let n = 0; n < 1000; n += 1) feed.push(progress(n));
		feed.push(event(1000));
		const batch = await feed[Symbol.asyncIterator]().next();
		expect(batch.value).toHaveLength(257);
		feed.push(progress(1001));
		expect((await feed[Symbol.asyncIterator]().next()).value).toEqual([progress(1001)]);
	});

	it("is full at its limit until it is read, and never again once ended", async () => {
		const feed = createLiveFeed();
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

/** A journal whose events are delivered to the feeds over it, as the emitter does. */
function createJournal() {
	const events: AgentEvent[] = [];
	const feeds: EventFeed[] = [];
	let delivered = 0;
	let reads = 0;
	const commit = (body: EventBody): AgentEvent => {
		const seq = events.length + 1;
		const committed = { sessionId: "s", turnId: null, agentPath: [], at: seq, body, seq, epoch: "e" };
		events.push(committed);
		return committed;
	};
	const push = (pushed: AgentEvent) => {
		delivered = pushed.seq ?? delivered;
		for (const feed of feeds) feed.push(pushed);
	};
	const source = {
		async *read(after: number) {
			reads += 1;
			// What is committed by now, as a file has it.
			yield events.slice(after);
		},
		delivered: () => delivered,
		left: () => 0,
	};
	return {
		source,
		commit,
		push,
		step: (n = 0) => push(commit({ type: "step.started", n })),
		text: (text: string) => push(commit({ type: "content.completed", part: textPart(text) })),
		delta: (text: string) => push({ ...event(0), body: { type: "content.delta", part: textPart(text), offset: 0 } }),
		attach(flow: Flow, after = delivered) {
			const feed = new EventFeed({ wantsProgress: false, flow, after, source });
			feeds.push(feed);
			return feed;
		},
		reads: () => reads,
		head: () => events.length,
	};
}

const numbers = (batch: readonly AgentEvent[]) => batch.flatMap(({ seq }) => seq ?? []);
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

async function readNumbers(feed: EventFeed): Promise<number[]> {
	const seen: number[] = [];
	for await (const batch of feed) seen.push(...numbers(batch));
	return seen;
}

describe("a droppable feed", () => {
	it("never makes an emitter wait", async () => {
		const journal = createJournal();
		const feed = journal.attach("droppable");
		for (let n = 0; n < 2_000; n += 1) journal.step();
		expect(feed.isFull()).toBe(false);
		await feed.capacity();
	});

	it("loses volatile events first: the durable ones among them stay queued", async () => {
		const journal = createJournal();
		const feed = journal.attach("droppable");
		for (let n = 0; n < 100; n += 1) {
			journal.step();
			for (let m = 0; m < 10; m += 1) journal.delta("x");
		}
		feed.end();
		expect(await readNumbers(feed)).toEqual(upTo(100));
		expect(journal.reads()).toBe(0);
	});

	it("keeps volatile events as long as there is room", async () => {
		const journal = createJournal();
		const feed = journal.attach("droppable");
		for (let n = 0; n < 200; n += 1) journal.delta("x");
		feed.end();
		const batches: (readonly AgentEvent[])[] = [];
		for await (const batch of feed) batches.push(batch);
		expect(batches.flat()).toHaveLength(200);
	});

	it("reads the durable ones back when it lost them, in order, each once", async () => {
		const journal = createJournal();
		const feed = journal.attach("droppable");
		for (let n = 0; n < 5_000; n += 1) {
			journal.step();
			journal.delta("x");
		}
		feed.end();
		expect(await readNumbers(feed)).toEqual(upTo(5_000));
	});

	it("reads at the pace of its reader, also while new ones are committed, and then is live again", async () => {
		const journal = createJournal();
		const feed = journal.attach("droppable");
		for (let n = 0; n < 1_000; n += 1) journal.step();
		const seen: number[] = [];
		let longest = 0;
		const reader = feed[Symbol.asyncIterator]();
		while (seen.length < journal.head()) {
			const { value } = await reader.next();
			seen.push(...numbers(value));
			longest = Math.max(longest, value.length);
			for (let n = 0; n < 40 && journal.head() < 3_000; n += 1) journal.step();
		}
		expect(seen).toEqual(upTo(3_000));
		expect(longest).toBeLessThanOrEqual(256);
		const next = reader.next();
		journal.delta("live");
		expect((await next).value[0]?.body.type).toBe("content.delta");
	});

	it("may fall behind again and again", async () => {
		const journal = createJournal();
		const feed = journal.attach("droppable");
		const reader = feed[Symbol.asyncIterator]();
		const seen: number[] = [];
		for (let round = 0; round < 10; round += 1) {
			for (let n = 0; n < 300 + round; n += 1) journal.step();
			while (seen.length < journal.head()) seen.push(...numbers((await reader.next()).value));
		}
		expect(seen).toEqual(upTo(journal.head()));
	});

	it("delivers nothing before the emitter delivers it, although it is stored", async () => {
		const journal = createJournal();
		journal.step();
		const feed = journal.attach("droppable", 0);
		const stored = journal.commit({ type: "step.started", n: 2 });
		const reader = feed[Symbol.asyncIterator]();
		expect(numbers((await reader.next()).value)).toEqual([1]);
		const next = reader.next();
		journal.push(stored);
		expect(numbers((await next).value)).toEqual([2]);
	});

	it.each<[string, (text: string) => EventBody]>([
		["an answer", (text) => ({ type: "content.completed", part: textPart(text) })],
		["an image", (url) => ({ type: "content.completed", part: { type: "image_url", image_url: { url, id: null } } })],
		["an input", (text) => ({ type: "turn.started", input: [textPart(text)] })],
		[
			"a result",
			(text) => ({ type: "tool.result", toolCallId: "c", result: toolSuccess({ output: [textPart(text)] }) }),
		],
		["a plan", (content) => ({ type: "plan.displayed", content, file_path: "/p" })],
		["an added input", (input) => ({ type: "steer.consumed", input })],
		["a side question", (response) => ({ type: "side-question.ended", id: "q", response, error: null })],
	])("queues no more than a few megabytes of text: of %s", async (_, toBody) => {
		const journal = createJournal();
		const feed = journal.attach("droppable");
		const body = toBody("x".repeat(1_000_000));
		for (let n = 0; n < 20; n += 1) journal.push(journal.commit(body));
		feed.end();
		const sizes: number[] = [];
		const seen: number[] = [];
		for await (const batch of feed) {
			sizes.push(batch.length);
			seen.push(...numbers(batch));
		}
		expect(seen).toEqual(upTo(20));
		expect(Math.max(...sizes)).toBeLessThanOrEqual(5);
	});

	it("keeps what concerns this client alone", async () => {
		const journal = createJournal();
		const feed = journal.attach("droppable");
		feed.announce({ ...event(0), body: { type: "session.reset" } });
		for (let n = 0; n < 1_000; n += 1) journal.step();
		feed.end();
		const seen: AgentEvent[] = [];
		for await (const batch of feed) seen.push(...batch);
		expect(seen[0]?.body.type).toBe("session.reset");
		expect(numbers(seen)).toEqual(upTo(1_000));
	});
});

describe.each<Flow>(["blocking", "droppable"])("a %s feed with a cursor", (flow) => {
	it.each([0, 1, 300, 599])("continues behind number %i, and is live afterwards", async (after) => {
		const journal = createJournal();
		for (let n = 0; n < 600; n += 1) journal.step();
		const feed = journal.attach(flow, after);
		const reader = feed[Symbol.asyncIterator]();
		const seen: number[] = [];
		while (seen.at(-1) !== 600) seen.push(...numbers((await reader.next()).value));
		const next = reader.next();
		journal.step();
		seen.push(...numbers((await next).value));
		expect(seen).toEqual(upTo(601, after + 1));
	});

	it("reads nothing back when it has everything", async () => {
		const journal = createJournal();
		journal.step();
		const feed = journal.attach(flow);
		journal.step();
		feed.end();
		expect(await readNumbers(feed)).toEqual([2]);
		expect(journal.reads()).toBe(0);
	});

	it("is drained when the reader has read it all back and asks for more", async () => {
		const journal = createJournal();
		journal.step();
		const feed = journal.attach(flow, 0);
		let isDrained = false;
		const drained = feed.drained().then(() => {
			isDrained = true;
		});
		const reader = feed[Symbol.asyncIterator]();
		await reader.next();
		expect(isDrained).toBe(false);
		void reader.next();
		await drained;
	});

	it("delivers what was emitted before its end although it had to be read back, and nothing later", async () => {
		const journal = createJournal();
		for (let n = 0; n < 10; n += 1) journal.step();
		const feed = journal.attach(flow, 0);
		feed.end();
		for (let n = 0; n < 10; n += 1) journal.step();
		expect(await readNumbers(feed)).toEqual(upTo(10));
	});
});
