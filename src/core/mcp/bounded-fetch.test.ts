import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { boundFetch, type FetchBounds } from "./bounded-fetch.ts";

const size = 1024 * 1024;

/** What comes of an answer with these pieces; the type says whether it is a stream of events. */
async function read(contentType: string, pieces: readonly string[], bounds: Partial<FetchBounds> = {}) {
	const clock = createFakeClock();
	const body = new ReadableStream({
		start(controller) {
			for (const piece of pieces) controller.enqueue(Buffer.from(piece));
			controller.close();
		},
	});
	const fetch = boundFetch(
		async () => new Response(body, { status: 201, headers: { "content-type": contentType, "x-a": "b" } }),
		{ size, silence: null, ...bounds },
		clock,
	);
	const response = await fetch("http://h/");
	expect([response.status, response.headers.get("x-a")]).toEqual([201, "b"]);
	return { text: await response.text(), waiting: clock.waiting() };
}

const half = "x".repeat(size / 2);

describe("the limits of an answer", () => {
	it("pass an answer within them", async () => {
		expect((await read("application/json", [half, half])).text).toBe(half + half);
		const events = [`data:${half}\n\n`, half, "\r\n\r", `\n${half}\n`, "\n", half];
		expect((await read("text/event-stream", events)).text).toBe(events.join(""));
	});

	it.each([
		["application/json", [half, "\n", half]],
		["text/event-stream", ["a\n\n", half, half, "x"]],
		["text/event-stream", [`data:${half}\n`, `data:${half}\n`]],
	])("break off an answer that exceeds them: %s", async (contentType, pieces) => {
		await expect(read(contentType, pieces)).rejects.toThrow("The answer has more than 1 MiB.");
	});

	it("leave answers without a body alone", async () => {
		const empty = new Response(null, { status: 202 });
		expect(await boundFetch(async () => empty, { size, silence: 1 }, createFakeClock())("http://h/")).toBe(empty);
	});
});

describe("the silence of a stream of events", () => {
	function open(silence: number) {
		const clock = createFakeClock();
		let controller: ReadableStreamDefaultController | null = null;
		const body = new ReadableStream({
			start(made) {
				controller = made;
			},
		});
		const headers = { "content-type": "text/event-stream; charset=utf-8" };
		const fetch = boundFetch(async () => new Response(body, { headers }), { size, silence }, clock);
		return {
			clock,
			say: (text: string) => controller?.enqueue(Buffer.from(text)),
			end: () => controller?.close(),
			fail: () => controller?.error(new Error("reset")),
			reader: async () => (await fetch("http://h/")).body?.getReader(),
		};
	}

	it("ends it when it lasts too long", async () => {
		const { clock, say, reader } = open(30);
		const stream = await reader();
		say("a");
		expect(String((await stream?.read())?.value)).toBe("a");
		const next = stream?.read();
		clock.advance(29_999);
		say("b");
		expect((await next)?.done).toBe(false);
		const last = stream?.read();
		clock.advance(30_000);
		await expect(last).rejects.toThrow("Nothing came for 30 s.");
	});

	it("needs no timer once it has ended", async () => {
		const { clock, end, reader } = open(30);
		const stream = await reader();
		end();
		expect((await stream?.read())?.done).toBe(true);
		expect(clock.waiting()).toBe(0);
	});

	it("needs no timer once its reader wants no more, or its connection has broken off", async () => {
		const left = open(30);
		await (await left.reader())?.cancel();
		expect(left.clock.waiting()).toBe(0);
		const broken = open(30);
		const stream = await broken.reader();
		broken.fail();
		await expect(stream?.read()).rejects.toThrow("reset");
		expect(broken.clock.waiting()).toBe(0);
	});
});
