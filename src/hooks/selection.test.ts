import { describe, expect, it } from "vitest";
import { allowed, blocked, type ClientHook, type CommandHook, type HookPoint } from "./hook.ts";
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
		["(", false],
		["[", false],
	])("searches the matcher %j in the target", (matcher, isSelected) => {
		expect(selectHooks([command("x", { matcher })], shell)).toHaveLength(isSelected ? 1 : 0);
	});

	it("matches nothing but the empty matcher against an empty target", () => {
		const stop: HookPoint = { event: "Stop", target: "", input: {} };
		const hooks = [command("a", { event: "Stop" }), command("b", { event: "Stop", matcher: "x" })];
		expect(selectHooks(hooks, stop)).toEqual([hooks[0]]);
	});

	it("takes hooks of the event alone", () => {
		expect(selectHooks([command("a", { event: "PostToolUse" }), subscription("s", { event: "Stop" })], shell)).toEqual(
			[],
		);
	});

	it("runs identical commands once, and every subscription", () => {
		const first = command("a");
		const hooks = [first, subscription("s"), command("b"), command("a", { matcher: "Sh" }), subscription("s")];
		expect(selectHooks(hooks, shell)).toEqual([first, hooks[1], hooks[2], hooks[4]]);
	});

	it("does not count a command that does not match as the first of its kind", () => {
		const second = command("a", { matcher: "Shell" });
		expect(selectHooks([command("a", { matcher: "Grep" }), second], shell)).toEqual([second]);
	});
});

describe("combineDecisions", () => {
	it("lets the first block in the order of the hooks win", () => {
		expect(combineDecisions([allowed, blocked("one"), blocked("two")])).toEqual({ action: "block", reason: "one" });
		expect(combineDecisions([blocked(""), blocked("two")])).toEqual({ action: "block", reason: "" });
	});

	it("allows when nobody blocks", () => {
		expect(combineDecisions([allowed, allowed])).toEqual({ action: "allow", reason: "" });
		expect(combineDecisions([])).toEqual({ action: "allow", reason: "" });
	});
});
