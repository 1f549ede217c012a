import { describe, expect, it } from "vitest";
import { call, createModelGate, createScriptedModel, done, say } from "../../../test/support/models/scripted-model.ts";
import { plainAttachment } from "../../../test/support/sessions/session-doubles.ts";
import { createSessionSubject } from "../../../test/support/sessions/session-subject.ts";
import { createToolDouble, editNeed } from "../../../test/support/sessions/turn-subject.ts";
import type { AgentEvent, EventBody } from "../../api/values/event.ts";
import { createDeferred } from "../../base/deferred.ts";
import { silentLog } from "../../base/log.ts";
import type { Model } from "../../core/models/model.ts";
import type { Peer } from "../../ports/rpc/connection.ts";
import type { RpcId, RpcReply } from "../../ports/rpc/envelope.ts";
import { project } from "../kimi/projection.ts";
import { noCompatibility } from "./dialect.ts";
import { EventPump } from "./event-pump.ts";

const today = { ...noCompatibility, declared: null };
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** `projecting` may fail before an event is projected. */
async function createSubject(model: Model, projecting: (event: AgentEvent) => void = () => {}) {
	const edit = createToolDouble("E", { approval: editNeed, hasEffect: true });
	const { session } = await createSessionSubject(model, [edit]);
	const sent: string[] = [];
	const waiting = new Map<RpcId, (reply: RpcReply) => void>();
	const room = { wait: Promise.resolve(), isFull: false };
	const peer: Peer = {
		notify: (_method, params) => void sent.push(JSON.stringify(params)),
		notifyLine: (line) => void sent.push(JSON.stringify(JSON.parse(line).params)),
		call(id, _method, params, onReply) {
			sent.push(JSON.stringify(params));
			waiting.set(id, onReply);
		},
		callUnanswered() {},
		isWaiting: (id) => waiting.has(id),
		withdraw: (id) => void waiting.delete(id),
		ready: () => room.wait,
		isFull: () => room.isFull,
	};
	const pump = new EventPump(
		session,
		peer,
		(event) => {
			projecting(event);
			return project(event, today);
		},
		silentLog,
	);
	const attach = () => {
		const attachment = session.attachPlain(plainAttachment);
		pump.carry(attachment);
		return attachment;
	};
	return { session, sent, waiting, room, pump, attach };
}

