import { expect, it } from "vitest";
import { convertClaudeRules } from "./claude-rules.ts";

const convert = (permissions: unknown) => convertClaudeRules({ permissions, model: "x" }, "/home/me");

it("converts the permissions of a settings file, denials first", () => {
	expect(
		convert({
			allow: ["Bash(npm run test:*)", "Read(//etc/hosts)", "mcp__github"],
			ask: ["Edit(/docs/**)"],
			deny: ["WebFetch(domain:evil.test)", "Read(./.env)", "Read(~/.zshrc)"],
		}),
	).toEqual({
		ok: true,
		rules: [
			{ decision: "deny", pattern: "WebFetch(domain:evil.test)" },
			{ decision: "deny", pattern: "Read(./.env)" },
			{ decision: "deny", pattern: "Read(~/.zshrc)" },
			{ decision: "ask", pattern: "Write(./docs/**)" },
			{ decision: "allow", pattern: "Bash(npm run test:*)" },
			{ decision: "allow", pattern: "Read(/etc/hosts)" },
			{ decision: "allow", pattern: "mcp__github" },
		],
		leftOut: [],
		otherKeys: [],
	});
});

it("names the keys beside the rules, which have no counterpart", () => {
	const others = { disableBypassPermissionsMode: "disable", additionalDirectories: ["../x"] };
	expect(convert({ allow: ["Read"], ...others })).toMatchObject({ ok: true, otherKeys: Object.keys(others) });
});

it("leaves out what has no counterpart, with the reason", () => {
	const converted = convert({ allow: ["Skill(x)", "Bash(rm*)"], deny: ["Task"] });
	expect(converted).toMatchObject({
		ok: true,
		rules: [],
		leftOut: [
			{ decision: "deny", pattern: "Task", reason: expect.stringContaining("it must begin with one of") },
			{ decision: "allow", pattern: "Skill(x)" },
			{ decision: "allow", pattern: "Bash(rm*)", reason: expect.stringContaining("rm:*") },
		],
	});
});

it.each([[null], [[]], [{ permissions: 5 }], [{ permissions: { allow: "Bash" } }], [{}]])(
	"refuses %j, which has none",
	(value) => {
		expect(convertClaudeRules(value, "/home/me")).toMatchObject({ ok: false, reason: expect.any(String) });
	},
);
