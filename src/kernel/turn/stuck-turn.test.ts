// A turn ends although its work hangs in something that ignores the abort, and the next turn begins.
import { describe, expect, it } from "vitest";
import { call, createScriptedModel, done, say } from "../../../test/support/models/scripted-model.ts";
import { createSessionSubject, type SessionSubject } from "../../../test/support/sessions/session-subject.ts";
import { createToolDouble } from "../../../test/support/sessions/turn-subject.ts";
import { toolSuccess } from "../../api/values/content.ts";
import { createDeferred } from "../../base/deferred.ts";

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const never = new Promise<never>(() => {});

/** Advances the clock until the turn has ended, and returns the milliseconds that took. */
async function timeToEnd({ session, clock }: SessionSubject): Promise<number> {
	const before = clock.now();
	while (session.turnId !== null) {
		clock.advance(10);
		await settled();
	}
	return clock.now() - before;
}

const twoTurns = () =>
	createScriptedModel([
		[call("c1", "Stuck"), done()],
		[say("ok"), done()],
	]);

async function startTurn(subject: SessionSubject) {
	const client = subject.attach();
	await subject.session.send({ type: "turn.start", input: "hi" });
	return client;
}

async function expectNextTurnWorks({ session }: SessionSubject, client: ReturnType<SessionSubject["attach"]>) {
	await session.send({ type: "turn.start", input: "more" });
	expect((await client.next("turn.ended")).outcome).toEqual({ status: "finished" });
}

describe("a cancelled turn", () => {
	it("does not wait for a call whose preparation hangs", async () => {
		const opened = createDeferred<void>();
		const tool = createToolDouble("Stuck", {
			open() {
				opened.resolve();
				return never;
			},
		});
		const subject = await createSessionSubject(twoTurns(), [tool]);
		const client = await startTurn(subject);
		await opened.promise;
		await subject.session.send({ type: "turn.cancel" });
		expect((await client.next("turn.ended")).outcome).toEqual({ status: "cancelled" });
		await expectNextTurnWorks(subject, client);
	});

	it("gives a running call time to end its effects, and then continues without it", async () => {
		const executing = createDeferred<void>();
		const late = createDeferred<void>();
		const tool = createToolDouble("Stuck", {
			hasEffect: true,
			async execute() {
				executing.resolve();
				await late.promise;
				return toolSuccess({ output: "late" });
			},
		});
		const subject = await createSessionSubject(twoTurns(), [tool]);
		const client = await startTurn(subject);
		await executing.promise;
		await subject.session.send({ type: "turn.cancel" });
		await settled();
		expect(await timeToEnd(subject)).toBe(1200);
		expect((await client.next("turn.ended")).outcome).toEqual({ status: "cancelled" });
		await expectNextTurnWorks(subject, client);
		// Without the record of its end its outcome is reported as unknown when the session is opened again.
		expect(subject.double.writes).toContain("tool.started");
		expect(subject.double.writes).not.toContain("tool.ended");
		late.resolve();
		await settled();
		expect(subject.double.writes).toContain("tool.ended");
		expect(client.bodies.filter(({ type }) => type === "tool.result")).toEqual([]);
	});

	it("does not wait for work before its first step", async () => {
		const asked = createDeferred<void>();
		let isFirst = true;
		const systemPrompt = () => {
			if (!isFirst) return Promise.resolve("Be brief.");
			isFirst = false;
			asked.resolve();
			return never;
		};
		const subject = await createSessionSubject(createScriptedModel([[say("ok"), done()]]), [], { systemPrompt });
		const client = await startTurn(subject);
		await asked.promise;
		await subject.session.send({ type: "turn.cancel" });
		await settled();
		expect(await timeToEnd(subject)).toBe(1400);
		expect((await client.next("turn.ended")).outcome).toEqual({ status: "cancelled" });
	});

	it("is stopped with its session", async () => {
		const tool = createToolDouble("Stuck", { execute: () => never });
		const subject = await createSessionSubject(twoTurns(), [tool]);
		const client = await startTurn(subject);
		await client.next("tool-call.started");
		const stopped = subject.session.stop();
		await settled();
		await timeToEnd(subject);
		await stopped;
		expect((await client.next("turn.ended")).outcome).toEqual({ status: "cancelled" });
	});
});

describe("a session with an uncaught error in its work", () => {
	it("ends its turn as failed, without the error text, and continues", async () => {
		const tool = createToolDouble("Stuck", { execute: () => never });
		const subject = await createSessionSubject(twoTurns(), [tool]);
		const client = await startTurn(subject);
		await client.next("tool-call.started");
		subject.session.fail(new Error("secret of the house"));
		await settled();
		await timeToEnd(subject);
		const error = { code: "internal", message: "Internal error; the log has the details.", data: null };
		expect((await client.next("turn.ended")).outcome).toEqual({ status: "failed", error });
		await expectNextTurnWorks(subject, client);
		// Between turns there is nothing to end.
		subject.session.fail(new Error("late"));
		expect(subject.session.turnId).toBeNull();
	});
});
