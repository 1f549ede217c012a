// What a session that is open for long leaves in memory of what it has written.
import { describe, expect, it, vi } from "vitest";
import { eventAt } from "../../../../../test/contracts/store-contract.ts";
import { createMemoryLog } from "../../../../../test/support/store/store-directory.ts";
import { systemClock } from "../../../../base/clock.ts";
import type { KernelError } from "../../../../base/errors.ts";
import { initialState } from "../../disk/state-file.ts";
import { RunningSummary } from "../../journal-summary.ts";
import type { Database, Row } from "../database.ts";
import { createFencedWrites } from "../fenced-writes.ts";
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

/** With the number of those who have waited for it. */
function createLoss() {
	const lost = new Promise<KernelError>(() => {});
	return { lost, waits: vi.spyOn(lost, "then") };
}

const shared = {
	database,
	clock: systemClock,
	sessionId: "s",
	holder: "p",
	term: 1,
	onRefused: async () => {},
};

describe("what is written of a session", () => {
	it("waits for the loss of the session once, however much it is", async () => {
		const { lost, waits } = createLoss();
		const writer = new SessionWriter({
			...shared,
			log: createMemoryLog(),
			workDir: "/work",
			epoch: "e",
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
				firstTitle: null,
				state: initialState(),
				isStateStale: false,
				summary: new RunningSummary(),
				summarySeq: 0,
				answeredSeq: 0,
			},
			lost,
		});
		for (const n of [1, 2, 3]) await writer.commit({ events: [eventAt({ type: "step.started", n })] }, { sync: true });
		expect(writer.cursor().seq).toBe(3);
		expect(waits).toHaveBeenCalledTimes(1);
	});

	it("waits for it once as well where it is no commit", async () => {
		const { lost, waits } = createLoss();
		const writes = createFencedWrites({ ...shared, lost, begin: async () => {} });
		for (const _ of [1, 2, 3]) await writes.write("select 1", []);
		expect(waits).toHaveBeenCalledTimes(1);
	});
});
