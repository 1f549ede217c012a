import { describe, expect, it } from "vitest";
import type { Decision } from "../policy.ts";
import { createRuleJudge } from "./rule-judge.ts";
import { readRules } from "./rule-reader.ts";

async function createJudge(rules: readonly (readonly [Decision, string])[], allowsReadOnly = false) {
	const declarations = rules.map(([decision, pattern]) => ({
		decision,
		pattern,
		reason: "",
		match: [],
		notMatch: [],
		line: null,
	}));
	const source = { scope: "user", file: null, base: null, home: "/home/me" } as const;
	const read = await readRules(declarations, source);
	expect(read.problems).toEqual([]);
	return createRuleJudge({
		rules: read.rules,
		grants: () => [],
		allowsReadOnly: allowsReadOnly ? "always" : "never",
		place: {
			home: "/home/me",
			roots: async () => ["/work"],
			// A link in the work directory that leads out of it.
			resolve: async (path) => path.replace("/work/link", "/etc"),
			repositoryProgram: async (directory) => (directory === "/work/hostile" ? "the repository names `x`" : null),
		},
	});
}

const command = (text: string) => ({
	action: "run command",
	subjects: [{ kind: "command", text, cwd: "/work" }] as const,
	byDefault: "ask" as const,
});

const git = ["allow", "Bash(git diff:*)"] as const;
const echo = ["allow", "Bash(echo:*)"] as const;
const noRemoval = ["deny", "Bash(rm:*)"] as const;

describe("the rules over a command line", () => {
	it.each<[string, readonly (readonly [Decision, string])[], string, string]>([
		["allow what each of its commands is allowed", [git, echo], "git diff && echo done", "allow by rule"],
		["say nothing when one of them is spoken of by none", [git], "git diff && make", "nothing"],
		["deny the whole for one of its commands", [git, noRemoval], "git diff && sudo rm x", "deny by rule"],
		["leave a doubt open where nothing is denied", [git], "git diff; $X", "ask by default"],
		["ask about a doubt where something is denied", [git, noRemoval], "git diff; $X", "ask by rule"],
		["leave a write open that no rule allows", [echo], "echo x > out", "ask by default"],
		["allow a write with a rule of its own", [echo, ["allow", "Write(out)"]], "echo x > out", "allow by rule"],
		["deny a write", [echo, ["deny", "Write(/etc)"]], "echo x > /etc/passwd", "deny by rule"],
		["deny a write through a link", [echo, ["deny", "Write(/etc)"]], "echo x > link/passwd", "deny by rule"],
		[
			"allow no write that leaves the directory of a link",
			[echo, ["allow", "Write(**)"]],
			"echo x > link/../a",
			"ask by default",
		],
		[
			"allow no write through a link that leads elsewhere",
			[echo, ["allow", "Write(link)"]],
			"echo x > link/a",
			"ask by default",
		],
		[
			"deny what a program reads",
			[
				["allow", "Bash(cat:*)"],
				["deny", "Read(/etc)"],
			],
			"cat /etc/passwd",
			"deny by rule",
		],
		["say nothing without rules over commands or files", [["deny", "WebSearch"]], "rm -rf /", "nothing"],
	])("%s", async (_name, rules, text, expected) => {
		const verdict = await (await createJudge(rules)).decide(command(text));
		expect(verdict === null ? "nothing" : `${verdict.decision} by ${verdict.by}`).toBe(expected);
	});

	it("allow commands that only read when the settings say so", async () => {
		const judge = await createJudge([], true);
		expect(await judge.decide(command("git status && ls -la"))).toMatchObject({ decision: "allow", by: "rule" });
		expect(await judge.decide(command("git status && make"))).toBeNull();
	});

	it("say in a sentence why nothing allows it", async () => {
		const judge = await createJudge([echo]);
		expect((await judge.decide(command("echo x > out")))?.reason).toBe(
			"No rule allows it, because it writes /work/out (`out`).",
		);
		expect((await judge.decide(command("echo x; $X")))?.reason).toBe(
			"It cannot be judged by rules, because the program is a variable (`$X`).",
		);
	});
});

