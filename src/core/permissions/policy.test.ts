import { describe, expect, it } from "vitest";
import type { Subject } from "../../api/values/subject.ts";
import { type Circumstances, settle } from "./modes.ts";
import { type PermissionRequest, type Policy, type Verdict, worstVerdict } from "./policy.ts";

const list: Subject = { kind: "command", text: "ls", cwd: "/work" };
const request: PermissionRequest = { action: "run command", subjects: [list], byDefault: "ask" };

const verdict = (decision: Verdict["decision"], reason: string): Verdict => ({ decision, reason, by: "rule" });
const says = (said: Verdict | null): Policy => ({ name: "test", decide: async () => said });

describe("a chain of policies", () => {
	const [allow, ask, deny] = [verdict("allow", "a"), verdict("ask", "b"), verdict("deny", "c")];

	it.each([
		{ said: [allow, ask, deny], wins: deny },
		{ said: [deny, ask, allow], wins: deny },
		{ said: [null, allow, null, deny], wins: deny },
		{ said: [allow, ask], wins: ask },
		{ said: [ask, allow], wins: ask },
		{ said: [null, allow], wins: allow },
		{ said: [null, null], wins: null },
		{ said: [], wins: null },
	])("returns the worst verdict with its reason, whatever the order: $wins.decision", async ({ said, wins }) => {
		expect(await worstVerdict(said.map(says), request)).toBe(wins);
	});

	it("returns the first of equal verdicts", async () => {
		const policies = [says(verdict("deny", "first")), says(verdict("deny", "second"))];
		expect((await worstVerdict(policies, request))?.reason).toBe("first");
	});

	it("shows every policy the request", async () => {
		const seen: unknown[] = [];
		const watching: Policy = {
			name: "watch",
			async decide(shown) {
				seen.push(shown);
				return null;
			},
		};
		await worstVerdict([says(deny), watching], request);
		expect(seen).toEqual([request]);
	});
});

describe("a verdict in the mode of the session", () => {
	const attended: Circumstances = {
		isYolo: false,
		isAway: false,
		approvesWhileAway: true,
		canAsk: true,
		whenUnattended: "reject",
	};
	const modes = {
		attended,
		yolo: { ...attended, isYolo: true },
		away: { ...attended, isAway: true },
		"away, auto forbidden": { ...attended, isAway: true, approvesWhileAway: false },
		"nobody to ask": { ...attended, canAsk: false },
		"nobody to ask, approving": { ...attended, canAsk: false, whenUnattended: "approve" },
		"nobody to ask yet": { ...attended, canAsk: false, whenUnattended: "wait" },
		"nobody to ask yet, away": { ...attended, isAway: true, canAsk: false, whenUnattended: "wait" },
	} satisfies Record<string, Circumstances>;

	it.each<[keyof typeof modes, Record<"allow" | "ask" | "deny" | "nothing", string>]>([
		["attended", { allow: "allow by rule", ask: "ask", deny: "deny by rule", nothing: "ask" }],
		["yolo", { allow: "allow by rule", ask: "allow by mode", deny: "deny by rule", nothing: "allow by mode" }],
		["away", { allow: "allow by rule", ask: "deny by rule", deny: "deny by rule", nothing: "allow by mode" }],
		[
			"away, auto forbidden",
			{ allow: "allow by rule", ask: "deny by rule", deny: "deny by rule", nothing: "deny by mode" },
		],
		[
			"nobody to ask",
			{ allow: "allow by rule", ask: "deny by rule", deny: "deny by rule", nothing: "deny by default" },
		],
		[
			"nobody to ask, approving",
			{ allow: "allow by rule", ask: "deny by rule", deny: "deny by rule", nothing: "allow by default" },
		],
		["nobody to ask yet", { allow: "allow by rule", ask: "ask", deny: "deny by rule", nothing: "ask" }],
		[
			"nobody to ask yet, away",
			{ allow: "allow by rule", ask: "deny by rule", deny: "deny by rule", nothing: "allow by mode" },
		],
	])("%s", (mode, expected) => {
		const outcomeOf = (said: Verdict | null) => {
			const settled = settle(said, modes[mode]);
			return settled.decision === "ask" ? "ask" : `${settled.decision} by ${settled.by}`;
		};
		expect({
			allow: outcomeOf(verdict("allow", "A.")),
			ask: outcomeOf(verdict("ask", "B.")),
			deny: outcomeOf(verdict("deny", "C.")),
			nothing: outcomeOf(null),
		}).toEqual(expected);
	});

	it("approves leaving the sandbox in no mode", async () => {
		const leaving: Verdict = { ...verdict("ask", "B."), widens: true };
		const decide = (mode: Circumstances) => settle(leaving, mode).decision;
		expect(decide(modes.yolo)).toBe("ask");
		expect(decide({ ...modes.yolo, isAway: true })).toBe("deny");
		expect(decide({ ...modes.yolo, canAsk: false })).toBe("deny");
		expect(decide({ ...modes.yolo, canAsk: false, whenUnattended: "approve" })).toBe("deny");
		expect(decide({ ...modes.yolo, canAsk: false, whenUnattended: "wait" })).toBe("ask");
		expect(await worstVerdict([says(verdict("ask", "A.")), says(leaving)], request)).toBe(leaving);
	});

	it("keeps the reason of the rule, and says why nobody was asked", () => {
		expect(settle(verdict("ask", "The rule asks."), modes.yolo)).toMatchObject({
			reason: "Everything is approved (yolo). The rule asks.",
		});
		expect(settle(verdict("ask", "The rule asks."), modes.away)).toMatchObject({
			reason: "The rule asks. Nobody is at the keyboard to approve it (afk).",
		});
		expect(settle(verdict("ask", "The rule asks."), modes["nobody to ask"])).toMatchObject({
			reason: "The rule asks. No client is connected that gives approvals.",
		});
		expect(settle(verdict("ask", "The rule asks."), attended)).toEqual({ decision: "ask", reason: "The rule asks." });
		expect(settle(null, attended)).toEqual({ decision: "ask", reason: null });
	});
});
