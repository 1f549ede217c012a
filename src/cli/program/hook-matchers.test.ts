import { expect, it } from "vitest";
import type { Configuration } from "../../settings/config/configuration.ts";
import { describeUnusableMatchers } from "./hook-matchers.ts";

const hook = (matcher: string, failClosed = false): Configuration["hooks"][number] => ({
	event: "PreToolUse",
	command: "check",
	matcher,
	timeout: 30,
	failClosed,
});

it("names file, key and fault of each unusable matcher", async () => {
	const hooks = [hook(""), hook("Shell"), hook("*"), hook("^(?!Read).*$"), hook("(?<=a)b", true)];
	expect(await describeUnusableMatchers(hooks, "/home/me/.kimi/config.toml")).toEqual([
		'/home/me/.kimi/config.toml: hooks[2].matcher: `*` cannot be used: there is nothing before "*" that it could repeat. The hook never runs.',
		'/home/me/.kimi/config.toml: hooks[4].matcher: `(?<=a)b` cannot be used: it has a condition on what comes before ("(?<="), which is not supported. Because of fail_closed, it blocks everything.',
	]);
});
