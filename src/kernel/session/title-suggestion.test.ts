import { describe, expect, it } from "vitest";
import {
	createModelGate,
	createScriptedModel,
	done,
	type ModelScript,
	say,
} from "../../../test/support/models/scripted-model.ts";
import { noLimits } from "../../../test/support/sessions/session-doubles.ts";
import { createSessionSubject } from "../../../test/support/sessions/session-subject.ts";
import { createMemoryLog } from "../../../test/support/store/store-directory.ts";
import { type Model, modelFailure } from "../../core/models/model.ts";
import type { SessionParts } from "./session-parts.ts";

const start = (input: string) => ({ type: "turn.start", input }) as const;
const prompt = "Please find out why the total of the basket is wrong, and fix it";
const beginning = "Please find out why the total of the basket is…";
const ten = { input_other: 4, output: 3, input_cache_read: 2, input_cache_creation: 1 };
const answer: ModelScript = [say("The loop began at 1."), done(ten)];

async function createSubject(model: Model, parts: Partial<SessionParts> = {}) {
	const log = createMemoryLog();
	const subject = await createSessionSubject(model, [], { titles: "model", log, ...parts });
	const client = subject.attach();
	const title = () => subject.double.stored.state().customTitle;
	const send = async (input: string) => {
		await subject.session.send(start(input));
		await client.next("turn.ended");
	};
	return { ...subject, client, title, send, log };
}

describe("a title by the model", () => {
	it("replaces the beginning of the prompt once the first turn was answered", async () => {
		const model = createScriptedModel([answer, [say('"Wrong basket total."\nI hope it helps.'), done()], answer]);
		const { client, title, send, double } = await createSubject(model);
		await send(prompt);
		expect(await client.next("title.changed")).toEqual({ type: "title.changed", title: "Wrong basket total" });
		expect(title()).toBe("Wrong basket total");
		expect(model.requests[1]?.tools).toEqual([]);
		const asked = JSON.stringify(model.requests[1]?.messages);
		expect(asked).toContain(prompt);
		expect(asked).toContain("The loop began at 1.");
		await send("and now?");
		expect(model.requests).toHaveLength(3);
		expect(JSON.stringify(double.stored.contextRows)).not.toContain("Wrong basket");
	});

	it("does not hold the turn up, and gives way to a title that somebody gave meanwhile", async () => {
		const gate = createModelGate();
		const model = createScriptedModel([answer, [gate, say("Too late"), done()]]);
		const { session, title, send } = await createSubject(model);
		await send(prompt);
		expect(title()).toBe(beginning);
		await session.send({ type: "title.set", title: "Mine" });
		gate.open();
		await session.stop();
		expect(title()).toBe("Mine");
	});

	it("is asked for once: a failure is logged, and the beginning of the prompt stays", async () => {
		const failing = createScriptedModel([answer, [modelFailure("status", "overloaded", 529)], answer]);
		const { session, client, title, send, log } = await createSubject(failing);
		await send(prompt);
		await send("and now?");
		await session.stop();
		expect(title()).toBe(beginning);
		expect(failing.requests).toHaveLength(3);
		expect(log.lines.map(({ message }) => message)).toContain("The model gave no title.");
		expect(client.bodies.filter(({ type }) => type === "notification.raised")).toEqual([]);
	});

	it("counts toward the budget of the session, and is not asked for once that is used up", async () => {
		const budgets = (tokens: number) => ({
			session: { ...noLimits, tokens },
			turn: noLimits,
			warningRatio: 1,
		});
		const model = createScriptedModel([answer, [say("Basket"), done(ten)]]);
		const rich = await createSubject(model, { budgets: budgets(1000) });
		await rich.send(prompt);
		expect(await rich.client.next("usage.counted")).toMatchObject({ tokens: 20 });
		expect(await rich.client.next("title.changed")).toMatchObject({ title: "Basket" });
		const spent = createScriptedModel([answer]);
		const poor = await createSubject(spent, { budgets: budgets(10) });
		await poor.send(prompt);
		await poor.session.stop();
		expect(poor.title()).toBe(beginning);
		expect(spent.requests).toHaveLength(1);
	});

	it("is not asked for unless the settings say so, nor after the session stops", async () => {
		const model = createScriptedModel([answer]);
		const plain = await createSubject(model, { titles: "prompt" });
		await plain.send(prompt);
		await plain.session.stop();
		expect(model.requests).toHaveLength(1);
		const gate = createModelGate();
		const held = await createSubject(createScriptedModel([answer, [gate, say("Basket"), done()]]));
		await held.send(prompt);
		await held.session.stop();
		expect(held.title()).toBe(beginning);
	});
});
