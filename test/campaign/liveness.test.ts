// The rules of the liveness campaign: they must notice what is delivered wrongly. And a fixed-seed piece of it for each dialect.
import { describe, expect, it } from "vitest";
import { acpLiveness } from "./acp/liveness.ts";
import { runLiveness } from "./frame/liveness.ts";
import { findTurns, type PlacedFact, type TurnFact } from "./frame/turn-rules.ts";
import { meerkatLiveness } from "./meerkat/liveness.ts";
import type { DeliveredEvent } from "./meerkat/liveness-client.ts";
import { findRuns } from "./meerkat/liveness-runs.ts";
import { wireLiveness } from "./wire/liveness.ts";

describe("the liveness campaign", () => {
	it("ends every request and every turn, whatever client, model and time do", { timeout: 60_000 }, async () => {
		const options = { rounds: 75, seed: 20, points: "all", log: () => {} } as const;
		const { findings, figures } = await runLiveness(wireLiveness, "--kind liveness", options);
		expect(findings).toEqual([]);
		expect(figures["TurnBegin"]).toBeGreaterThan(75);
	});

	it("ends every request and every run of many sessions, and lets none wait for another", {
		timeout: 60_000,
	}, async () => {
		const options = { rounds: 15, seed: 20, points: "all", log: () => {} } as const;
		const { findings, figures } = await runLiveness(meerkatLiveness, "--dialect meerkat --kind liveness", options);
		expect(findings).toEqual([]);
		expect(figures["run_started"]).toBeGreaterThan(30);
	});

	it("answers every request of an editor, and every prompt with why it ended", { timeout: 60_000 }, async () => {
		const options = { rounds: 12, seed: 20, points: "all", log: () => {} } as const;
		const { findings, figures } = await runLiveness(acpLiveness, "--dialect acp --kind liveness", options);
		expect(findings).toEqual([]);
		expect(figures["session/prompt end_turn"]).toBeGreaterThan(20);
	});

	it("shows the smallest case in which a turn is not ended, and plays it again", { timeout: 60_000 }, async () => {
		const options = { rounds: 20, seed: 3, points: "all", log: () => {} } as const;
		// A server that loses the ends of turns on the way to whoever judges it.
		const faulty: typeof wireLiveness = {
			...wireLiveness,
			maxSteps: 3,
			async judge(running, finish) {
				const { transcript } = running.client;
				const left = transcript.filter(({ from, text }) => from !== "server" || !text.includes('"TurnEnd"'));
				transcript.splice(0, transcript.length, ...left);
				return await wireLiveness.judge(running, finish);
			},
		};
		const { findings } = await runLiveness(faulty, "--kind liveness", options);
		const [finding = ""] = findings;
		expect(finding).toContain("a turn has no end");
		const [, seed = "", path = ""] =
			/again: npm run campaign -- --kind liveness --seed (\S+) --path (\S+)$/.exec(finding) ?? [];
		const replayed = await runLiveness(faulty, "--kind liveness", { ...options, seed: Number(seed), path });
		expect(replayed.findings[0]).toContain("a turn has no end");
		expect(replayed.rounds).toBe(1);
	});
});

const begin: TurnFact = { kind: "begin", name: "" };
const inside: TurnFact = { kind: "inside", what: "a word" };
const end: TurnFact = { kind: "end", what: "an end" };
const answered: TurnFact = { kind: "answered", mayLackTurn: false };

describe("the rules of turns", () => {
	const faultsOf = (facts: readonly TurnFact[]) =>
		findTurns(
			facts.map((fact, at): PlacedFact<never> => ({ session: "", at, fact, content: null })),
			true,
		).faults;

	it("accept turns one after the other, and a turn within one that may contain it", () => {
		expect(faultsOf([begin, inside, end, answered, begin, end, answered])).toEqual([]);
		expect(faultsOf([{ ...begin, mayNest: true }, begin, inside, end, end, answered])).toEqual([]);
		expect(faultsOf([{ kind: "answered", mayLackTurn: true }])).toEqual([]);
	});

	it.each<[string, readonly TurnFact[], string]>([
		["a turn begins in a turn", [begin, begin, end, end, answered], "a turn begins within another at 1"],
		["something is outside a turn", [begin, end, answered, inside], "a word outside a turn at 3"],
		["a turn has two ends", [begin, end, end, answered], "an end outside a turn at 2"],
		["a turn has no end", [begin, inside], "a turn has no end"],
		["a request is answered in its turn", [begin, answered, end], "answered at 1 while its turn is open"],
		["a request is answered without a turn", [begin, end, answered, answered], "answered at 3 without a turn"],
		["a turn is not answered", [begin, end], "1 turns, but 0 requests for one answered"],
	])("notice when %s", (_, facts, fault) => {
		expect(faultsOf(facts).join("\n")).toContain(fault);
	});
});

const call = { id: "c1", name: "paint" };
const run: readonly Readonly<Record<string, unknown>>[] = [
	{ type: "run_started", prompt: "hi" },
	{ type: "turn_started", turn_number: 0 },
	{ type: "text_delta", delta: "one " },
	{ type: "text_delta", delta: "two" },
	{ type: "text_complete", content: "one two" },
	{ type: "tool_call_requested", ...call },
	{ type: "tool_execution_started", ...call },
	{ type: "tool_execution_completed", ...call },
	{ type: "tool_result_received", ...call },
	{ type: "turn_completed", stop_reason: "tool_use" },
	{ type: "turn_started", turn_number: 1 },
	{ type: "turn_completed", stop_reason: "end_turn" },
	{ type: "run_completed", result: "" },
];

function faultsOf(events: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
	const delivered = events.map(
		(event, at): DeliveredEvent => ({ at, sessionId: "S", type: String(event["type"]), event }),
	);
	const answers = delivered.flatMap(({ type, at, sessionId: session }): PlacedFact<DeliveredEvent>[] =>
		type === "run_completed" ? [{ session, at: at + 0.5, fact: answered, content: null }] : [],
	);
	return findRuns(delivered, answers, true).faults;
}

describe("the rules of a run", () => {
	it("accept a run in the documented order", () => {
		expect(faultsOf(run)).toEqual([]);
		expect(faultsOf([...run, ...run])).toEqual([]);
	});

	it.each([
		["an event is after the end", [...run, { type: "text_delta", delta: "x" }], "text_delta outside a turn"],
		["a run begins in a run", [...run.slice(0, 2), ...run], "a turn begins within another"],
		["there is no end", run.slice(0, -1), "a turn of S has no end"],
		["there are two ends", [...run, { type: "run_failed" }], "run_failed outside a turn"],
		["the whole text is another", run.with(4, { type: "text_complete", content: "one" }), "the whole text is not"],
		["a result is missing", run.toSpliced(7, 2), "a call has no result"],
		["a result is delivered alone", run.toSpliced(8, 1), "results are not delivered in pairs"],
		["model calls are not counted", run.with(10, { type: "turn_started", turn_number: 2 }), "has the number 2"],
		["a model call has no end", run.toSpliced(9, 1), "before the end of the one before"],
		["the last model call has no end", run.toSpliced(11, 1), "completed before its last model call"],
	])("notice when %s", (_, events, fault) => {
		expect(faultsOf(events).join("\n")).toContain(fault);
	});
});
