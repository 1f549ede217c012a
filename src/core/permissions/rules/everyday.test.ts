// How often a person is asked about everyday commands, under rules that a sensible person has.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseRulePattern } from "./pattern.ts";
import type { Rule } from "./rule.ts";
import { createRuleJudge } from "./rule-judge.ts";

const fixture = readFileSync("test/fixtures/permissions/everyday-commands.txt", "utf8");

/** One command a line, or several lines between `<<<` and `>>>`. */
function readCommands(text: string): readonly string[] {
	const commands: string[] = [];
	let block: string[] | null = null;
	for (const line of text.split("\n")) {
		if (line === "<<<") block = [];
		else if (line === ">>>") {
			commands.push((block ?? []).join("\n"));
			block = null;
		} else if (block !== null) block.push(line);
		else if (line !== "" && !line.startsWith("# ")) commands.push(line);
	}
	return commands;
}

const commands = readCommands(fixture);

const allowed =
	"npm test, npm run, npm install, git add, git commit, git checkout, git push, git pull, git fetch, git stash, git branch, make, python3, node, " +
	"cargo, go, pytest, docker ps, docker logs, mkdir, touch, cp, mv, ./gradlew, npx tsc, npx eslint, uv run pytest, curl, jq, tar, awk, sed, " +
	"xargs, find, grep, echo, cat, ls, head, tail, wc, sort";
const usual: readonly (readonly [Rule["decision"], string])[] = [
	...allowed.split(", ").map((words) => ["allow", `Bash(${words}:*)`] as const),
	["allow", "Write(**)"],
	["deny", "Bash(rm -rf:*)"],
	["deny", "Bash(sudo:*)"],
];

function judgeWith(patterns: readonly (readonly [Rule["decision"], string])[], grants: readonly string[] = []) {
	const rules = patterns.map(([decision, text]): Rule => {
		const parsed = parseRulePattern(text, "/home/u");
		if (!parsed.ok) throw new Error(parsed.reason);
		const origin = { scope: "user", file: null, line: null } as const;
		return { decision, text, pattern: parsed.pattern, reason: "", origin, base: null };
	});
	const files: Readonly<Record<string, readonly string[]>> = {
		"/work": ["README.md", "package.json", "src", ".env", "a.txt"],
		"/work/src": ["a.ts", "b.ts"],
	};
	return createRuleJudge({
		rules,
		grants: () => grants,
		allowsReadOnly: "always",
		place: {
			home: "/home/u",
			roots: async () => ["/work"],
			resolve: async (path) => path,
			list: async (directory) => files[directory] ?? [],
			repositoryProgram: async () => null,
		},
	});
}

const requestFor = (text: string) =>
	({ action: "run command", byDefault: "ask", subjects: [{ kind: "command", text, cwd: "/work" }] }) as const;

async function asked(patterns: readonly (readonly [Rule["decision"], string])[]): Promise<readonly string[]> {
	const judge = judgeWith(patterns);
	const left: string[] = [];
	for (const text of commands) if ((await judge.decide(requestFor(text)))?.decision !== "allow") left.push(text);
	return left;
}

/** The same command with other files. */
function withOtherFiles(text: string): string {
	return text
		.replaceAll(/\b([\w-]+)\.(txt|py|js|json|csv|md|tgz|bin)\b/g, "other-$1.$2")
		.replaceAll(/\bsrc\b/g, "lib")
		.replaceAll(/\bbuild\/out\b/g, "dist/out");
}

/** Inline programs, deletion, unpacking, signals, and a program that no rule names. */
const askedUnderRules = [
	"node -e 'console.log(1)'",
	"python3 -c 'print(1)'",
	"rm x.txt",
	"tar xzf a.tgz",
	"kill 123",
	"./node_modules/.bin/jest",
];

/** A write at the top of the workspace covers that file, an interpreter the file with its program, unpacking that archive. */
const askedAgain = [
	'echo "hi" > out.txt',
	"node scripts/x.js",
	"python3 script.py --flag",
	"rm x.txt",
	"tar xzf a.tgz",
	"cat <<'EOF' > x.md\n# hi\nEOF",
];

/** Why commands are asked about without rules: docs/explanation/decisions/2026-11-28-questions-without-rules.md. */
const reasons: readonly (readonly [reason: string, form: RegExp])[] = [
	[
		"programs of the project",
		/\b(?:npm|npx|pytest|cargo|gradlew|node scripts|python3 (?:-m|script)|go (?:test|build|vet)|node_modules)\b|^make\b/,
	],
	["inline programs", / -[ec] '/],
	["changes of the repository", /^git /],
	["changes of files", /^(?:mkdir|cp|mv|touch|rm|tar|echo|cat) /],
	["network", /^curl /],
	["elsewhere", /^(?:docker|kill|ls) /],
];

describe("everyday commands", () => {
	it("are read from the fixture", () => expect(commands).toHaveLength(146));

	it("A: with rules for the usual programs", async () => {
		expect(await asked(usual)).toEqual(askedUnderRules);
	});

	it("B: where a file must not be read as well", async () => {
		expect(await asked([...usual, ["deny", "Read(.env)"]])).toEqual(askedUnderRules);
	});

	it("C: without rules", async () => {
		const left = await asked([]);
		const counts = reasons.map(([reason, form]) => [reason, left.filter((text) => form.test(text)).length]);
		expect(Object.fromEntries(counts)).toEqual({
			"programs of the project": 37,
			"inline programs": 2,
			"changes of the repository": 8,
			"changes of files": 10,
			network: 4,
			elsewhere: 3,
		});
		expect(left).toHaveLength(64);
	});

	it("C, where each is allowed for the session when it is asked about", async () => {
		const grants: string[] = [];
		let questions = 0;
		for (const text of commands) {
			const judge = judgeWith([], grants);
			if ((await judge.decide(requestFor(text)))?.decision === "allow") continue;
			questions += 1;
			const proposal = await judge.propose(requestFor(text));
			if (proposal.kind === "grants") grants.push(...proposal.patterns);
		}
		expect(questions).toBe(46);
	});

	it("D: after each was allowed for the session once, with other files", async () => {
		const left: string[] = [];
		for (const text of commands) {
			const other = withOtherFiles(text);
			const first = judgeWith([]);
			const isFree = (await first.decide(requestFor(other)))?.decision === "allow";
			const proposal = isFree ? null : await first.propose(requestFor(other));
			const grants = proposal?.kind === "grants" ? proposal.patterns : [];
			if ((await judgeWith([], grants).decide(requestFor(text)))?.decision !== "allow") left.push(text);
		}
		expect(left).toEqual(askedAgain);
	});
});
