// The commands of a session over doubles of its store, models and tools. Long because what is tested is how its parts work
// together: commands, approvals, tools of a client, a failing store, a stored session.
import { describe, expect, it, vi } from "vitest";
import {
	call,
	createModelGate,
	createScriptedModel,
	done,
	parts,
	say,
} from "../../../test/support/models/scripted-model.ts";
import { chosenModel, plainAttachment } from "../../../test/support/sessions/session-doubles.ts";
import { createSessionSubject } from "../../../test/support/sessions/session-subject.ts";
import { createToolDouble, editNeed } from "../../../test/support/sessions/turn-subject.ts";
import { createSessionDouble, storageFailure } from "../../../test/support/store/failing-session.ts";
import { createMemoryLog } from "../../../test/support/store/store-directory.ts";
import type { AttachOptions } from "../../api/session-options.ts";
import { textPart, toolError, toolSuccess } from "../../api/values/content.ts";
import { createDeferred } from "../../base/deferred.ts";
import { KernelError } from "../../base/errors.ts";
import type { Session } from "./session.ts";

const busy = new KernelError("busy", "An agent turn is already in progress");
const noTurn = new KernelError("no-turn", "No agent turn is in progress");
const start = (input = "hi") => ({ type: "turn.start", input }) as const;
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const approve = { kind: "approval", decision: "approve", feedback: "" } as const;
const edit = () => createToolDouble("E", { approval: editNeed, hasEffect: true });

async function toolsOf(session: Session, tools: AttachOptions["tools"]) {
	return (await session.attach({ ...plainAttachment, tools })).tools;
}

describe("commands", () => {
	it("are refused without a turn, except a turn and an answer to no interaction", async () => {
		const { session } = await createSessionSubject(createScriptedModel([]));
		await expect(session.send({ type: "turn.steer", input: "a" })).rejects.toEqual(noTurn);
		await expect(session.send({ type: "turn.cancel" })).rejects.toEqual(noTurn);
		expect(await session.send({ type: "interaction.respond", interactionId: "x", answer: approve })).toEqual({
			settled: false,
			by: null,
		});
		expect(await session.snapshot()).toMatchObject({ turnId: null, hasHistory: false });
	});

	it("steer and cancel a running turn, and refuse another one as busy", async () => {
		const gate = createModelGate();
		const { session, attach } = await createSessionSubject(createScriptedModel([[say("a"), gate, done()]]));
		const client = attach();
		const { turnId } = await session.send(start());
		expect(await session.snapshot()).toMatchObject({ turnId });
		await expect(session.send(start())).rejects.toEqual(busy);
		expect(await session.send({ type: "turn.steer", input: "early" })).toBeNull();
		await gate.reached;
		expect(await session.send({ type: "turn.cancel" })).toBeNull();
		expect(await session.send({ type: "turn.cancel" })).toBeNull();
		expect(await client.next("turn.ended")).toEqual({ type: "turn.ended", outcome: { status: "cancelled" } });
		expect(client.bodies.map(({ type }) => type)).toEqual([
			"turn.started",
			"steer.accepted",
			"step.started",
			"content.delta",
			"content.completed",
			"step.interrupted",
			"turn.ended",
		]);
	});

	it("limit the queued input of a running turn", async () => {
		const gate = createModelGate();
		const { session, attach } = await createSessionSubject(createScriptedModel([[say("a"), gate, done()]]));
		const client = attach();
		await session.send(start());
		const steer = (n: number) => session.send({ type: "turn.steer", input: `${n}` });
		for (let n = 0; n < 256; n += 1) expect(await steer(n)).toBeNull();
		await expect(steer(256)).rejects.toMatchObject({ code: "overloaded", data: { limit: 256 } });
		await gate.reached;
		await session.send({ type: "turn.cancel" });
		await client.next("turn.ended");
	});

	it("log why a turn failed, with the requested missing model", async () => {
		const log = createMemoryLog();
		const { session, attach } = await createSessionSubject(null, [], { chosen: chosenModel(null, "k3"), log });
		const client = attach();
		await session.send(start());
		await client.next("turn.ended");
		expect(log.lines).toEqual([
			{
				level: "warn",
				message: "A turn ended in an error.",
				fields: { session: session.id, code: "model-not-set", reason: "LLM is not set", data: { model: "k3" } },
			},
		]);
	});

	it("can start a turn as soon as the end of the last one was delivered", async () => {
		const { session, attach } = await createSessionSubject(
			createScriptedModel([
				[say("a"), done()],
				[say("b"), done()],
			]),
		);
		const client = attach();
		const second = createDeferred<unknown>();
		client.onEvent = ({ body }) => {
			if (body.type !== "turn.ended") return;
			client.onEvent = () => {};
			session.send(start("two")).then(second.resolve, second.resolve);
		};
		await session.send(start("one"));
		expect(await second.promise).toEqual({ turnId: expect.any(String) });
	});

	it("are refused once the session stops, which resolves interactions and ends the turn", async () => {
		const { session, attach } = await createSessionSubject(createScriptedModel([[call("c1", "E"), done()]]), [edit()]);
		const client = attach();
		await session.send(start());
		const { interaction } = await client.next("interaction.requested");
		await session.stop();
		await session.stop();
		await settled();
		expect(client.bodies.slice(-3)).toEqual([
			{
				type: "interaction.resolved",
				interactionId: interaction.id,
				answer: { ...approve, decision: "reject" },
				by: { kind: "shutdown" },
			},
			{ type: "step.interrupted", reason: "cancelled" },
			{ type: "turn.ended", outcome: { status: "cancelled" } },
		]);
		await expect(session.send(start())).rejects.toMatchObject({ code: "closed" });
	});
});

