import { describe, expect, it } from "vitest";
import { allows } from "./allowance.ts";
import { type CommandPattern, parseCommandPattern } from "./command-pattern.ts";
import { madeBy } from "./files-used.ts";
import { type GrantPrefix, grantPrefix } from "./grant-prefix.ts";
import { readScript } from "./read-script.ts";
import type { CommandReading } from "./script.ts";

async function commandOf(text: string): Promise<CommandReading> {
	const { commands } = await readScript(text, { cwd: "/work", home: "/home/u" });
	const [reading] = commands;
	if (reading === undefined) throw new Error(`no command in ${text}`);
	return reading;
}

const isAllowed = (pattern: CommandPattern, reading: CommandReading): boolean =>
	allows(
		{ pattern },
		reading,
		{ root: "/work", values: new Map(), made: madeBy([reading]), leaves: false, isInside: () => true },
		() => false,
	);

/** The pattern that allows what was granted. */
function patternOf({ tokens, isExact }: GrantPrefix): CommandPattern {
	return { kind: "tokens", tokens: tokens.map((text) => ({ kind: "literal", text, raw: text })), isPrefix: !isExact };
}

describe("a pattern for commands", () => {
	it.each([
		["git diff:*", "git diff", true],
		["git diff:*", "git diff x y", true],
		["git diff *", "git diff", true],
		["git diff *", "git diff x", true],
		["git diff:*", "git difftool", false],
		["git status", "git status", true],
		["git status", "git status -s", false],
		["git * --stat", "git diff --stat", true],
		["git * --stat", "git diff x --stat", false],
		["git 'a b'", "git a\\ b", true],
		["*", "anything at all", true],
		[":*", "anything at all", true],
		["/bin/ls:*", "/bin/ls x", true],
		["/bin/ls:*", "ls x", false],
		["ls:*", "/bin/ls x", false],
		["/work/run x", "./run x", true],
		["/work/run:*", "./run", true],
		["/work/run:*", "./run x", false],
		["./run:*", "./run", true],
		["./run:*", "./run x", false],
		["./gradlew:*", "./gradlew test", true],
		["./gradlew:*", "cd sub && ./gradlew test", false],
		["mytool:*", "mytool", true],
		["mytool:*", "mytool x", false],
		["timeout 5 npm:*", "timeout 5 npm test", true],
		["timeout 5 npm:*", "timeout 6 npm test", false],
		["xargs grep:*", "xargs grep -l x", true],
	])("%s allows %s: %s", async (text, script, expected) => {
		const reading = parseCommandPattern(text);
		if (!reading.ok) throw new Error(reading.reason);
		expect(isAllowed(reading.pattern, await commandOf(script))).toBe(expected);
	});

	it.each([
		["*rm*", "name the program"],
		["rm*", "rm:*"],
		["rm -rf*", "rm -rf:*"],
		["npm:run*", "write npm run:*"],
		["npm:* run", "at the end"],
		["npm run:*x", "at the end"],
		["* --version", "name of a program"],
		["git sta?us", "write git sta:*"],
		["git status; ls", "plain command"],
		["git status && ls", "plain command"],
		["ls > x", "plain command"],
		["echo $(x)", "plain command"],
		["echo $x", "plain command"],
		["echo `x`", "plain command"],
		["ls {a,b}", "plain command"],
		["git 'x", "quote"],
		['git "x', "quote"],
		["A=1 ls", "not with a variable"],
		["", "every command"],
		["''", "name of a program"],
	])("is refused with what to write instead: %s", (text, reason) => {
		expect(parseCommandPattern(text)).toMatchObject({ ok: false, reason: expect.stringContaining(reason) });
	});
});

describe("what an approval for the session stores", () => {
	it.each([
		["git status -s", ["git", "status"], false],
		['git commit -m "$x" src', ["git", "commit"], false],
		["pytest tests/a.py", ["pytest"], false],
		["touch a", ["touch"], false],
		["rm a", ["rm", "a"], true],
		["python3 -m pytest -x", ["python3", "-m", "pytest"], false],
		["npx tsc --noEmit", ["npx", "tsc"], false],
		["curl http://localhost", ["curl", "http://localhost"], true],
		["sudo ls", ["sudo", "ls"], true],
		["npm run build -- x", ["npm", "run", "build"], false],
		["npm test", ["npm", "test"], false],
		["cargo test --lib", ["cargo", "test"], false],
		["docker compose up -d", ["docker", "compose", "up"], false],
		["docker exec c sh", ["docker", "exec", "c", "sh"], true],
		["kubectl get pods", ["kubectl", "get"], false],
		["go test ./...", ["go", "test"], false],
		["pip install x", ["pip", "install"], false],
		["make all", ["make", "all"], false],
		["make", ["make"], true],
		["ls -la src", ["ls"], false],
		["cp -r a b", ["cp"], false],
		["git -C x status", ["git", "-C", "x", "status"], true],
		["git push --force", ["git", "push", "--force"], true],
		["git config alias.x '!y'", ["git", "config", "alias.x", "!y"], true],
		["./build.sh a", ["./build.sh", "a"], true],
		["python x.py", ["python", "x.py"], false],
		["npx x", ["npx", "x"], true],
	])("of %s: %j", async (script, tokens, isExact) => {
		const grant = grantPrefix(await commandOf(script), "/work");
		expect(grant).toEqual(isExact === null ? null : { tokens, isExact });
	});

	it.each(["$x y", "cp *", "SETTING=./x ls", "PATH=. git status", 'rm "$x"', "./a$b c"])(
		"is nothing for a command that is not certain: %s",
		async (script) => {
			expect(grantPrefix(await commandOf(script), "/work")).toBeNull();
		},
	);

	it.each([
		["git status -s", "git status", true],
		["git status -s", "git push", false],
		["git push", "git push --force", false],
		["git push --force", "git push --force", true],
		["git push --force", "git push --force x", false],
		["npm run build", "npm run build:all", false],
		["npm run build", "npm run build -- x", true],
		["npm run build", "SETTING=./x npm run build", false],
		["./build.sh", "./build.sh", true],
		["./build.sh", "/work/build.sh", true],
		["./build.sh", "build.sh", false],
		["rm '*' b", "rm x b", false],
		["rm '*' b", "rm '*' b", true],
	])("by %s covers %s: %s", async (granted, script, expected) => {
		const grant = grantPrefix(await commandOf(granted), "/work");
		if (grant === null) throw new Error("nothing was granted");
		expect(isAllowed(patternOf(grant), await commandOf(script))).toBe(expected);
	});
});
