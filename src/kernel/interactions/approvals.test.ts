// Decisions over tool calls: who decides, and that the decision is in the journal before the effect.
import { describe, expect, it } from "vitest";
import { call, createScriptedModel, done, say } from "../../../test/support/models/scripted-model.ts";
import { createSessionSubject } from "../../../test/support/sessions/session-subject.ts";
import { createToolDouble } from "../../../test/support/sessions/turn-subject.ts";
import { createSessionDouble } from "../../../test/support/store/failing-session.ts";
import type { EventType } from "../../api/values/event.ts";
import type { Subject } from "../../api/values/subject.ts";
import type { Policy, Verdict } from "../../core/permissions/policy.ts";
import type { StoredSession } from "../../ports/store/session-store.ts";
import type { SessionParts } from "../session/session-parts.ts";

const subjects: readonly Subject[] = [{ kind: "command", text: "make", cwd: "/home/me/project" }];
const approval = { byDefault: "ask" as const, action: "run command", subjects, description: "Run it", display: [] };

const rule = (decision: Verdict["decision"]): Policy => ({
	name: "test",
	decide: async ({ action }) =>
		action === "run command" ? { decision, reason: `The test says ${decision}.`, by: "rule" } : null,
});

interface Run {
	readonly flags?: Partial<Pick<SessionParts, "yolo" | "afk" | "policies" | "whenUnattended">>;
	readonly grants?: readonly string[];
	readonly isAttended?: boolean;
	readonly answer?: "approve" | "approve_for_session" | "reject";
}

/** One turn with one call; returns the journal, and the journal as it was when the call took effect. */
async function run({ flags = {}, grants = [], isAttended = true, answer = "approve" }: Run) {
	const double = await createSessionDouble();
	const { stored } = double;
	const mode = { ...stored.state().approval, autoApproveActions: [...grants] };
	await stored.commit({
		context: { kind: "append", rows: [{ type: "system-prompt", content: "Be brief." }] },
		state: { approval: mode },
	});
	const atEffect: EventType[] = [];
	const model = createScriptedModel([
		[call("c1", "T"), done()],
		[say("ok"), done()],
	]);
	const tool = createToolDouble("T", {
		approval,
		hasEffect: true,
		async execute() {
			atEffect.push(...(await journal(stored)).map(({ type }) => type));
			return { is_error: false, output: "made", message: "", display: [], extras: null };
		},
	});
	const { session, attach } = await createSessionSubject(model, [tool], flags, double);
	const client = attach({ approves: isAttended });
	client.onEvent = ({ body }) => {
		if (body.type !== "interaction.requested") return;
		const given = { kind: "approval", decision: answer, feedback: "" } as const;
		void session.send({ type: "interaction.respond", interactionId: body.interaction.id, answer: given });
	};
	await session.send({ type: "turn.start", input: "hi" });
	await client.next("turn.ended");
	return { events: await journal(stored), atEffect, state: stored.state() };
}

async function journal(stored: StoredSession) {
	const bodies = [];
	for await (const batch of stored.events()) bodies.push(...batch.map(({ body }) => body));
	return bodies;
}