describe("approvals", () => {
	const twoEdits = () =>
		createScriptedModel([
			[call("c1", "E", '{"n":1}'), call("c2", "E", '{"n":2}'), done()],
			[say("ok"), done()],
		]);

	it("are journalled before they are delivered, and delivered before they take effect", async () => {
		const { session, attach, double } = await createSessionSubject(
			createScriptedModel([
				[call("c1", "E"), done()],
				[say("ok"), done()],
			]),
			[edit()],
		);
		const client = attach();
		await session.send(start());
		const { interaction } = await client.next("interaction.requested");
		expect(interaction).toEqual({
			kind: "approval",
			id: interaction.id,
			toolCallId: "c1",
			sender: "E",
			action: "edit file",
			description: "Edit it\nApproving it for the session covers `Write(/home/me/project/src/**)`.",
			summary: "Edit it",
			coverage: "Approving it for the session covers `Write(/home/me/project/src/**)`.",
			sourceKind: "foreground_turn",
			sourceId: session.turnId,
			agentId: null,
			subagentType: null,
			sourceDescription: null,
			display: [{ type: "brief", text: "Approving it for the session covers `Write(/home/me/project/src/**)`." }],
			subjects: [{ kind: "file", operation: "edit", path: "/home/me/project/src/a.ts" }],
			grants: ["Write(/home/me/project/src/**)"],
		});
		const by = { kind: "client", clientId: client.attachment.id, name: null };
		const respond = { type: "interaction.respond", interactionId: interaction.id, answer: approve } as const;
		expect(await session.send({ ...respond, clientId: client.attachment.id })).toEqual({ settled: true, by });
		expect(await session.send({ ...respond, clientId: "another" })).toEqual({ settled: false, by });
		await client.next("turn.ended");
		const from = double.writes.indexOf("interaction.requested");
		expect(double.writes.slice(from, from + 6)).toEqual([
			"interaction.requested",
			"interaction.resolved",
			"sync",
			"tool.started",
			"sync",
			"tool.result",
		]);
	});

	it("for the session resolve open ones that it covers, and later ones are not requested", async () => {
		const { session, attach, double } = await createSessionSubject(
			createScriptedModel([
				[call("c1", "E", '{"n":1}'), call("c2", "E", '{"n":2}'), done()],
				[call("c3", "E", '{"n":3}'), done()],
				[say("ok"), done()],
			]),
			[edit()],
		);
		const client = attach();
		await session.send(start());
		const first = (await client.next("interaction.requested")).interaction;
		const second = (await client.next("interaction.requested")).interaction;
		await session.send({
			type: "interaction.respond",
			interactionId: second.id,
			answer: { ...approve, decision: "approve_for_session" },
		});
		expect(await client.next("turn.ended")).toEqual({ type: "turn.ended", outcome: { status: "finished" } });
		expect(
			client.bodies.flatMap((body) =>
				body.type === "interaction.resolved" ? [[body.interactionId, body.answer]] : [],
			),
		).toEqual([
			[second.id, { ...approve, decision: "approve_for_session" }],
			[first.id, approve],
		]);
		expect(client.bodies.filter(({ type }) => type === "interaction.requested")).toHaveLength(2);
		expect(double.stored.state().approval.autoApproveActions).toEqual(["Write(/home/me/project/src/**)"]);
	});

	it("for the session leave others open, and later calls of them ask again", async () => {
		const other = createToolDouble("O", {
			approval: { ...editNeed, subjects: [{ kind: "task", operation: "stop", id: "x" }] },
			hasEffect: true,
		});
		const { session, attach, double } = await createSessionSubject(
			createScriptedModel([
				[call("c1", "E"), call("c2", "O"), done()],
				[call("c3", "O", '{"n":3}'), done()],
				[say("ok"), done()],
			]),
			[edit(), other],
		);
		const client = attach();
		await session.send(start());
		const requested = [
			(await client.next("interaction.requested")).interaction,
			(await client.next("interaction.requested")).interaction,
		];
		const idOf = (toolCallId: string) =>
			requested.find((each) => each.kind === "approval" && each.toolCallId === toolCallId)?.id ?? "";
		const answer = { ...approve, decision: "approve_for_session" } as const;
		await session.send({ type: "interaction.respond", interactionId: idOf("c1"), answer });
		expect((await client.next("tool.result")).toolCallId).toBe("c1");
		const resolved = () => client.bodies.flatMap((body) => (body.type === "interaction.resolved" ? [body] : []));
		expect(resolved().map(({ interactionId }) => interactionId)).toEqual([idOf("c1")]);
		await session.send({ type: "interaction.respond", interactionId: idOf("c2"), answer: approve });
		const third = (await client.next("interaction.requested")).interaction;
		expect(third).toMatchObject({ toolCallId: "c3", grants: ["TaskStop"] });
		await session.send({ type: "interaction.respond", interactionId: third.id, answer: approve });
		await client.next("turn.ended");
		expect(double.stored.state().approval.autoApproveActions).toEqual(["Write(/home/me/project/src/**)"]);
	});

	it("repeat the feedback of either answer", async () => {
		const { session, attach } = await createSessionSubject(twoEdits(), [edit()]);
		const client = attach();
		await session.send(start());
		const first = (await client.next("interaction.requested")).interaction;
		const second = (await client.next("interaction.requested")).interaction;
		await session.send({
			type: "interaction.respond",
			interactionId: first.id,
			answer: { ...approve, feedback: "go on" },
		});
		await session.send({
			type: "interaction.respond",
			interactionId: second.id,
			answer: { kind: "approval", decision: "reject", feedback: "F" },
		});
		await client.next("turn.ended");
		expect(client.bodies.flatMap((body) => (body.type === "interaction.resolved" ? [body.answer] : []))).toEqual([
			{ ...approve, feedback: "go on" },
			{ kind: "approval", decision: "reject", feedback: "F" },
		]);
	});

	it("are rejected when no client is attached, with the reason for the model", async () => {
		const model = createScriptedModel([
			[call("c1", "E"), done()],
			[say("ok"), done()],
		]);
		const { session } = await createSessionSubject(model, [edit()]);
		await session.send(start());
		while (session.turnId !== null) await settled();
		expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain("no client is connected");
	});

	it("are not requested under yolo, but journalled; two edits of one answer both take effect", async () => {
		const { session, attach, double } = await createSessionSubject(twoEdits(), [edit()], { yolo: true });
		const client = attach();
		await session.send(start());
		await client.next("turn.ended");
		expect(client.bodies.some(({ type }) => type.startsWith("interaction."))).toBe(false);
		expect(
			double.writes.filter((write) => /^(permission.decided|tool.started|tool.result)$/.test(write)).sort(),
		).toEqual([
			"permission.decided",
			"permission.decided",
			"tool.result",
			"tool.result",
			"tool.started",
			"tool.started",
		]);
		expect(double.stored.state().approval.yolo).toBe(false);
	});

	it.each([
		["yolo", { yolo: true }, "yolo"],
		["nobody at the keyboard", { afk: true }, "afk"],
	] as const)("journal who decided: %s", async (_name, flags, by) => {
		const persisted = await createSessionDouble();
		const { session, attach } = await createSessionSubject(twoEdits(), [edit()], flags, persisted);
		const client = attach();
		await session.send(start());
		await client.next("turn.ended");
		expect(client.bodies.some(({ type }) => type.startsWith("interaction."))).toBe(false);
		const decisions = client.bodies.flatMap((body) => (body.type === "permission.decided" ? [body] : []));
		expect(decisions).toMatchObject([
			{ toolCallId: "c1", decision: "approve", by: "mode", reason: expect.stringContaining(by) },
			{ toolCallId: "c2", decision: "approve", by: "mode", reason: expect.stringContaining(by) },
		]);
	});

	it("have a deadline", async () => {
		const { session, attach, clock } = await createSessionSubject(
			createScriptedModel([
				[call("c1", "E"), done()],
				[say("ok"), done()],
			]),
			[edit()],
			{ deadlines: { approval: 60, question: 0, "client-tool": 0 } },
		);
		const client = attach();
		await session.send(start());
		await client.next("interaction.requested");
		clock.advance(60_000);
		expect(await client.next("interaction.resolved")).toMatchObject({
			answer: { decision: "reject", feedback: expect.stringContaining("60 s") },
		});
		expect(await client.next("turn.ended")).toMatchObject({ outcome: { status: "finished" } });
	});

	it("stay open when the client detaches, and are sent again to the next", async () => {
		const { session, attach } = await createSessionSubject(
			createScriptedModel([
				[call("c1", "E"), done()],
				[say("ok"), done()],
			]),
			[edit()],
		);
		const first = attach();
		await session.send(start());
		const asked = await first.next("interaction.requested");
		first.attachment.close();
		const second = attach();
		expect(await second.next("interaction.requested")).toEqual(asked);
		await session.send({ type: "interaction.respond", interactionId: asked.interaction.id, answer: approve });
		expect(await second.next("turn.ended")).toMatchObject({ outcome: { status: "finished" } });
		expect(first.bodies.at(-1)).toEqual(asked);
	});
});