describe("what an approval of a command line for the session covers", () => {
	it.each([
		["git status -s", ["Shell(git status:*)"]],
		["npm run build -- --watch", ["Shell(npm run build:*)"]],
		["cp 'a b' c", ["Shell(cp:*)"]],
		["rm 'a b' c", ["Shell(rm 'a b' c)"]],
		['rm "it\'s" c', ["Shell(rm 'it'\\''s' c)"]],
		["cd src && make all", ["Shell(make all:*)"]],
		["timeout 5 make all", ["Shell(make all:*)"]],
		["echo x > out; ls", ["Shell(echo:*)", "Shell(ls:*)", "Write(/work/out)"]],
		["echo x > 'a[1].txt'", ["Shell(echo:*)", "Write(/work/a[[]1].txt)"]],
	])("of %s is what is shown", async (text, patterns) => {
		const judge = await createJudge([]);
		expect(await judge.propose(command(text))).toEqual({ kind: "grants", patterns });
	});

	it.each([
		["$X y", "the program is a variable"],
		["rm $X", "what it runs is known only when it runs"],
		["PATH=. git status", /./],
		["rm a 'x:*'", /./],
	])("of %s is nothing, and says why", async (text, why) => {
		const proposal = await (await createJudge([])).propose(command(text));
		expect(proposal).toEqual({ kind: "once", why: expect.stringMatching(why) });
	});
});

describe("a command that reads a file whose name is not known", () => {
	it.each([
		["cat sec*/key.txt", "ask", "rule"],
		["cat $FILE", "ask", "rule"],
		["cat sec*", "ask", "rule"],
		["head -n 1 -- secret?/key", "ask", "rule"],
		["cat src/a.txt", "allow", "rule"],
		["echo sec*/key.txt", "allow", "rule"],
	])("is not left to the mode where files are denied: %s", async (text, decision, by) => {
		const judge = await createJudge([["deny", "Read(secret/**)"]], true);
		expect(await judge.decide(command(text))).toMatchObject({ decision, by });
	});

	it("is asked about where no file is denied, as it may be outside of the workspace", async () => {
		const judge = await createJudge([], true);
		expect(await judge.decide(command("cat $FILE"))).toBeNull();
	});
});

describe("commands that only read, where some files may not be read", () => {
	const noSecrets = ["deny", "Read(secrets/**)"] as const;

	it.each([
		"rg KEY",
		"rg KEY secrets",
		"grep -r KEY .",
		"grep -nR KEY secrets",
		"grep --recursive KEY .",
		"grep -d recurse KEY .",
		"timeout 5 grep -r KEY .",
		"diff -r . other",
		"diff secrets other",
		"git grep KEY",
		"git diff",
		"git log -p",
		"git log -S KEY",
		"git stash list -p",
		"git status -v",
	])("need a rule when they may read them unnamed: %s", async (text) => {
		const verdicts = [];
		for (const rules of [[noSecrets], []]) {
			const judge = await createJudge(rules, true);
			verdicts.push((await judge.decide(command(text)))?.decision ?? "nothing");
		}
		expect(verdicts).toEqual(["nothing", "allow"]);
	});

	it.each([
		"ls secrets",
		"cat README.md",
		"grep KEY README.md",
		"git status",
		"git log --oneline -n 5",
		"git branch -v",
		"find . -name x",
	])("are allowed when what they read is named: %s", async (text) => {
		const judge = await createJudge([noSecrets], true);
		expect(await judge.decide(command(text))).toMatchObject({ decision: "allow" });
	});

	it.each([
		"rev secrets/a",
		"cat secrets/a",
		"grep KEY secrets/a",
		"git show HEAD:secrets/a",
		"git --no-pager blame secrets/a",
		"git log --patch secrets/a",
		"git cat-file -p HEAD:secrets/a",
	])("are denied: %s", async (text) => {
		const judge = await createJudge([noSecrets], true);
		expect(await judge.decide(command(text))).toMatchObject({ decision: "deny" });
	});

	it("need none where only writing is denied", async () => {
		const judge = await createJudge([["deny", "Write(secrets/**)"]], true);
		expect(await judge.decide(command("rg KEY"))).toMatchObject({ decision: "allow" });
	});
});

describe("commands that only read", () => {
	const cd = ["allow", "Bash(cd:*)"] as const;

	it.each([
		["git status", "allow"],
		["ls hostile", "allow"],
		["cd hostile && git status", "ask"],
		["cd hostile && timeout 5 git log", "ask"],
		['cd "$X" && git status', "ask"],
	])("are allowed unless a repository names a program for them: %s", async (text, decision) => {
		const judge = await createJudge([cd], true);
		expect((await judge.decide(command(text)))?.decision).toBe(decision);
	});

	it("say which program git would run, and are allowed by a rule of their own", async () => {
		const request = {
			...command(""),
			subjects: [{ kind: "command", text: "git diff", cwd: "/work/hostile" }] as const,
		};
		expect(await (await createJudge([], true)).decide(request)).toEqual({
			decision: "ask",
			by: "default",
			reason: "No rule allows it, and the repository names `x`.",
		});
		expect((await (await createJudge([git], true)).decide(request))?.decision).toBe("allow");
	});
});
