// A fixed-seed piece of the gateway's campaigns, and their oracle: it must notice what a reader was sent wrongly.
import { describe, expect, it } from "vitest";
import { runFuzz } from "../../scripts/campaign/gateway/fuzz.ts";
import { runLiveness } from "../../scripts/campaign/gateway/liveness.ts";
import { Reader } from "../../scripts/campaign/gateway/readers.ts";

const options = { seed: 20, points: "all", log: () => {} } as const;

describe("the campaigns of the gateway", () => {
	it("find that whatever is sent is answered", { timeout: 60_000 }, async () => {
		const { findings, figures } = await runFuzz({ ...options, rounds: 100 });
		expect(findings).toEqual([]);
		expect(figures["calls answered 200"]).toBeGreaterThan(20);
		expect(figures["streams cut"]).toBeGreaterThan(5);
	});

	it("find that every reader has the history", { timeout: 60_000 }, async () => {
		const { findings, figures } = await runLiveness({ ...options, rounds: 15 });
		expect(findings).toEqual([]);
		expect(figures["events"]).toBeGreaterThan(100);
	});
});

describe("the oracle of readers", () => {
	const history = [1, 2, 3].map((seq) => ({ seq }));
	const differs = (events: readonly object[]) => {
		const reader = new Reader();
		reader.events.push(...events.map((event) => ({ ...event })));
		return reader.differs(history);
	};

	it.each<[string, readonly object[], string | null]>([
		["nothing", history, null],
		["a loss", [{ seq: 1 }, { seq: 3 }], "event 2"],
		["a loss at the end", [{ seq: 1 }, { seq: 2 }], "missing"],
		["a repetition", [{ seq: 1 }, { seq: 1 }, { seq: 2 }, { seq: 3 }], "event 2"],
		["another content", [{ seq: 1 }, { seq: 2, more: true }, { seq: 3 }], "event 2"],
		["an invention", [...history, { seq: 4 }], "1 events more"],
	])("sees %s", (_name, events, expected) => {
		if (expected === null) expect(differs(events)).toBeNull();
		else expect(differs(events)).toContain(expected);
	});
});
