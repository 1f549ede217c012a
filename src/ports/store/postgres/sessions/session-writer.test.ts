// What a session that is open for long leaves in memory of what it has written.
import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { eventAt } from "../../../../../test/contracts/store-contract.ts";
import { createMemoryLog } from "../../../../../test/support/store/store-directory.ts";
import { systemClock } from "../../../../base/clock.ts";
import { initialState } from "../../disk/state-file.ts";
import { RunningSummary } from "../../journal-summary.ts";
import type { Database, Row } from "../database.ts";
import { createFencedWrites } from "../fenced-writes.ts";
import { ProcessLease } from "../process-lease.ts";
import { SessionHold } from "./session-hold.ts";
import { SessionWriter } from "./session-writer.ts";

/** Has every statement done. */
const database: Database = {
	name: "a database",
	schema: '"agentwire"',
	query: async (): Promise<readonly Row[]> => [{ id: "s", heads: 1 }],
	transaction: () => Promise.reject(new Error("not used")),
	listen() {},
	close: async () => {},
};

const [clock, log] = [systemClock, createMemoryLog()];
const session = { database, clock, log, sessionId: "s", holder: "p", term: 1, epoch: "e" };
const createHold = () => new SessionHold({ ...session, lease: new ProcessLease(session) });
const waitsForLoss = ({ over }: SessionHold) => getEventListeners(over, "abort").length;

describe("what is written of a session", () => {
	it("waits for the loss of the session no longer, however much it is", async () => {
		const hold = createHold();
		const writer = new SessionWriter({
			...session,
			workDir: "/work",
			owner: "",
			needs: [],
			isStaged: false,
			start: {
				isNew: true,
				version: 0,
				lastSeq: 0,
				generation: 0,
				nextRow: 1,
				hasPrompt: false,
				hasContext: false,
				hasMessage: false,
				isEstablished: false,
				firstTitle: null,
				state: initialState(),
				isStateStale: false,
				summary: new RunningSummary(),
				summarySeq: 0,
				answeredSeq: 0,
			},
			hold,
		});
		for (const n of [1, 2, 3]) await writer.commit({ events: [eventAt({ type: "step.started", n })] }, { sync: true });
		expect(writer.cursor().seq).toBe(3);
		expect(waitsForLoss(hold)).toBe(0);
	});

	it("waits for it no longer where it is no commit either", async () => {
		const hold = createHold();
		const writer = { begin: async () => {}, exists: true, version: 1 };
		const writes = createFencedWrites({ database, clock, hold, writer });
		for (const _ of [1, 2, 3]) await writes.write("select 1", []);
		expect(waitsForLoss(hold)).toBe(0);
	});
});
