// The judge of the campaign of many machines: it must notice what was lost, repeated or invented. The campaign itself needs processes.
import { describe, expect, it } from "vitest";
import type { AgentEvent, EventBody } from "../../src/api/values/event.ts";
import { toPublicEvent } from "../../src/frontends/shared/public-event.ts";
import { differs, judgeEffects, judgeTurns } from "./cluster/judge.ts";
import { makePlan, toPrompt } from "./cluster/plan.ts";
import { Tally } from "./frame/campaign.ts";
import { createRandom } from "./random.ts";

const id = "session-1";
const plan = makePlan(createRandom(1), "s1t1");
const call = "s1t1-0-0-1";
const bodies: readonly EventBody[] = [
	{ type: "turn.started", input: toPrompt(plan), key: "key-1" },
	{ type: "tool.started", toolCallId: call, name: "Shell", arguments: "{}", has_effect: true },
	{
		type: "tool.result",
		toolCallId: call,
		result: { is_error: false, output: "", message: "", display: [], extras: null },
	},
	{ type: "turn.ended", outcome: { status: "finished" } },
];
const journal = bodies.map(
	(body, index): AgentEvent => ({ sessionId: id, turnId: "t", agentPath: [], at: 1, seq: index + 1, epoch: "e", body }),
);
const without = (type: EventBody["type"]) => journal.filter(({ body }) => body.type !== type);
const twice = (type: EventBody["type"]) =>
	journal.flatMap((event) => (event.body.type === type ? [event, event] : event));
const delivered = (events: readonly AgentEvent[]) => events.map((event) => ({ ...toPublicEvent(event) }));

describe("the judge of many machines", () => {
	const turns = (events: readonly AgentEvent[], turnId = "t") => {
		const findings: string[] = [];
		judgeTurns({ findings }, { id, accepted: [{ plan, turnId }] }, events);
		return findings;
	};
	it.each([
		["a journal that is right", journal, "t", 0],
		["an accepted turn that is not there", journal, "other", 1],
		["a beginning that is lost", without("turn.started"), "t", 2],
		["an end that is lost", without("turn.ended"), "t", 1],
		["two ends", twice("turn.ended"), "t", 1],
		["the same turn begun twice", twice("turn.started"), "t", 2],
	])("sees of the turns: %s", (_, events, turnId, count) => {
		expect(turns(events, turnId)).toHaveLength(count);
	});

	const effects = (events: readonly AgentEvent[], times: number) => {
		const findings: string[] = [];
		judgeEffects({ findings }, { id }, events, new Map([[call, times]]), new Set(), new Tally());
		return findings;
	};
	it.each([
		["one of a call that succeeded", journal, 1, 0],
		["none of a call that succeeded", journal, 0, 1],
		["two of a call that succeeded", journal, 2, 1],
		["none of a call of unknown outcome", without("tool.result"), 0, 0],
		["a call that was started twice", twice("tool.started"), 1, 1],
	])("sees of the effects: %s", (_, events, times, count) => {
		expect(effects(events, times)).toHaveLength(count);
	});

	it.each([
		["nothing", delivered(journal), null],
		["a loss", delivered(without("tool.started")), /^event 2 is/],
		["a loss at the end", delivered(without("turn.ended")), /event 4 of 4 is missing/],
		["a repetition", delivered(twice("turn.started")), /^event 2 is/],
		["an invention", [...delivered(journal), { seq: 5 }], /1 events more/],
	])("sees of what a client has: %s", (_, events, expected) => {
		const difference = differs(events, journal);
		if (expected === null) expect(difference).toBeNull();
		else expect(difference).toMatch(expected);
	});
});
