import { describe, expect, it } from "vitest";
import { createSteppingClock } from "../../../test/support/host/stepping-clock.ts";
import { call, createScriptedModel, done, type ModelScript, say } from "../../../test/support/models/scripted-model.ts";
import { createToolDouble, createTurnSubject } from "../../../test/support/sessions/turn-subject.ts";
import { toolSuccess } from "../../api/values/content.ts";
import { modelFailure } from "../models/model.ts";

const same: ModelScript = [call("c", "Look", '{"a":1,"b":2}'), done()];
const other: ModelScript = [call("d", "Look", '{"a":2}'), done()];
const end: ModelScript = [say("done"), done()];
const limits = { maxSteps: 30, maxAttempts: 3 };

async function run(scripts: readonly ModelScript[], tool = createToolDouble("Look")) {
	const subject = createTurnSubject(createScriptedModel(scripts), [tool], { limits, clock: createSteppingClock(0) });
	const outcome = await subject.run();
	const outputs = subject.events.flatMap((event) => (event.type === "tool.result" ? [event.result.output] : []));
	return { ...subject, outcome, outputs };
}

const reminded = (outputs: readonly unknown[]) =>
	outputs.map((output) => JSON.stringify(output).includes("<system-reminder>"));

describe("an identical call repeated", () => {
	it("adds a reminder from the third call on, stronger from the fifth and the eighth", async () => {
		const { outputs, outcome } = await run([...Array.from({ length: 8 }, () => same), end]);
		expect(outcome).toEqual({ status: "finished" });
		expect(reminded(outputs)).toEqual([false, false, true, true, true, true, true, true]);
		expect(outputs[2]).toBe(outputs[3]);
		expect(String(outputs[2])).not.toContain('"a":1');
		expect(String(outputs[4])).toContain("5 times");
		expect(String(outputs[4])).toContain('{"a":1,"b":2}');
		expect(String(outputs[7])).toContain("Do not call a tool");
		expect(String(outputs[2]).startsWith("Look output")).toBe(true);
	});

	it("quotes only whole characters of long arguments", async () => {
		const long: ModelScript = [call("c", "Look", JSON.stringify({ a: `${"x".repeat(293)}😀 and more` })), done()];
		const { outputs } = await run([...Array.from({ length: 5 }, () => long), end]);
		expect(String(outputs[4])).toContain("x…");
		expect(String(outputs[4])).not.toMatch(/\p{Surrogate}/u);
	});

	it("ends the turn at the twelfth call, with its result in the context", async () => {
		const { outcome, outputs, rows } = await run(Array.from({ length: 20 }, () => same));
		expect(outcome).toEqual({ status: "finished", stoppedBy: "repetition" });
		expect(outputs).toHaveLength(12);
		expect(rows.at(-1)).toMatchObject({ type: "message", message: { role: "tool" } });
		expect(JSON.stringify(rows.at(-1))).toContain("12 times");
	});

	it("ignores the order of the arguments, and starts counting again after another call", async () => {
		const turned: ModelScript = [call("e", "Look", '{ "b": 2, "a": 1 }'), done()];
		expect(reminded((await run([same, turned, same, end])).outputs)).toEqual([false, false, true]);
		expect(reminded((await run([same, same, other, same, same, end])).outputs)).toEqual([
			false,
			false,
			false,
			false,
			false,
		]);
	});

	it("counts each duplicate in one answer, which is executed once", async () => {
		const twice: ModelScript = [call("c1", "Look"), call("c2", "Look"), done()];
		const once: ModelScript = [call("c", "Look"), done()];
		const thrice: ModelScript = [call("c1", "Look"), call("c2", "Look"), call("c3", "Look"), done()];
		const twiceThenOnce = await run([twice, once, end]);
		expect(reminded(twiceThenOnce.outputs)).toEqual([false, false, true]);
		expect(reminded((await run([once, twice, end])).outputs)).toEqual([false, false, true]);
		expect(reminded((await run([thrice, end])).outputs)).toEqual([false, false, true]);
		expect(reminded((await run([twice, twice, twice, end])).outputs)).toEqual([false, false, true, true, true, true]);
	});

	it("puts the reminder into the context with the result that it belongs to", async () => {
		const thrice: ModelScript = [call("c1", "Look"), call("c2", "Look"), call("c3", "Look"), done()];
		const { rows } = await run([thrice, end]);
		const results = rows.flatMap((row) => (row.type === "message" && row.message.role === "tool" ? [row.message] : []));
		expect(reminded(results)).toEqual([false, false, true]);
	});

	it("starts counting again after another call of the same answer", async () => {
		const mixed: ModelScript = [call("c1", "Look"), call("c2", "Look"), call("c3", "Look", '{"a":2}'), done()];
		const once: ModelScript = [call("c", "Look"), done()];
		expect(reminded((await run([mixed, once, once, end])).outputs)).toEqual([false, false, false, false, false]);
	});

	it("ends the turn after the answer that contains the twelfth call, however the calls are spread over answers", async () => {
		const many: ModelScript = [...Array.from({ length: 5 }, (_, index) => call(`c${index}`, "Look")), done()];
		const { outcome, outputs } = await run(Array.from({ length: 9 }, () => many));
		expect(outcome).toEqual({ status: "finished", stoppedBy: "repetition" });
		expect(outputs).toHaveLength(15);
	});

	it("does not count calls of an abandoned attempt", async () => {
		const broken: ModelScript = [call("c", "Look", '{"a":1,"b":2}'), say("x"), modelFailure("connection", "gone")];
		const { outputs } = await run([same, broken, same, end]);
		expect(reminded(outputs)).toEqual([false, false]);
	});

	it("adds the reminder after output parts too", async () => {
		const result = toolSuccess({ output: [{ type: "text", text: "seen" }] });
		const { outputs } = await run([same, same, same, end], createToolDouble("Look", { result }));
		expect(outputs[2]).toEqual([
			{ type: "text", text: "seen" },
			{ type: "text", text: expect.stringContaining("<system-reminder>") },
		]);
	});
});
