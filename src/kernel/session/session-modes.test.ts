// The mode of a session: the command that sets it, and the report of its changes, whatever makes them.
import { describe, expect, it } from "vitest";
import { createToolPlace } from "../../../test/support/host/tool-environment.ts";
import { call, createModelGate, createScriptedModel, done, say } from "../../../test/support/models/scripted-model.ts";
import { createQuietParts } from "../../../test/support/sessions/session-doubles.ts";
import {
	type ClientDouble,
	createSessionSubject,
	type SessionSubject,
} from "../../../test/support/sessions/session-subject.ts";
import { createToolDouble, editNeed } from "../../../test/support/sessions/turn-subject.ts";
import { createSessionDouble, storageFailure } from "../../../test/support/store/failing-session.ts";
import type { EventBody } from "../../api/values/event.ts";
import { type SessionMode, sessionModes, toSessionMode } from "../../api/values/session-mode.ts";
import { createEnterPlanMode } from "../../core/tools/session/plan-mode.ts";

const set = ({ session }: SessionSubject, mode: SessionMode) => session.send({ type: "mode.set", mode });
const start = ({ session }: SessionSubject, input = "hi") => session.send({ type: "turn.start", input });
const modesIn = (bodies: readonly EventBody[]) =>
	bodies.flatMap((body) => (body.type === "mode.changed" ? [body.mode] : []));
const plansIn = (bodies: readonly EventBody[]) =>
	bodies.flatMap((body) => (body.type === "status.changed" ? [body.plan_mode] : []));
const modeOf = async ({ session }: SessionSubject) => toSessionMode(await session.snapshot());
const reported = async (client: ClientDouble) => {
	await client.attachment.drained();
	return modesIn(client.bodies);
};

describe("the mode of switches", () => {
	it.each([
		[[false, false, false], "default"],
		[[false, false, true], "auto"],
		[[false, true, true], "yolo"],
		[[true, true, true], "plan"],
		[[true, false, false], "plan"],
	] as const)("%j is %s", ([planMode, approvesEverything, isAway], mode) => {
		expect(toSessionMode({ planMode, approvesEverything, isAway })).toBe(mode);
	});
});

