// What a history says of calls whose ids repeat, and of a step that a later run goes on with.
import { expect, it } from "vitest";
import { eventAt } from "../../../test/contracts/store-contract.ts";
import { RunningSummary } from "./journal-summary.ts";

it("takes the end of a call for that of the oldest open one of its id", () => {
	const summary = new RunningSummary();
	for (const text of ["first", "second"]) {
		const started = {
			type: "tool.started",
			toolCallId: "c1",
			name: "Shell",
			arguments: text,
			has_effect: true,
		} as const;
		summary.addEvent(eventAt(started));
	}
	summary.addEvent(eventAt({ type: "tool.ended", toolCallId: "c1" }));
	expect(summary.current.unfinishedCalls.map((call) => call.arguments)).toEqual(["second"]);
});

it("goes on within a step that an earlier run had begun", () => {
	const before = new RunningSummary();
	before.addEvent(eventAt({ type: "step.started", n: 1 }));
	const later = new RunningSummary(before.current);
	const said = eventAt({ type: "content.completed", part: { type: "text", text: "half" } });
	later.addEvent(said);
	expect(later.current.unretained).toEqual([said]);
});