describe("tools of a client", () => {
	const model = () =>
		createScriptedModel([
			[call("c1", "ide", null), done()],
			[say("ok"), done()],
		]);
	const declaration = { name: "ide", description: "", parameters: { type: "object" } };
	const closed = toolError("Wire connection closed before tool result was received.", "Wire closed");

	it("are checked by name and schema", async () => {
		const { session } = await createSessionSubject(null, [edit()]);
		const { accepted, rejected } = await toolsOf(session, [
			declaration,
			{ ...declaration, description: "twice" },
			{ ...declaration, name: "E" },
			{ ...declaration, name: "" },
			{ ...declaration, name: "broken", parameters: { type: "nothing" } },
		]);
		expect(accepted).toEqual(["ide"]);
		expect(rejected).toEqual([
			{ name: "E", reason: "conflicts with builtin tool" },
			{ name: "", reason: "invalid schema" },
			{ name: "broken", reason: expect.stringMatching(/./) },
		]);
	});

	it("are limited to a thousand", async () => {
		const { session } = await createSessionSubject(null, []);
		const names = Array.from({ length: 1001 }, (_, index) => `t${index}`);
		const { accepted, rejected } = await toolsOf(
			session,
			[...names, "t0"].map((name) => ({ ...declaration, name, parameters: { type: "object" } })),
		);
		expect(accepted).toEqual(names.slice(0, 1000));
		expect(rejected).toEqual([{ name: "t1000", reason: "more than 1000 tools" }]);
	});

	it("are requested of it, and resolved when it detaches", async () => {
		const { session, attach, attachWithTools } = await createSessionSubject(model());
		const client = await attachWithTools([declaration]);
		const rest = attach();
		await session.send(start());
		const { interaction } = await client.next("interaction.requested");
		expect(interaction).toEqual({
			kind: "client-tool",
			id: interaction.id,
			toolCallId: "c1",
			name: "ide",
			arguments: null,
		});
		await session.send({
			type: "interaction.respond",
			interactionId: interaction.id,
			answer: { kind: "client-tool", result: toolSuccess({ output: "o" }) },
		});
		expect(await rest.next("tool.result")).toMatchObject({ result: toolSuccess({ output: "o" }) });
	});

	it("have an error as their result when the client detaches meanwhile", async () => {
		const scripted = model();
		const { session, attachWithTools } = await createSessionSubject(scripted);
		const client = await attachWithTools([declaration]);
		await session.send(start());
		await client.next("interaction.requested");
		client.attachment.close();
		while (session.turnId !== null) await settled();
		expect(JSON.stringify(scripted.requests[1]?.messages.at(-1))).toContain(closed.message);
	});

	it("have an error as their result when the client detached before the request", async () => {
		const scripted = model();
		const { session, attachWithTools, double } = await createSessionSubject(scripted);
		const client = await attachWithTools([declaration]);
		await session.send(start());
		while (!double.writes.includes("status.changed")) await settled();
		double.hold = createDeferred();
		while (!double.writes.includes("tool.started")) await settled();
		client.attachment.close();
		double.hold.resolve();
		for (let turn = 0; turn < 50 && session.turnId !== null; turn += 1) await settled();
		expect(session.turnId).toBeNull();
		expect(JSON.stringify(scripted.requests[1]?.messages.at(-1))).toContain(closed.message);
	});
});

