// What a history says of calls whose ids repeat.
import { expect, it } from "vitest";
import { eventAt } from "../../test/contracts/store-contract.ts";
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
