// Command lines that a person did not mean who wrote plausible rules: none of them is allowed.
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parseRulePattern } from "./pattern.ts";
import type { Rule } from "./rule.ts";
import { createRuleJudge } from "./rule-judge.ts";

const programs =
	"npm test, npm run, npm install, git add, git commit, git checkout, git push, git pull, git fetch, git stash, git branch, make, python3, node, cargo, go, pytest, docker ps, docker logs, mkdir, touch, cp, mv, ./gradlew, npx tsc, npx eslint, uv run pytest, curl, jq, tar, awk, sed, xargs, find, grep, echo, cat, ls, head, tail, wc, sort, git, npx eslint, yarn test, pnpm test, docker, zip, scp, gcc, perl, ruby, php, sqlite3, psql, sort, uniq, tee, rsync, ln, unzip, less, man, tree, file, timeout, env, nice, cd, printf, test, uv run";

function judgeWith(patterns: readonly string[]) {
	const rules = patterns.map((text): Rule => {
		const parsed = parseRulePattern(text, "/home/u");
		if (!parsed.ok) throw new Error(parsed.reason);
		const origin = { scope: "user", file: null, line: null } as const;
		return { decision: "allow", text, pattern: parsed.pattern, reason: "", origin, base: null };
	});
	return createRuleJudge({
		rules,
		grants: () => [],
		allowsReadOnly: "always",
		place: {
			home: "/home/u",
			roots: async () => ["/work"],
			// A link that leads out of the workspace.
			resolve: async (name) => path.normalize(name.replace("/work/link", "/out/target")),
			list: async () => ["a.ts"],
			repositoryProgram: async () => null,
		},
	});
}

async function allowed(patterns: readonly string[], commands: readonly string[]): Promise<readonly string[]> {
	const judge = judgeWith(patterns);
	const found: string[] = [];
	for (const text of commands) {
		const subjects = [{ kind: "command", text, cwd: "/work" }] as const;
		if ((await judge.decide({ action: "", byDefault: "ask", subjects }))?.decision === "allow") found.push(text);
	}
	return found;
}

const fixture = readFileSync("test/fixtures/permissions/hostile-commands.txt", "utf8");
const hostile = fixture
	.split("\n")
	.filter((line) => line !== "" && !line.startsWith("# "))
	.map((line) => line.replaceAll("\\N", "\n").replaceAll("\\r", "\r"));

describe("hostile commands", () => {
	it("are more than 700", () => expect(hostile.length).toBeGreaterThan(700));

	it("are not allowed by rules for their programs", async () => {
		const patterns = programs.split(", ").map((program) => `Bash(${program}:*)`);
		expect(await allowed([...patterns, "Write(**)"], hostile)).toEqual([]);
	});

	it("that ask the project which version of a program to run are not allowed without rules", async () => {
		const asking = "yarn pnpm cargo mvn gradle nx turbo mocha dotnet hg bundle pytest poetry jest vitest";
		const commands = asking.split(" ").map((program) => `${program} --version`);
		expect(await allowed([], commands)).toEqual([]);
		expect(await allowed([], ["node --version", "python3 --version", "git --version", "npm --version"])).toHaveLength(
			4,
		);
	});

	it("that read outside of the workspace are not allowed without rules", async () => {
		const reading = `cat /etc/passwd
cat ~/.ssh/id_rsa
cat .env
cat < /etc/passwd
while read l; do echo "$l"; done < /etc/passwd
x=$(</etc/passwd); echo "$x"
read x < /etc/passwd; echo $x
timeout 5 cat < /etc/passwd
xargs -a /etc/passwd echo
xargs echo < /etc/passwd
jq -n --rawfile x /etc/passwd '$x'
jq -n 'import "/etc/x" as $x; $x'
awk 'BEGIN{ARGV[1]="/etc/passwd";ARGC=2} 1'
git diff /etc/passwd /etc/hosts
git -C / log
find / -name x
find . -name '*' | xargs cat
find . -name '*e*' | xargs cat
echo /etc/passwd | xargs cat
cd / && cat etc/passwd
cat src/../../x
cd .. && ls
cat a/../../x
head /proc/self/environ
ls /root
sed -n p /etc/passwd
grep -f /etc/passwd .
tar tf /etc/x
for f in /etc/*; do cat "$f"; done
for f in a /etc/passwd; do cat "$f"; done
cat "$f"
cd link && ls
strings @/etc/passwd
hexdump -f/etc/passwd a
wc --files0-f=/etc/passwd
du --files0=/etc/passwd
du --exclude-f=/etc/passwd .
jq -rf /etc/passwd .
jq -nL/etc 1
awk 'BEGIN{SYMTAB["ARGV"][1]="/etc/passwd"; SYMTAB["ARGC"]=2} 1'`;
		expect(await allowed([], reading.split("\n"))).toEqual([]);
	});
});
