import { describe, expect, it } from "vitest";
import { call, createScriptedModel, done, say } from "../../../test/support/models/scripted-model.ts";
import { createSessionSubject } from "../../../test/support/sessions/session-subject.ts";
import { createToolDouble } from "../../../test/support/sessions/turn-subject.ts";
import { skillFlow } from "./flow-run.ts";

async function outcomeOf(model: ReturnType<typeof createScriptedModel>, turns: number) {
	const subject = await createSessionSubject(model, [createToolDouble("T")], { loopIterations: 1 });
	const client = subject.attach();
	await subject.session.send({ type: "turn.start", input: "Do it." });
	for (let n = 1; n < turns; n += 1) await client.next("turn.ended");
	return (await client.next("turn.ended")).outcome;
}

describe("a flow that reaches a limit reports which one", () => {
	it("the Ralph loop", async () => {
		const model = createScriptedModel([
			[say("Half."), done()],
			[say("<choice>CONTINUE</choice>"), done()],
		]);
		expect(await outcomeOf(model, 3)).toEqual({ status: "max-steps", limit: "loop", steps: 2 });
	});

	it("the Ralph loop, of a model that never says whether it is done", async () => {
		const model = createScriptedModel(["1", "2", "3", "4"].map((text) => [say(text), done()]));
		expect(await outcomeOf(model, 3)).toEqual({ status: "max-steps", limit: "loop", steps: 2 });
	});

	it("the steps of a turn within it", async () => {
		const model = createScriptedModel(["1", "2", "3", "4", "5"].map((id) => [call(id, "T", `{"n":${id}}`), done()]));
		expect(await outcomeOf(model, 2)).toEqual({ status: "max-steps", limit: "steps", steps: 5 });
	});

	it("the moves of a skill's flow", () => {
		expect(skillFlow({ begin: "begin", nodes: new Map() }, "")).toMatchObject({ limit: "flow", moveLimit: 1000 });
	});
});