describe("a storage error", () => {
	it("that another process has taken the session over ends the turn at once", async () => {
		const gate = createModelGate();
		const lost = createDeferred<KernelError>();
		const double = await createSessionDouble();
		const subject = await createSessionSubject(
			createScriptedModel([[say("a"), gate, done()]]),
			[],
			{},
			{
				...double,
				stored: { ...double.stored, lost: lost.promise },
			},
		);
		await subject.session.start();
		const client = subject.attach();
		await subject.session.send(start());
		await gate.reached;
		lost.resolve(new KernelError("storage-failed", "Cannot write /s: another process (7) has taken over the session."));
		expect(await client.next("turn.ended")).toMatchObject({
			outcome: { status: "failed", error: { code: "storage-failed", message: expect.stringContaining("(7)") } },
		});
	});

	it("ends the turn with path and cause, delivers nothing later of it, and leaves the session usable", async () => {
		const gate = createModelGate();
		const model = createScriptedModel([
			[call("c1", "T"), say("x"), gate, say("y"), done()],
			[say("ok"), done()],
		]);
		const { session, attach, double } = await createSessionSubject(model, [createToolDouble("T")]);
		const client = attach();
		client.onEvent = ({ body }) => {
			if (body.type === "tool.requested") double.failEvents = true;
		};
		await session.send(start());
		await gate.reached;
		await settled();
		double.failEvents = false;
		gate.open();
		expect(await client.next("turn.ended")).toEqual({
			type: "turn.ended",
			outcome: { status: "failed", error: { code: "storage-failed", message: storageFailure.message, data: null } },
		});
		const types = client.bodies.map(({ type }) => type);
		expect(types).not.toContain("tool.result");
		expect(types).not.toContain("status.changed");
		expect(client.bodies).not.toContainEqual({ type: "content.delta", part: { type: "text", text: "y" } });
		await settled();
		await session.send(start("again"));
		expect(await client.next("turn.ended")).toMatchObject({ outcome: { status: "finished" } });
	});
});

