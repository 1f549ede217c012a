import { describe, expect, it } from "vitest";
import { decidingFile } from "./deciding-files.ts";
import type { Decision, PermissionRequest } from "./policy.ts";
import { createRuleJudge } from "./rules/rule-judge.ts";
import { readRules } from "./rules/rule-reader.ts";

const roots = ["/work"];

async function createJudge(allowed: readonly string[], grants: readonly string[] = []) {
	const declarations = allowed.map((pattern) => ({
		decision: "allow" as Decision,
		pattern,
		reason: "",
		match: [],
		notMatch: [],
		line: null,
	}));
	const { rules, problems } = await readRules(declarations, {
		scope: "user",
		file: null,
		base: null,
		home: "/home/me",
	});
	expect(problems).toEqual([]);
	const resolve = async (path: string) => path;
	const place = { home: "/home/me", roots: async () => roots, resolve, repositoryProgram: async () => null };
	return createRuleJudge({ rules, grants: () => grants, allowsReadOnly: "never", place });
}

const write = (path: string, operation: "write" | "edit" = "write"): PermissionRequest => ({
	action: "edit file",
	subjects: [{ kind: "file", operation, path }],
	byDefault: "ask",
});
const command = (text: string): PermissionRequest => ({
	action: "run command",
	subjects: [{ kind: "command", text, cwd: "/work" }],
	byDefault: "ask",
});

const deciding = [
	".git/config",
	"src/.git/hooks/pre-commit",
	"mirror.git/hooks/post-receive",
	".GIT/config",
	".agentwire/permissions.toml",
	"src/.kimi/config.toml",
	".vscode/tasks.json",
	".idea/workspace.xml",
	".mcp.json",
	"src/.envrc",
	".husky/pre-commit",
	".githooks/pre-push",
	".bashrc",
	".npmrc",
	".yarnrc.yml",
	".pnpmfile.cjs",
	"src/skills/x/SKILL.md",
	"agents/reviewer/agent.yaml",
	".claude/settings.json",
	".cargo/bin/cargo",
	".cargo/config.toml",
];

describe("files that decide what runs", () => {
	it.each(deciding)("are not covered by rules and grants that do not name them: %s", async (file) => {
		const judge = await createJudge(
			["Write(**)", "Write", "Write(src/**)", "Bash(echo:*)", "Bash(cp:*)"],
			["Write(/work/**)"],
		);
		for (const request of [
			write(`/work/${file}`),
			write(`/work/${file}`, "edit"),
			command(`echo x > ${file}`),
			command(`cp a ${file}`),
		]) {
			const verdict = await judge.decide(request);
			expect(verdict).toMatchObject({
				decision: "ask",
				by: "rule",
				reason: expect.stringContaining("Only a rule that names it"),
			});
		}
	});

	it.each([
		"src/a.ts",
		".gitignore",
		".github/workflows/a.yml",
		"package.json",
		"AGENTS.md",
		"git/config",
		"docs/agent.md",
	])("are not %s", async (file) => {
		expect((await (await createJudge(["Write(**)"])).decide(write(`/work/${file}`)))?.decision).toBe("allow");
	});

	it.each([
		["Write(.vscode/**)", ".vscode/settings.json"],
		["Write(**/.vscode/settings.json)", "a/.vscode/settings.json"],
		["Write(.npmrc)", "src/.npmrc"],
		["Write(/work/.git/info/exclude)", ".git/info/exclude"],
	])("are covered by a rule that names them: %s", async (pattern, file) => {
		expect((await (await createJudge([pattern])).decide(write(`/work/${file}`)))?.decision).toBe("allow");
		expect((await (await createJudge([], [pattern])).decide(write(`/work/${file}`)))?.decision).toBe("allow");
	});

	it("are covered one at a time by an approval for the session", async () => {
		const judge = await createJudge([]);
		expect(await judge.propose(write("/work/.git/hooks/pre-commit"))).toEqual({
			kind: "grants",
			patterns: ["Write(/work/.git/hooks/pre-commit)"],
		});
	});

	it("are ordinary above the roots, and where a call needs no approval", async () => {
		expect(decidingFile("/home/me/.claude/worktrees/a/src/b", ["/home/me/.claude/worktrees/a"])).toBeNull();
		expect(decidingFile("/home/me/.claude/worktrees/a/src/b", roots)).not.toBeNull();
		const plan = { ...write("/home/me/.kimi/plans/a.md"), byDefault: "allow" as const };
		expect(await (await createJudge([])).decide(plan)).toBeNull();
	});
});
