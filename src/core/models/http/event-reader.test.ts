import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../test/campaign/random.ts";
import { createEventReader, type ServerEvent } from "./event-reader.ts";

const event = (data: string, name: string | null = null, cut = false): ServerEvent => ({ event: name, data, cut });

function readAll(pieces: readonly string[]): ServerEvent[] {
	const reader = createEventReader(1000);
	return [...pieces.flatMap((piece) => reader.read(piece) ?? []), ...reader.end()];
}

describe("server-sent events", () => {
	it.each<[string, ServerEvent[]]>([
		["data: a\n\n", [event("a")]],
		["data:a\n\n", [event("a")]],
		["data:  a \n\n", [event(" a ")]],
		["data: a\ndata: b\n\n", [event("a\nb")]],
		["data\n\n", [event("")]],
		["event: x\ndata: a\n\ndata: b\n\n", [event("a", "x"), event("b")]],
		["event: x\nevent:\ndata: a\n\n", [event("a")]],
		["event: x\n\ndata: a\n\n", [event("a")]],
		["id: 1\nretry: 5\n: comment\nother: x\nalone\ndata: a\n\n", [event("a")]],
		["error: no\ndata: a\n\n", [event("no", "error"), event("a")]],
		["\n\n\n", []],
		["data: a\r\n\r\ndata: b\r\rdata: c\n\n", [event("a"), event("b"), event("c")]],
		["data: a", [event("a", null, true)]],
		["data: a\n", [event("a", null, true)]],
		["data: a\n\nevent: x", [event("a")]],
		["data: a:b: c\n\n", [event("a:b: c")]],
	])("of %j are the same however the text is split", (text, expected) => {
		expect(readAll([text])).toEqual(expected);
		expect(readAll([...text])).toEqual(expected);
		const random = createRandom(1);
		for (let round = 0; round < 50; round += 1) {
			const pieces: string[] = [];
			for (let start = 0; start < text.length; ) {
				const size = 1 + random.below(5);
				pieces.push(text.slice(start, start + size));
				start += size;
			}
			expect(readAll(pieces)).toEqual(expected);
		}
	});

	it.each([
		[
			"in one line",
			[
				"data: ",
				..."x"
					.repeat(20)
					.split("")
					.map(() => "x".repeat(100)),
			],
		],
		["in many lines", Array.from({ length: 400 }, () => "data: x\n")],
		["in a line without a field", ["x".repeat(2000)]],
	])("have a size limit: %s", (_name, pieces) => {
		const reader = createEventReader(1000);
		expect(pieces.map((piece) => reader.read(piece)).at(-1)).toBeNull();
		expect(reader.read("\n\n")).toBeNull();
	});

	it("may be many, and the limit applies to each", () => {
		const reader = createEventReader(1000);
		for (let count = 0; count < 1000; count += 1) {
			expect(reader.read(`: ${"x".repeat(900)}\nid: 1\ndata: ${"y".repeat(900)}\n\n`)).toHaveLength(1);
		}
	});

	it.each([
		["CR", "\r"],
		["LF, and a CR at the end", "\n"],
		["unknown fields", "a\n"],
		["empty data", "data\n"],
		["colons", ":\r\n"],
	])("of nothing but %s are read in linear time", (_name, line) => {
		const reader = createEventReader(64 * 1024 * 1024);
		const text = `${line.repeat(Math.floor((4 * 1024 * 1024) / line.length))}\r`;
		const began = performance.now();
		reader.read(text);
		reader.end();
		// It takes 0.1 s; what is not linear in the text takes minutes.
		expect(performance.now() - began).toBeLessThan(5000);
	});
});