describe("a stored session", () => {
	it("persists the parts together that came together", async () => {
		const pieces = Array.from({ length: 60 }, (_, n) =>
			n % 2 === 0 ? ({ type: "think", think: "a", encrypted: null } as const) : textPart("b"),
		);
		const { session, attach, double } = await createSessionSubject(createScriptedModel([[parts(...pieces), done()]]));
		const commit = vi.spyOn(double.stored, "commit");
		const client = attach();
		await session.send(start());
		await client.next("turn.ended");
		const seen = client.bodies.filter(({ type }) => type === "content.delta");
		expect(seen).toHaveLength(60);
		expect(commit.mock.calls.length).toBeLessThan(20);
	});

	it("is titled once, and returns its stored events", async () => {
		const { session, attach, double } = await createSessionSubject(
			createScriptedModel([
				[say("a"), say("b"), done()],
				[say("c"), done()],
			]),
		);
		const client = attach();
		await session.send(start("First things first"));
		await client.next("turn.ended");
		expect(double.stored.state().customTitle).toBe("First things first");
		const types: string[] = [];
		for await (const batch of session.events()) types.push(...batch.map(({ body }) => body.type));
		expect(types).toEqual(["turn.started", "step.started", "content.completed", "status.changed", "turn.ended"]);
	});

	it("gets no title from a prompt of the program itself", async () => {
		const { session, attach, double } = await createSessionSubject(createScriptedModel([[say("a"), done()]]));
		const client = attach();
		await session.send({ type: "turn.start", input: "A task is over.", isOwn: true });
		await client.next("turn.ended");
		expect(double.stored.state().customTitle).toBeNull();
	});
});
