import { expect, it } from "vitest";
import { collectGarbage } from "../../../../test/support/host/garbage.ts";
import { systemClock } from "../../../base/clock.ts";
import type { KernelError } from "../../../base/errors.ts";
import { createFencedWrites } from "./fenced-writes.ts";

it("holds nothing of a write that is over, however long the session lives", async () => {
	const results: WeakRef<object>[] = [];
	const lost = new Promise<KernelError>(() => {});
	const writes = createFencedWrites({
		database: {
			schema: "agentwire",
			async query() {
				const rows = [{ heads: 1 }];
				results.push(new WeakRef(rows));
				return rows;
			},
		},
		clock: systemClock,
		sessionId: "s",
		term: 1,
		holder: "h",
		lost,
		begin: async () => {},
		onRefused: async () => {},
	});
	for (const value of [1, 2, 3]) await writes.write("select $4", [value]);
	await new Promise(setImmediate);
	collectGarbage();
	expect(results.map((result) => result.deref())).toEqual([undefined, undefined, undefined]);
});
