import { describe, expect, it } from "vitest";
import type { Subject } from "../events/subject.ts";
import {
	createGrantPolicy,
	createModePolicy,
	createUnattendedPolicy,
	type SessionGrant,
	type UnattendedSettings,
} from "./policies.ts";
import { decide, type Policy, type Verdict } from "./policy.ts";

const list: Subject = { kind: "command", text: "ls", cwd: "/work" };
const remove: Subject = { kind: "command", text: "rm -r .", cwd: "/work" };
const request = { action: "run command", subjects: [list] };

const verdict = (decision: Verdict["decision"], reason: string): Verdict => ({ decision, reason, by: "rule" });
const says = (said: Verdict | null): Policy => ({ name: "test", decide: () => said });
const silent = says(null);

describe("a chain of policies", () => {
	const [allow, ask, deny] = [verdict("allow", "a"), verdict("ask", "b"), verdict("deny", "c")];

	it.each([
		{ said: [allow, ask, deny], wins: deny },
		{ said: [deny, ask, allow], wins: deny },
		{ said: [null, allow, null, deny], wins: deny },
		{ said: [allow, ask], wins: ask },
		{ said: [ask, allow], wins: ask },
		{ said: [null, allow], wins: allow },
	])("returns the worst verdict with its reason, whatever the order: $wins.decision", ({ said, wins }) => {
		expect(decide({ policies: said.map(says), fallback: silent }, request)).toBe(wins);
	});

	it("returns the first of equal verdicts", () => {
		const policies = [says(verdict("deny", "first")), says(verdict("deny", "second"))];
		expect(decide({ policies, fallback: silent }, request).reason).toBe("first");
	});

	it("asks where nothing was said", () => {
		expect(decide({ policies: [], fallback: silent }, request)).toMatchObject({ decision: "ask", by: "default" });
		expect(decide({ policies: [silent, silent], fallback: silent }, request).decision).toBe("ask");
	});

	it("lets the fallback decide what would be asked, and nothing else", () => {
		const refusing = says({ decision: "deny", reason: "nobody", by: "default" });
		const approving = says({ decision: "allow", reason: "nobody", by: "default" });
		const decided = (said: Verdict | null, fallback: Policy) => decide({ policies: [says(said)], fallback }, request);
		expect(decided(null, refusing)).toMatchObject({ decision: "deny", by: "default" });
		expect(decided(ask, refusing)).toMatchObject({ decision: "deny", by: "default" });
		expect(decided(ask, approving)).toMatchObject({ decision: "allow", by: "default" });
		expect(decided(allow, refusing)).toBe(allow);
		expect(decided(deny, approving)).toBe(deny);
	});

	it("shows every policy the request", () => {
		const seen: unknown[] = [];
		const watching: Policy = {
			name: "watch",
			decide(shown) {
				seen.push(shown);
				return null;
			},
		};
		decide({ policies: [says(deny), watching], fallback: silent }, request);
		expect(seen).toEqual([request]);
	});
});

describe("the policy of a mode", () => {
	it("allows everything while the mode is on", () => {
		let isOn = false;
		const policy = createModePolicy("yolo", "Everything is approved.", () => isOn);
		expect(policy.decide(request)).toBeNull();
		isOn = true;
		expect(policy.decide(request)).toEqual({ decision: "allow", reason: "Everything is approved.", by: "mode" });
	});
});

describe("the policy of session grants", () => {
	const decideWith = (grants: readonly SessionGrant[]) => createGrantPolicy(() => grants).decide(request);

	it("allows an action that was approved for the session, and names it", () => {
		expect(decideWith([{ action: "edit file" }, { action: "run command" }])).toEqual({
			decision: "allow",
			reason: 'The action "run command" was approved for the session.',
			by: "session-grant",
		});
	});

	it("says nothing about other actions, compared as whole strings", () => {
		expect(decideWith([])).toBeNull();
		expect(decideWith([{ action: "run" }, { action: "run command in a container" }])).toBeNull();
	});

	it("allows no more than the subjects of a grant that names them", () => {
		expect(decideWith([{ action: "run command", subjects: [remove, { ...list }] }])).not.toBeNull();
		expect(decideWith([{ action: "run command", subjects: [remove] }])).toBeNull();
		const both = { action: "run command", subjects: [list, remove] };
		expect(createGrantPolicy(() => [{ action: "run command", subjects: [list] }]).decide(both)).toBeNull();
	});
});

describe("the policy for when nobody can be asked", () => {
	const decideWith = (canAsk: boolean, whenUnattended: UnattendedSettings["whenUnattended"]) =>
		createUnattendedPolicy({ canAsk: () => canAsk, whenUnattended }).decide(request);

	it("says nothing while somebody can be asked", () => {
		expect(decideWith(true, "approve")).toBeNull();
		expect(decideWith(true, "reject")).toBeNull();
	});

	it("does what is configured otherwise", () => {
		expect(decideWith(false, "approve")).toMatchObject({ decision: "allow", by: "default" });
		expect(decideWith(false, "reject")).toMatchObject({
			decision: "deny",
			by: "default",
			reason: "The tool call needs an approval, and no client is connected that gives any.",
		});
	});
});
