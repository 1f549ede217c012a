import { describe, expect, it } from "vitest";
import type { RuleDeclaration } from "./rule.ts";
import { readRules } from "./rule-reader.ts";

const source = { scope: "user", file: "/share/config.toml", base: null, home: "/home/me" } as const;

const declare = (changes: Partial<RuleDeclaration>): RuleDeclaration => ({
	decision: "allow",
	pattern: "Bash(git diff:*)",
	reason: "",
	match: [],
	notMatch: [],
	line: 3,
	...changes,
});

async function problemsOf(...declarations: readonly RuleDeclaration[]) {
	return (await readRules(declarations, source)).problems.map(({ index, member, reason }) => [index, member, reason]);
}

describe("the rules of a file", () => {
	it("keep where they are written", async () => {
		const { rules } = await readRules([declare({ reason: "why" })], source);
		expect(rules).toMatchObject([
			{
				decision: "allow",
				text: "Bash(git diff:*)",
				reason: "why",
				origin: { scope: "user", file: "/share/config.toml", line: 3 },
			},
		]);
	});

	it("are all read, and every one that is unsound is named", async () => {
		const problems = await problemsOf(
			declare({ pattern: "Nothing(x)" }),
			declare({}),
			declare({ pattern: "Read(!x)" }),
		);
		expect(problems).toEqual([
			[0, "pattern", expect.stringContaining('"Nothing(x)": it must begin with one of')],
			[2, "pattern", '"Read(!x)": a pattern cannot be negated with `!`; write a second rule'],
		]);
	});

	it.each<[string, Partial<RuleDeclaration>]>([
		["a command", { match: ["git diff --stat", "git diff"], notMatch: ["git diffx", "git diff; rm x", "git status"] }],
		["a command to deny", { decision: "deny", pattern: "Bash(rm:*)", match: ["sudo rm x"], notMatch: ["rmdir x"] }],
		["a path", { pattern: "Write(src/**)", match: ["src/a", "./src/b"], notMatch: ["/src/a", "a"] }],
		["a path at home", { pattern: "Read(~/.ssh)", match: ["~/.ssh/id", "/home/me/.ssh"], notMatch: [".ssh"] }],
		["a URL", { pattern: "WebFetch(domain:a.test)", match: ["https://a.test/x"], notMatch: ["https://b.test/a.test"] }],
		["a server's tool", { pattern: "mcp__s__t", match: ["mcp__s__t"], notMatch: ["mcp__s__u"] }],
	])("may have examples: %s", async (_name, changes) => {
		expect(await problemsOf(declare(changes))).toEqual([]);
	});

	it("are refused when an example fails", async () => {
		expect(await problemsOf(declare({ match: ["git status"], notMatch: ["git diff"] }))).toEqual([
			[0, "match", 'the rule does not apply to "git status"'],
			[0, "not_match", 'the rule applies to "git diff"'],
		]);
	});
});
