import { describe, expect, it } from "vitest";
import type { Line } from "../../base/text/lines.ts";
import { createArrivals } from "./arrivals.ts";

const toLines = (...texts: readonly string[]): Line[] => texts.map((text) => ({ kind: "line", text }));

/** A pace that lets other work run before every second line. */
function createSubject() {
	const happened: string[] = [];
	let count = 0;
	const arrivals = createArrivals(
		{
			rest() {
				count += 1;
				return count % 3 === 0 ? Promise.resolve().then(() => void happened.push("other work")) : undefined;
			},
			run: async (work) => work(),
		},
		{
			onLine: (line) => void happened.push(line.kind === "line" ? line.text : line.kind),
			onIdle: () => void happened.push("idle"),
			onEnd: () => void happened.push("end"),
		},
	);
	const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
	return { arrivals, happened, settled };
}

describe("createArrivals", () => {
	it("hands lines on at once while they take little time", () => {
		const { arrivals, happened } = createSubject();
		arrivals.add(toLines("a", "b"));
		expect(happened).toEqual(["a", "b"]);
		expect(arrivals.isWaiting()).toBe(false);
		arrivals.end();
		arrivals.end();
		expect(happened).toEqual(["a", "b", "end"]);
	});

	it("lets other work run between lines of one arrival, in their order, and ends after the last", async () => {
		const { arrivals, happened, settled } = createSubject();
		arrivals.add(toLines("a", "b", "c", "d"));
		expect(happened).toEqual(["a", "b"]);
		expect(arrivals.isWaiting()).toBe(true);
		arrivals.add(toLines("e"));
		arrivals.end();
		await settled();
		expect(happened).toEqual(["a", "b", "other work", "c", "d", "other work", "e", "idle", "end"]);
		expect(arrivals.isWaiting()).toBe(false);
	});

	it("drops what waits", async () => {
		const { arrivals, happened, settled } = createSubject();
		arrivals.add(toLines("a", "b", "c"));
		arrivals.drop();
		arrivals.end();
		await settled();
		expect(happened).toEqual(["a", "b", "other work", "idle", "end"]);
	});
});