describe("a decision over a tool call", () => {
	it.each([
		["yolo", { flags: { yolo: true } }, "mode", "Everything is approved (yolo)."],
		["nobody at the keyboard", { flags: { afk: true } }, "mode", "Nobody is at the keyboard (afk)."],
		[
			"an earlier approval for the session",
			{ grants: ["Shell(make:*)"] },
			"session-grant",
			expect.stringContaining("`Shell(make:*)`, approved for the session"),
		],
		[
			"the default when nobody can be asked",
			{ isAttended: false, flags: { whenUnattended: "approve" } },
			"default",
			"No client is connected that gives approvals.",
		],
		["a rule", { flags: { policies: [rule("allow")] } }, "rule", "The test says allow."],
	] as const)(
		"by %s is in the journal, with its reason and subjects, before the effect",
		async (_name, how, by, reason) => {
			const { events, atEffect } = await run(how);
			const decided = events.filter(({ type }) => type === "permission.decided");
			expect(decided).toEqual([
				{
					type: "permission.decided",
					toolCallId: "c1",
					action: "run command",
					decision: "approve",
					by,
					reason,
					subjects,
				},
			]);
			const indexOf = (type: EventType) => atEffect.indexOf(type);
			expect(indexOf("permission.decided")).toBeGreaterThan(indexOf("tool.requested"));
			expect(indexOf("tool.started")).toBeGreaterThan(indexOf("permission.decided"));
		},
	);

	it.each([
		["that a rule refuses", { flags: { policies: [rule("deny")] } }, "rule", "The test says deny."],
		[
			"that a rule refuses under yolo",
			{ flags: { policies: [rule("deny")], yolo: true } },
			"rule",
			"The test says deny.",
		],
		[
			"that a rule refuses while nobody is there",
			{ flags: { policies: [rule("deny")], afk: true } },
			"rule",
			"The test says deny.",
		],
		[
			"that a rule refuses although it was approved for the session",
			{ flags: { policies: [rule("deny")] }, grants: ["Shell(make)"] },
			"rule",
			"The test says deny.",
		],
		[
			"over which nobody can be asked",
			{ isAttended: false },
			"default",
			"The tool call needs an approval, and no client is connected that gives any.",
		],
	] as const)(
		"of a call %s ends it before it starts, and gives the model the reason",
		async (_name, how, by, reason) => {
			const { events, atEffect } = await run(how);
			expect(atEffect).toEqual([]);
			const types = events.map(({ type }) => type);
			expect(types).not.toContain("tool.started");
			expect(types).not.toContain("interaction.requested");
			expect(events).toContainEqual(
				expect.objectContaining({ type: "permission.decided", decision: "reject", by, reason }),
			);
			expect(events).toContainEqual(
				expect.objectContaining({
					type: "tool.result",
					result: expect.objectContaining({ is_error: true, message: reason }),
				}),
			);
			expect(events.at(-1)).toMatchObject({ type: "turn.ended", outcome: { status: "finished" } });
		},
	);

	it("is asked of a person where a rule says so, with the reason, although it was approved for the session", async () => {
		const { events, atEffect } = await run({ flags: { policies: [rule("ask")] }, grants: ["Shell(make)"] });
		expect(events.map(({ type }) => type)).not.toContain("permission.decided");
		expect(atEffect.slice(-3)).toEqual(["interaction.requested", "interaction.resolved", "tool.started"]);
		expect(events.find(({ type }) => type === "interaction.requested")).toMatchObject({
			interaction: {
				kind: "approval",
				action: "run command",
				subjects,
				reason: "The test says ask.",
				description: expect.stringContaining("\nThe test says ask.\n"),
			},
		});
	});

	it("that a rule would ask about is the mode's under yolo, and a refusal while nobody is there", async () => {
		const yolo = await run({ flags: { policies: [rule("ask")], yolo: true } });
		expect(yolo.events).toContainEqual(
			expect.objectContaining({
				decision: "approve",
				by: "mode",
				reason: "Everything is approved (yolo). The test says ask.",
			}),
		);
		const away = await run({ flags: { policies: [rule("ask")], afk: true } });
		expect(away.atEffect).toEqual([]);
		expect(away.events).toContainEqual(expect.objectContaining({ decision: "reject", by: "rule" }));
	});

	it("for the session is stored as what was shown", async () => {
		const { state, events } = await run({ answer: "approve_for_session" });
		expect(state.approval.autoApproveActions).toEqual(["Shell(make)"]);
		expect(events.find(({ type }) => type === "interaction.requested")).toMatchObject({
			interaction: {
				description: "Run it\nApproving it for the session covers `Shell(make)`.",
				summary: "Run it",
				coverage: "Approving it for the session covers `Shell(make)`.",
				display: [{ type: "brief", text: "Approving it for the session covers `Shell(make)`." }],
				grants: ["Shell(make)"],
			},
		});
	});

	it("of an earlier version that covers every command is not used, and the person is told", async () => {
		const { events, atEffect } = await run({ grants: ["run command"] });
		expect(atEffect.slice(-3)).toEqual(["interaction.requested", "interaction.resolved", "tool.started"]);
		expect(events.find(({ type }) => type === "interaction.requested")).toMatchObject({
			interaction: { description: expect.stringContaining("It was dropped, because it covered more than was shown.") },
		});
	});

	it("of a person is in the journal before the effect, and a refused call never starts", async () => {
		expect((await run({})).atEffect.slice(-3)).toEqual([
			"interaction.requested",
			"interaction.resolved",
			"tool.started",
		]);
		const refused = await run({ answer: "reject" });
		expect(refused.atEffect).toEqual([]);
		expect(refused.events.map(({ type }) => type)).not.toContain("tool.started");
	});
});
