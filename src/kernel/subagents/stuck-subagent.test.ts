// The turn of a subagent ends before the turn around it, although its work hangs in something that ignores the abort.
import { expect, it } from "vitest";
import { call, done, say } from "../../../test/support/models/scripted-model.ts";
import {
	agentCall,
	createCallingModel,
	createSubagentSubject,
} from "../../../test/support/sessions/subagent-subject.ts";
import { createToolDouble } from "../../../test/support/sessions/turn-subject.ts";
import { toolSuccess } from "../../api/values/content.ts";
import { createDeferred } from "../../base/deferred.ts";

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

it.each(["cancel", "fault"])("emits the end of its turn when its call hangs after a %s", async (how) => {
	const executing = createDeferred<void>();
	const late = createDeferred<void>();
	const tool = createToolDouble("E", {
		hasEffect: true,
		async execute() {
			executing.resolve();
			await late.promise;
			return toolSuccess({ output: "late" });
		},
	});
	const model = createCallingModel([agentCall("P")], [call("c1", "E"), done()], [say("never asked"), done()]);
	const { session, clock, events, start } = await createSubagentSubject(model, { tool });
	await start();
	await executing.promise;
	if (how === "cancel") await session.send({ type: "turn.cancel" });
	else session.fail(new Error("a bug"));
	const before = clock.now();
	while (session.turnId !== null) {
		clock.advance(10);
		await settled();
	}
	expect(clock.now() - before).toBeLessThan(1200);
	const ends = () =>
		events.flatMap(({ body, agentPath }) => (body.type === "turn.ended" ? [[agentPath.length, body.outcome]] : []));
	const outer = how === "cancel" ? { status: "cancelled" } : expect.objectContaining({ status: "failed" });
	expect(ends()).toEqual([
		[1, { status: "cancelled" }],
		[0, outer],
	]);
	// What hung comes back after both ends: nobody hears of it.
	const count = events.length;
	late.resolve();
	for (let turn = 0; turn < 20; turn += 1) await settled();
	expect(events.slice(count)).toEqual([]);
});
