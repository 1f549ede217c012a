// A fixed-seed piece of the liveness campaign for Meerkat RPC, and its rules: they must notice what is told wrongly.
import { describe, expect, it } from "vitest";
import { runCampaign } from "../../scripts/campaign/meerkat/liveness.ts";
import type { DeliveredEvent } from "../../scripts/campaign/meerkat/liveness-client.ts";
import { findRunFaults, runsOf } from "../../scripts/campaign/meerkat/liveness-runs.ts";

describe("the liveness campaign of many sessions", () => {
	it("ends every request and every run, and lets no session wait for another", { timeout: 60_000 }, async () => {
		const { findings, figures } = await runCampaign({ rounds: 15, seed: 20, points: "all", log: () => {} });
		expect(findings).toEqual([]);
		expect(figures["run_started"]).toBeGreaterThan(30);
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
	return runsOf(delivered).flatMap((each) => findRunFaults(each, true));
}

describe("the rules of a run", () => {
	it("are content with a run in the documented order", () => {
		expect(faultsOf(run)).toEqual([]);
		expect(faultsOf([...run, ...run])).toEqual([]);
	});

	it.each([
		["an event is behind the end", [...run, { type: "text_delta", delta: "x" }], "text_delta behind its end"],
		["a run begins in a run", [...run.slice(0, 2), ...run], "it begins within another run"],
		["there is no end", run.slice(0, -1), "it has no end"],
		["there are two ends", [...run, { type: "run_failed" }], "run_failed behind its end"],
		["the whole text is another", run.with(4, { type: "text_complete", content: "one" }), "the whole text is not"],
		["a result is missing", run.toSpliced(7, 2), "a call has no result"],
		["a result is told alone", run.toSpliced(8, 1), "results are not told in pairs"],
		["model calls are not counted", run.with(10, { type: "turn_started", turn_number: 2 }), "has the number 2"],
		["a model call has no end", run.toSpliced(9, 1), "before the end of the one before"],
		["the last model call has no end", run.toSpliced(11, 1), "completed before its last model call"],
	])("notice when %s", (_, events, fault) => {
		expect(faultsOf(events).join("\n")).toContain(fault);
	});
});
