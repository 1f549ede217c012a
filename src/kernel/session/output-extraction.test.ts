import { describe, expect, it } from "vitest";
import { createScriptedModel, done, type ModelScript, say } from "../../../test/support/models/scripted-model.ts";
import { createSessionSubject } from "../../../test/support/sessions/session-subject.ts";
import { modelFailure } from "../../models/model.ts";

const schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
const usage = { input_other: 3, output: 2, input_cache_read: 0, input_cache_creation: 0 };
const answer = (text: string): ModelScript => [say(text), done(usage)];

/** A session after a turn, whose model then gives these answers. */
async function createSubject(answers: readonly ModelScript[], retries = 1) {
	const model = createScriptedModel([[say("first"), done()], ...answers]);
	const subject = await createSessionSubject(model, [], { output: { schema, retries } });
	const client = subject.attach();
	await subject.session.send({ type: "turn.start", input: "go" });
	await client.next("turn.ended");
	const extract = (text: string) => subject.session.send({ type: "output.extract", text });
	return { ...subject, client, model, extract };
}

describe("output.extract", () => {
	it.each(['{"a":1}', ' {"a": 1}\n', '```json\n{"a": 1}\n```', '```\n{"a":1}\n```'])(
		"takes %j as it is",
		async (text) => {
			const { extract, model } = await createSubject([]);
			expect(await extract(text)).toEqual({
				status: "extracted",
				value: { a: 1 },
				isFinalReply: true,
				attempts: 0,
				calls: [],
			});
			expect(model.requests).toHaveLength(1);
		},
	);

	it("asks the model, with the conversation and the schema, and says what was wrong", async () => {
		const { extract, model, session, client } = await createSubject([answer('{"a":"x"}'), answer('{"a":2}')]);
		const before = (await session.conversation()).messages;
		expect(await extract("two")).toEqual({
			status: "extracted",
			value: { a: 2 },
			isFinalReply: false,
			attempts: 2,
			calls: [usage, usage],
		});
		const [, first, second] = model.requests;
		expect(first?.tools).toEqual([]);
		expect(first?.messages.slice(0, -1)).toEqual(before);
		expect(JSON.stringify(first?.messages.at(-1))).toContain('\\"required\\":[\\"a\\"]');
		expect(JSON.stringify(second?.messages.at(-1))).toContain("answer/a must be integer");
		// Nothing of it is part of the conversation, but what it consumed is counted.
		expect((await session.conversation()).messages).toEqual(before);
		const counted = client.bodies.filter((body) => body.type === "status.changed" && body.token_usage !== null);
		expect(counted).toHaveLength(2);
	});

	it("gives up after its retries, with the last answer", async () => {
		const { extract } = await createSubject([answer("none"), answer("[]")]);
		expect(await extract("two")).toMatchObject({
			status: "failed",
			lastOutput: "[]",
			attempts: 2,
			reason: expect.stringContaining("must be object"),
		});
	});

	it("fails when the model does", async () => {
		const { extract } = await createSubject([[modelFailure("status", "HTTP 500")]]);
		expect(await extract("two")).toMatchObject({
			status: "failed",
			lastOutput: "two",
			attempts: 1,
			reason: "HTTP 500",
		});
	});

	it("does not read what nests without end", async () => {
		const { extract } = await createSubject([answer("[".repeat(100_000)), answer("x")]);
		expect(await extract("[".repeat(100_000))).toMatchObject({ status: "failed", lastOutput: "x" });
	});

	it("is refused without a schema, and after the end", async () => {
		const { session } = await createSessionSubject(createScriptedModel([]), []);
		await expect(session.send({ type: "output.extract", text: "{}" })).rejects.toMatchObject({ code: "unsupported" });
		const ended = await createSubject([]);
		await ended.session.stop();
		await expect(ended.extract("{}")).rejects.toMatchObject({ code: "closed" });
	});
});