describe("mode.set", () => {
	const pairs = sessionModes.flatMap((from) => sessionModes.map((to) => [from, to] as const));

	it.each(pairs)("sets every switch, from %s to %s, and reports it once", async (from, to) => {
		const subject = await createSessionSubject(createScriptedModel([]));
		expect(await set(subject, from)).toEqual({ mode: from });
		const client = subject.attach();
		expect(await set(subject, to)).toEqual({ mode: to });
		expect(await subject.session.snapshot()).toMatchObject({
			planMode: to === "plan",
			approvesEverything: to === "yolo",
			isAway: to === "auto",
		});
		const { planMode, approval } = subject.double.stored.state();
		expect([planMode, approval.yolo, approval.afk]).toEqual([to === "plan", to === "yolo", to === "auto"]);
		expect(await reported(client)).toEqual(from === to ? [] : [to]);
		const changesPlan = (from === "plan") !== (to === "plan");
		expect(plansIn(client.bodies)).toEqual(changesPlan ? [to === "plan"] : []);
	});

	it("overrides what flags had switched on for this run", async () => {
		const subject = await createSessionSubject(createScriptedModel([]), [], { yolo: true, afk: true });
		expect(await modeOf(subject)).toBe("yolo");
		await set(subject, "default");
		expect(await modeOf(subject)).toBe("default");
	});

	it("refuses what settings forbid, naming the file, and plan mode without tools for it", async () => {
		const double = await createSessionDouble();
		const forbiddenModes = new Map([
			["yolo", "/etc/managed.toml"],
			["auto", "/etc/other.toml"],
		] as const);
		const planPlace = { ...createQuietParts(double.stored).planPlace, isSupported: false };
		const subject = await createSessionSubject(
			createScriptedModel([]),
			[],
			{ forbiddenModes, planPlace, afk: true },
			double,
		);
		const client = subject.attach();
		await expect(set(subject, "yolo")).rejects.toMatchObject({
			code: "invalid-input",
			message: 'The mode "yolo" is forbidden by /etc/managed.toml: choose another one.',
		});
		await expect(set(subject, "auto")).rejects.toMatchObject({
			code: "invalid-input",
			message: expect.stringContaining("/etc/other.toml"),
		});
		await expect(set(subject, "plan")).rejects.toMatchObject({ code: "unsupported" });
		const { modes, slashCommands } = await subject.session.send({ type: "session.describe" });
		expect(modes).toEqual(["default"]);
		expect(slashCommands.map(({ name }) => name)).not.toContain("yolo");
		expect(slashCommands.map(({ name }) => name)).toContain("afk");
		expect([await modeOf(subject), await reported(client)]).toEqual(["auto", []]);
		await set(subject, "default");
		expect(await modeOf(subject)).toBe("default");
	});

	it("ends with the last one of several at once, reporting each", async () => {
		const subject = await createSessionSubject(createScriptedModel([]));
		const client = subject.attach();
		await Promise.all([set(subject, "plan"), set(subject, "yolo"), set(subject, "auto"), set(subject, "default")]);
		expect(await reported(client)).toEqual(["plan", "yolo", "auto", "default"]);
	});

	it("reports what it came to when it could not be stored as a whole", async () => {
		const subject = await createSessionSubject(createScriptedModel([]));
		await set(subject, "yolo");
		const client = subject.attach();
		subject.double.failEvents = true;
		await expect(set(subject, "plan")).rejects.toThrow(storageFailure);
		expect([await modeOf(subject), await reported(client)]).toEqual(["plan", ["plan"]]);
	});

	it("leaves requests open that wait for an answer", async () => {
		const model = createScriptedModel([
			[call("c1", "E"), done()],
			[call("c2", "E"), done()],
			[say("ok"), done()],
		]);
		const subject = await createSessionSubject(model, [createToolDouble("E", { approval: editNeed, hasEffect: true })]);
		const client = subject.attach();
		await start(subject);
		const { interaction } = await client.next("interaction.requested");
		await set(subject, "yolo");
		expect((await subject.session.snapshot()).openInteractions).toHaveLength(1);
		const answer = { kind: "approval", decision: "approve", feedback: "" } as const;
		await subject.session.send({ type: "interaction.respond", interactionId: interaction.id, answer });
		await client.next("turn.ended");
		expect(client.bodies.filter(({ type }) => type === "interaction.requested")).toHaveLength(1);
		expect(client.bodies).toContainEqual(expect.objectContaining({ type: "permission.decided", toolCallId: "c2" }));
	});

	it.each(["between turns", "during a turn"])("tells the model that the person is back: %s", async (when) => {
		const gate = createModelGate();
		const model = createScriptedModel([
			[call("c1", "E"), gate, done()],
			[say("ok"), done()],
		]);
		const subject = await createSessionSubject(model, [createToolDouble("E")]);
		const client = subject.attach();
		await set(subject, "auto");
		if (when === "between turns") await set(subject, "default");
		await start(subject);
		await gate.reached;
		if (when === "during a turn") await set(subject, "default");
		gate.open();
		await client.next("turn.ended");
		const texts = JSON.stringify(model.requests.at(-1)?.messages);
		expect(texts.match(/back at the keyboard/g)).toHaveLength(1);
		expect(texts.includes("Nobody is at the keyboard")).toBe(when === "during a turn");
	});
});

describe("the report of another mode", () => {
	it("comes once for each slash command, plan-mode.set and tool that changes it", async () => {
		const place = await createToolPlace();
		const model = createScriptedModel([
			[call("c1", "EnterPlanMode"), done()],
			[say("ok"), done()],
		]);
		const subject = await createSessionSubject(model, [], {
			createTools: async (operations) => [createEnterPlanMode({ ...place.environment, ...operations })],
		});
		await place.remove();
		const client = subject.attach({ capabilities: ["questions", "plan-mode"] });
		for (const input of ["/yolo", "/plan on", "/plan on", "/plan off", "/afk", "/yolo", "enter plan mode", "/yolo"]) {
			await start(subject, input);
			await client.next("turn.ended");
		}
		await subject.session.send({ type: "plan-mode.set", enabled: false });
		await subject.session.send({ type: "plan-mode.set", enabled: false });
		// Below yolo and below plan mode, the other switches change no mode.
		expect(await reported(client)).toEqual(["yolo", "plan", "yolo", "auto", "plan", "yolo"]);
	});

	it("does not come for the mode in which the session begins", async () => {
		const double = await createSessionDouble();
		const planPlace = { ...createQuietParts(double.stored).planPlace, startsOn: true };
		const subject = await createSessionSubject(createScriptedModel([]), [], { planPlace }, double);
		const client = subject.attach();
		await double.stored.commit({ state: { approval: { ...double.stored.state().approval, yolo: true } } });
		await subject.session.start();
		await subject.session.send({ type: "plan-mode.set", enabled: false });
		expect((await reported(client)).at(-1)).toBe("yolo");
		expect(await modeOf(subject)).toBe("yolo");
	});
});
