import { describe, expect, it } from "vitest";
import { allows, type CommandPattern, parseCommandPattern } from "./command-pattern.ts";
import { type GrantPrefix, grantPrefix } from "./grant-prefix.ts";
import { readScript } from "./read-script.ts";
import type { SimpleCommand } from "./script.ts";

async function commandOf(text: string): Promise<SimpleCommand> {
	const { commands } = await readScript(text, { cwd: "/work", home: "/home/u" });
	const command = commands[0]?.command;
	if (command === undefined) throw new Error(`no command in ${text}`);
	return command;
}

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
		["/work/run:*", "./run x", true],
		["./run:*", "./run x", false],
	])("%s allows %s: %s", async (text, script, expected) => {
		const reading = parseCommandPattern(text);
		if (!reading.ok) throw new Error(reading.reason);
		expect(allows(reading.pattern, await commandOf(script))).toBe(expected);
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
		['git commit -m "$x" src', ["git", "commit", "-m", "x"], null],
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
		["cp -r a b", ["cp", "-r", "a", "b"], true],
		["git -C x status", ["git", "-C", "x", "status"], true],
		["git push --force", ["git", "push", "--force"], true],
		["git config alias.x '!y'", ["git", "config", "alias.x", "!y"], true],
		["./build.sh a", ["/work/build.sh", "a"], true],
		["python x.py", ["python", "x.py"], true],
		["npx x", ["npx", "x"], true],
	])("of %s: %j", async (script, tokens, isExact) => {
		const grant = grantPrefix(await commandOf(script));
		expect(grant).toEqual(isExact === null ? null : { tokens, isExact });
	});

	it.each(["$x y", "cp *", "FOO=1 ls", "PATH=. git status", 'rm "$x"', "./a$b c"])(
		"is nothing for a command that is not certain: %s",
		async (script) => {
			expect(grantPrefix(await commandOf(script))).toBeNull();
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
		["npm run build", "FOO=1 npm run build", false],
		["./build.sh", "./build.sh", true],
		["./build.sh", "/work/build.sh", true],
		["./build.sh", "build.sh", false],
		["cp '*' b", "cp x b", false],
		["cp '*' b", "cp '*' b", true],
	])("by %s covers %s: %s", async (granted, script, expected) => {
		const grant = grantPrefix(await commandOf(granted));
		if (grant === null) throw new Error("nothing was granted");
		expect(allows(patternOf(grant), await commandOf(script))).toBe(expected);
	});
});