describe("EventPump", () => {
	it("resolves turnEnded once the end was sent, also for a later call", async () => {
		const { session, sent, pump, attach } = await createSubject(createScriptedModel([[say("a"), done()]]));
		attach();
		const { turnId } = await session.send({ type: "turn.start", input: "hi" });
		expect(await pump.turnEnded(turnId)).toEqual({ status: "finished" });
		expect(sent.at(-1)).toBe('{"type":"TurnEnd","payload":{}}');
		expect(await pump.turnEnded(turnId)).toEqual({ status: "finished" });
	});

	it("knows the end of a turn that was named after others had ended too", async () => {
		const turns = [1, 2].map(() => [say("a"), done()]);
		const { session, pump, attach } = await createSubject(createScriptedModel(turns));
		attach();
		const { ended, turnId } = await pump.follow(async () => {
			const first = await session.send({ type: "turn.start", input: "hi" });
			await pump.turnEnded(first.turnId);
			const second = await session.send({ type: "turn.start", input: "hi" });
			await pump.turnEnded(second.turnId);
			return first.turnId;
		});
		expect(turnId).not.toBeNull();
		expect(await ended).toEqual({ status: "finished" });
	});

	it("resolves the end of a turn for all who wait for it", async () => {
		const gate = createModelGate();
		const { session, pump, attach } = await createSubject(createScriptedModel([[gate, say("a"), done()]]));
		attach();
		const { turnId } = await session.send({ type: "turn.start", input: "hi" });
		const both = [pump.turnEnded(turnId), pump.turnEnded(turnId)];
		gate.open();
		expect(await Promise.all(both)).toEqual([{ status: "finished" }, { status: "finished" }]);
	});

	it("lets the end of a turn be answered before the events of the next one, however late both are sent", async () => {
		const model = createScriptedModel([
			[say("a"), done()],
			[say("b"), done()],
		]);
		const { session, sent, room, pump, attach } = await createSubject(model);
		const blocked = createDeferred<void>();
		room.wait = blocked.promise;
		attach();
		const { turnId: first } = await session.send({ type: "turn.start", input: "one" });
		const answered = pump.turnEnded(first).then(async () => {
			// As far as an answer is from the end of its turn.
			for (let step = 0; step < 20; step += 1) await null;
			sent.push("answered");
		});
		let second = "";
		for (let turn = 0; second === "" && turn < 200; turn += 1) {
			await settled();
			second = await session.send({ type: "turn.start", input: "two" }).then(
				({ turnId }) => turnId,
				() => "",
			);
		}
		const ended = pump.turnEnded(second);
		for (let turn = 0; turn < 20; turn += 1) await settled();
		room.wait = Promise.resolve();
		blocked.resolve();
		await Promise.all([answered, ended]);
		const order = sent.flatMap((line, index) =>
			/"TurnBegin"|answered/.test(line) ? [[index, line.slice(0, 20)]] : [],
		);
		expect(order.map(([, line]) => line)).toEqual([
			expect.stringContaining("TurnBegin"),
			"answered",
			expect.stringContaining("TurnBegin"),
		]);
	});

	it("sends nothing while the peer applies backpressure, and everything in order afterwards", async () => {
		const gate = createModelGate();
		const { session, sent, room, pump, attach } = await createSubject(
			createScriptedModel([[say("a"), gate, say("b"), done()]]),
		);
		attach();
		const { turnId } = await session.send({ type: "turn.start", input: "hi" });
		await gate.reached;
		const blocked = createDeferred<void>();
		room.wait = blocked.promise;
		gate.open();
		const ended = pump.turnEnded(turnId);
		for (let turn = 0; turn < 20; turn += 1) await settled();
		const before = sent.length;
		for (let turn = 0; turn < 20; turn += 1) await settled();
		expect(sent.length).toBe(before);
		expect(sent.at(-1)).not.toContain("TurnEnd");
		blocked.resolve();
		room.wait = Promise.resolve();
		await ended;
		expect(sent.at(-1)).toContain("TurnEnd");
	});

	it("sends one event of a batch after the other while each fills the peer's room", async () => {
		const { session, sent, room, pump } = await createSubject(createScriptedModel([[say("a"), done()]]));
		const open = createDeferred<void>();
		room.wait = open.promise;
		room.isFull = true;
		// Those emitted before anybody reads come as one batch.
		const attachment = session.attachPlain(plainAttachment);
		const { turnId } = await session.send({ type: "turn.start", input: "hi" });
		for (let turn = 0; turn < 20; turn += 1) await settled();
		pump.carry(attachment);
		for (let turn = 0; turn < 20; turn += 1) await settled();
		const taken = createDeferred<void>();
		room.wait = taken.promise;
		open.resolve();
		for (let turn = 0; turn < 20; turn += 1) await settled();
		expect(sent).toHaveLength(1);
		taken.resolve();
		await pump.turnEnded(turnId);
		expect(sent.at(-1)).toContain("TurnEnd");
	});

	it("replaces a request that is sent again, under the same id", async () => {
		const model = createScriptedModel([
			[call("c1", "E"), done()],
			[say("ok"), done()],
		]);
		const { session, sent, waiting, pump, attach } = await createSubject(model);
		const first = attach();
		const { turnId } = await session.send({ type: "turn.start", input: "hi" });
		while (waiting.size === 0) await settled();
		attach();
		first.close();
		while (sent.filter((params) => params.includes("ApprovalRequest")).length < 2) await settled();
		expect(waiting.size).toBe(1);
		const [[id, onReply] = ["", () => {}]] = [...waiting];
		onReply({ kind: "result", result: { request_id: id, response: "approve" } });
		expect(await pump.turnEnded(turnId)).toEqual({ status: "finished" });
		const requests = sent.filter((params) => params.includes("ApprovalRequest"));
		expect(requests[0]).toBe(requests[1]);
	});

	it("accepts an answer outside a reply only for an open interaction of its kind", async () => {
		const model = createScriptedModel([
			[call("c1", "E"), done()],
			[say("ok"), done()],
		]);
		const { session, sent, waiting, pump, attach } = await createSubject(model);
		attach();
		const { turnId } = await session.send({ type: "turn.start", input: "hi" });
		while (waiting.size === 0) await settled();
		const [[id] = [""]] = [...waiting];
		const interactionId = String(id);
		pump.answer("another", { request_id: interactionId, response: "approve" }, "approval");
		pump.answer(interactionId, { request_id: interactionId, response: "maybe" }, "approval");
		pump.answer(interactionId, { request_id: interactionId, response: "approve" }, "hook");
		expect([...waiting.keys()]).toEqual([id]);
		pump.answer(interactionId, { request_id: interactionId, response: "approve" }, "approval");
		expect(waiting.size).toBe(0);
		pump.answer(interactionId, { request_id: interactionId, response: "reject" }, "approval");
		expect(await pump.turnEnded(turnId)).toEqual({ status: "finished" });
		const answers = sent.filter((params) => params.includes("ApprovalResponse"));
		expect(answers.map((params) => JSON.parse(params).payload.response)).toEqual(["approve"]);
	});

	it("is drained once every attachment has ended", async () => {
		const { session, pump, attach } = await createSubject(createScriptedModel([]));
		attach();
		let isDrained = false;
		const drained = pump.drained().then(() => {
			isDrained = true;
		});
		await settled();
		expect(isDrained).toBe(false);
		await session.stop();
		await drained;
	});

	const failingOnce = (type: EventBody["type"]) => {
		let isDue = true;
		return ({ body }: AgentEvent) => {
			if (!isDue || body.type !== type) return;
			isDue = false;
			throw new Error("injected fault");
		};
	};

	it.each([
		["content.delta", "failed"],
		["interaction.requested", "failed"],
		["turn.ended", "finished"],
	] as const)("fails the turn, and goes on, when a %s cannot be sent", async (type, status) => {
		const model = createScriptedModel([
			[say("a"), ...(type === "interaction.requested" ? [call("c1", "E")] : []), done()],
			[say("b"), done()],
		]);
		const { session, sent, pump, attach } = await createSubject(model, failingOnce(type));
		attach();
		const first = await session.send({ type: "turn.start", input: "hi" });
		expect(await pump.turnEnded(first.turnId)).toMatchObject({ status });
		const second = await session.send({ type: "turn.start", input: "more" });
		expect(await pump.turnEnded(second.turnId)).toEqual({ status: "finished" });
		expect(sent.at(-1)).toBe('{"type":"TurnEnd","payload":{}}');
		await session.stop();
		await pump.drained();
	});

	it("resolves the end of a side question once it was sent, also for a later call", async () => {
		const { session, sent, pump, attach } = await createSubject(
			createScriptedModel([
				[say("a"), done()],
				[say("b"), done()],
			]),
		);
		attach();
		const first = await session.send({ type: "side-question.start", question: "one?" });
		await pump.sideQuestionEnded(first.id);
		expect(sent.at(-1)).toContain('"BtwEnd"');
		const second = await session.send({ type: "side-question.start", question: "two?" });
		while (!sent.at(-1)?.includes(second.id) || !sent.at(-1)?.includes("BtwEnd")) await settled();
		await pump.sideQuestionEnded(second.id);
	});
});
