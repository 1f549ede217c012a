import { expect, it } from "vitest";
import { collectGarbage } from "../../../../test/support/host/garbage.ts";
import { createMemoryLog } from "../../../../test/support/store/store-directory.ts";
import { systemClock } from "../../../base/clock.ts";
import type { Database, Row } from "./database.ts";
import { createFencedWrites } from "./fenced-writes.ts";
import { ProcessLease } from "./process-lease.ts";
import { SessionHold } from "./sessions/session-hold.ts";

it("holds nothing of a write that is over, however long the session lives", async () => {
	const results: WeakRef<object>[] = [];
	const database: Database = {
		name: "a database",
		schema: "agentwire",
		async query(): Promise<readonly Row[]> {
			const rows = [{ heads: 1 }];
			results.push(new WeakRef(rows));
			return rows;
		},
		transaction: () => Promise.reject(new Error("not used")),
		listen() {},
		close: async () => {},
	};
	const clock = systemClock;
	const lease = new ProcessLease({ database, clock, log: createMemoryLog() });
	const hold = new SessionHold({ database, lease, sessionId: "s", epoch: "e", term: 1, holder: "h" });
	const writer = { begin: async () => {}, exists: true, version: 1 };
	const writes = createFencedWrites({ database, clock, hold, writer });
	for (const value of [1, 2, 3]) await writes.write("select $4", [value]);
	await new Promise(setImmediate);
	collectGarbage();
	expect(results.map((result) => result.deref())).toEqual([undefined, undefined, undefined]);
});
