// A fixed-seed piece of the gateway's campaigns, and their oracle: it must notice what a reader was sent wrongly.
import { describe, expect, it } from "vitest";
import { withoutSync } from "../../src/ports/files/unsynced-files.ts";
import { playCrash } from "./frame/crash.ts";
import { gatewayCrash, judgeGateway, runGatewayCrash } from "./gateway/crash.ts";
import { runFuzz } from "./gateway/fuzz.ts";
import { runLiveness } from "./gateway/liveness.ts";
import { Reader } from "./gateway/readers.ts";

const options = { seed: 20, points: "all", log: () => {} } as const;

describe("the campaigns of the gateway", () => {
	it("find that whatever is sent is answered", { timeout: 60_000 }, async () => {
		const { findings, figures } = await runFuzz({ ...options, rounds: 100 });
		expect(findings).toEqual([]);
		expect(figures["calls answered 200"]).toBeGreaterThan(20);
		expect(figures["streams cut"]).toBeGreaterThan(3);
		expect(figures["pipelined requests answered"]).toBeGreaterThan(20);
		expect(figures["sockets given frames"]).toBeGreaterThan(10);
	});

	it("find that every reader has the history", { timeout: 60_000 }, async () => {
		const { findings, figures } = await runLiveness({ ...options, rounds: 15 });
		expect(findings).toEqual([]);
		expect(figures["events"]).toBeGreaterThan(100);
	});
});

describe("the crash campaign of the gateway", () => {
	it("finds nothing at a sample of its points", { timeout: 60_000 }, async () => {
		const { findings } = await runGatewayCrash({ ...options, rounds: 2, points: 8 });
		expect(findings).toEqual([]);
	});

	it("finds what is lost with files that sync nothing", { timeout: 60_000 }, async () => {
		const [scenario = []] = gatewayCrash.scenarios;
		const found: string[] = [];
		for (let effect = 30; effect <= 80 && found.length === 0; effect += 5) {
			const stops = [{ effect, when: "after", loss: "least" } as const];
			found.push(...(await playCrash(gatewayCrash, { scenario, stops }, withoutSync)).faults);
		}
		expect(found).not.toEqual([]);
	});
});

describe("the judge of the crash campaign", () => {
	const data = (seq: number, type = "turn.ended") => ({ sessionId: "s", epoch: "a", seq, type });
	const event = (seq: number, type?: string) => ({ event: "e", id: `s@a:${seq}`, data: data(seq, type) });
	const shows = (...seqs: readonly number[]) => ({
		sessionId: "s",
		history: { events: seqs.map((seq) => data(seq)) },
	});
	const reset = { event: "reset", id: null, data: { sessionId: "s" } };
	const judge = (lives: readonly (readonly object[])[], lostPower = false) =>
		judgeGateway(
			lives.map((messages, index) => ({
				delivered: messages.map((message) => JSON.stringify(message)),
				lostPower: lostPower && index === 0,
				completed: index > 0,
			})),
		);

	it("accepts a stream that goes on where it was, and one that begins anew after a power loss", () => {
		expect(
			judge([
				[event(1), event(2)],
				[event(3), shows(1, 2, 3)],
			]),
		).toEqual([]);
		expect(judge([[event(1)], [reset, event(1), event(2), shows(1, 2)]], true)).toEqual([]);
	});

	it.each<[string, readonly object[], string]>([
		["a loss", [event(4), shows(1, 2, 3, 4)], "event 4 comes where 3 was due"],
		["a repetition", [event(2), event(3), shows(1, 2, 3)], "event 2 comes where 3 was due"],
		["an end that is missing", [event(3), shows(1, 2, 3, 4)], "event 4 of 4 was not delivered"],
		["what is not stored", [event(3), shows(1, 2)], "1 events that were delivered are not stored"],
		["another content", [event(3, "step.started"), shows(1, 2, 3)], "event 3 was"],
		["a beginning without a reason", [reset, event(1), shows(1)], "life 2 begins anew"],
		["an id of another event", [{ ...event(3), id: "s@a:9" }, shows(1, 2, 3)], "has the id s@a:9"],
		["a history that is missing", [event(3)], "there is no history"],
		["a session that is gone", [{ event: "failed", id: null, data: { sessionId: "s" } }], "cannot be followed"],
	])("sees %s", (_name, messages, fault) => {
		expect(judge([[event(1), event(2)], messages]).join("; ")).toContain(fault);
	});

	it("sees that what was on stable storage is lost with the power", () => {
		const faults = judge(
			[
				[event(1), event(2)],
				[reset, event(1), shows(1)],
			],
			true,
		);
		expect(faults).toEqual(["event 2 was on stable storage, and is lost"]);
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
