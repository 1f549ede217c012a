import { describe, expect, it } from "vitest";
import { longestPause, shortestPause } from "../../../test/support/host/pauses.ts";
import type { ClientHook, CommandHook, Hook } from "../../api/values/hooks/hook.ts";
import { allowed, blocked, type HookPoint } from "./hook.ts";
import { Matchers } from "./matchers.ts";
import { combineDecisions, selectHooks } from "./selection.ts";

const shell: HookPoint = { event: "PreToolUse", target: "Shell", input: {} };

function command(text: string, changes: Partial<CommandHook> = {}): CommandHook {
	return {
		kind: "command",
		event: "PreToolUse",
		matcher: "",
		timeout: 30,
		command: text,
		failClosed: false,
		...changes,
	};
}

function subscription(id: string, changes: Partial<ClientHook> = {}): ClientHook {
	return { kind: "client", event: "PreToolUse", matcher: "", timeout: 30, subscriptionId: id, ...changes };
}

const select = async (hooks: readonly Hook[], point: HookPoint) =>
	(await selectHooks(hooks, point, new Matchers())).selected.map(({ hook }) => hook);

describe("selectHooks", () => {
	it.each([
		["", true],
		["Shell", true],
		["hel", true],
		["^Sh", true],
		["ell$", true],
		["^hell$", false],
		["shell", false],
		["ReadFile|Shell", true],
		["WriteFile", false],
		["^(Shell|Read).*$", true],
		["^(?!Shell)", false],
		["(?i)^shell$", true],
		["\\bShell\\b", true],
		["(", false],
		["[", false],
		["(a)\\1", false],
	])("searches the matcher %j in the target", async (matcher, isSelected) => {
		expect(await select([command("x", { matcher })], shell)).toHaveLength(isSelected ? 1 : 0);
		expect(await select([subscription("s", { matcher })], shell)).toHaveLength(isSelected ? 1 : 0);
	});

	it("reports unusable matchers, and selects the hooks that then block", async () => {
		const open = command("a", { matcher: "*" });
		const closed = command("b", { matcher: "(a)\\1", failClosed: true });
		const client = subscription("s", { matcher: "(" });
		const { selected, unusable } = await selectHooks([open, closed, client], shell, new Matchers());
		const reasons = [
			'there is nothing before "*" that it could repeat',
			'it refers back to a group with "\\1"',
			'a "(" is not closed',
		] as const;
		expect(selected).toEqual([{ hook: closed, refusal: reasons[1] }]);
		expect(unusable).toEqual([
			{ hook: open, reason: reasons[0] },
			{ hook: closed, reason: reasons[1] },
			{ hook: client, reason: reasons[2] },
		]);
	});

	it.each(["^(a+)+$", "(a|a)*b", "(.*)*x", "^(\\w+\\s?)*$"])("searches %j in bounded time", async (matcher) => {
		const point: HookPoint = { event: "UserPromptSubmit", target: `${"a".repeat(100_000)}!`, input: {} };
		const pause = await shortestPause(async () =>
			expect(await select([command("x", { event: "UserPromptSubmit", matcher })], point)).toEqual([]),
		);
		expect(pause).toBeLessThan(longestPause);
	});

	it("searches many plain words in the time of any other matcher", async () => {
		const words = Array.from({ length: 180 }, (_, index) => `ab${index % 90}`).join("|");
		const hook = command("x", { event: "UserPromptSubmit", matcher: words });
		expect(await select([hook], { event: "UserPromptSubmit", target: "a".repeat(1_000_000), input: {} })).toEqual([
			hook,
		]);
		expect(await select([hook], { event: "UserPromptSubmit", target: "a".repeat(10_000), input: {} })).toEqual([]);
	});

	it("treats a matcher that would take too long as a match", async () => {
		const hook = command("x", { event: "UserPromptSubmit", matcher: "^[b-z ]{1,500}$" });
		const target = "a".repeat(1_000_000);
		expect(await select([hook], { event: "UserPromptSubmit", target, input: {} })).toEqual([hook]);
		expect(await select([hook], { event: "UserPromptSubmit", target: "a", input: {} })).toEqual([]);
	});

	it("matches only the empty matcher against an empty target", async () => {
		const stop: HookPoint = { event: "Stop", target: "", input: {} };
		const hooks = [command("a", { event: "Stop" }), command("b", { event: "Stop", matcher: "x" })];
		expect(await select(hooks, stop)).toEqual([hooks[0]]);
	});

	it("selects only hooks of the event", async () => {
		expect(await select([command("a", { event: "PostToolUse" }), subscription("s", { event: "Stop" })], shell)).toEqual(
			[],
		);
	});

	it("selects identical commands once, and every subscription", async () => {
		const first = command("a");
		const hooks = [first, subscription("s"), command("b"), command("a", { matcher: "Sh" }), subscription("s")];
		expect(await select(hooks, shell)).toEqual([first, hooks[1], hooks[2], hooks[4]]);
	});

	it("selects, of identical commands, one that blocks on failure", async () => {
		const closed = command("a", { failClosed: true });
		expect(await select([command("a"), command("b"), closed, command("a")], shell)).toEqual([closed, command("b")]);
		const unusable = command("a", { matcher: "(", failClosed: true });
		expect(await select([command("a"), unusable], shell)).toEqual([unusable]);
	});

	it("ignores a command that does not match when it removes duplicates", async () => {
		const second = command("a", { matcher: "Shell" });
		expect(await select([command("a", { matcher: "Grep" }), second], shell)).toEqual([second]);
	});
});

describe("combineDecisions", () => {
	it("returns the first block in the order of the hooks", () => {
		expect(combineDecisions([allowed, blocked("one"), blocked("two")])).toEqual({ action: "block", reason: "one" });
		expect(combineDecisions([blocked(""), blocked("two")])).toEqual({ action: "block", reason: "" });
	});

	it("allows when nobody blocks", () => {
		expect(combineDecisions([allowed, allowed])).toEqual({ action: "allow", reason: "" });
		expect(combineDecisions([])).toEqual({ action: "allow", reason: "" });
	});
});
