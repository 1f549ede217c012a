// biome-ignore-all lint/suspicious/noTemplateCurlyInString: scripts are written so.
// Command lines that do more than the words which a rule allows: none of them is allowed.
import { describe, expect, it } from "vitest";
import { type CommandPattern, parseCommandPattern } from "./command-pattern.ts";
import { judgeScript } from "./judge-script.ts";
import { readScript } from "./read-script.ts";

const place = { cwd: "/work", home: "/home/u" };

function patternOf(text: string): { readonly pattern: CommandPattern } {
	const reading = parseCommandPattern(text);
	if (!reading.ok) throw new Error(reading.reason);
	return { pattern: reading.pattern };
}

/** Judges with a rule for the program that the script runs last, and for commands that only read. */
async function judge(script: string, decision: "allow" | "deny", ...patterns: readonly string[]) {
	const rules = { allow: [], ask: [], deny: [], allowsReadOnly: decision === "allow" };
	const reading = await readScript(script, place);
	const judged = { ...rules, [decision]: patterns.map(patternOf) };
	return (await judgeScript(judged, place, reading, () => "allow")).decision;
}

describe("a rule does not allow", () => {
	it.each([
		["a shell of its own for npm", "export npm_config_script_shell=./x; npm test", "npm test"],
		["a shell of its own for yarn", "export yarn_script_shell=./x; yarn test", "yarn test"],
		["options of node through npm", "declare -x npm_config_node_options=--require=./x; npm test", "npm test"],
		["a program of rg after a pattern of two dashes", "rg -e -- --pre ./x .", "rg:*"],
		["a pager of git after a pattern of two dashes", "git grep -e -- -O./x", "git:*"],
		["a program of a remote after an option of two dashes", "git ls-remote -o -- --upload-pack=./x .", "git:*"],
		["a file of sort after a list of two dashes", "sort --files0-from -- -o f", "sort:*"],
		["a file of curl after a header of two dashes", "curl -H -- -o f http://x", "curl:*"],
		["an action of tar after an archive of two dashes", "tar cf -- --checkpoint-action=exec=./x .", "tar:*"],
		["a change by sed after a length of two dashes", "sed -l -- -i s/a/b/ f", "sed:*"],
		["a shortened option with a script of sed", "sed --expr='1e touch x' p f", "sed:*"],
		["an option with a script among others of sed", "sed -be'1e touch x' p f", "sed:*"],
		["a program of awk with a variable", `x='system("touch p")'; awk "BEGIN{$x}"`, "awk:*"],
		["an option of awk for its program", "awk -W exec=./x", "awk:*"],
		["a subcommand that a brace makes", "git bisect ru{n,} ./x", "git:*"],
		["a subcommand that a file name makes", "git bisect r?n ./x", "git:*"],
		["a subcommand that a variable ends", "x=each; git submodule for${x} ./x", "git submodule:*"],
		["a variable of make with a variable", 'x=./x; make "SHELL=$x"', "make:*"],
		["a statement of sqlite with a variable", `x=y; sqlite3 db "select $x"`, "sqlite3:*"],
		["a file of curl in its format", "curl -w '%output{f}' http://x", "curl:*"],
		["a command of less in an option", "less '-c+!x' f", "less:*"],
		["a bundle of git in any file", "git bundle create f HEAD", "git:*"],
		["marks of git in any file", "git fast-export --export-marks=f HEAD", "git:*"],
		["an index of git in any file", "git read-tree --index-output=f HEAD", "git:*"],
		["a checkout of git in any directory", "git checkout-index -a --prefix=/x/", "git:*"],
		["the files that git restores as well as what is staged", "git restore --staged --worktree a", "git add:*"],
		["what git stages from another commit", "git restore --staged --source=x a", "git add:*"],
		["a report of pytest in any file", "pytest --junitxml=f", "pytest:*"],
	])("%s", async (_, script, pattern) => {
		expect(await judge(script, "allow", pattern)).not.toBe("allow");
	});
});

describe("a rule still allows", () => {
	it.each([
		["git log -n 3 -- src", "git log:*"],
		["git diff --stat -- src", "git diff:*"],
		["rg -n -- foo src", "rg:*"],
		["sed -n -e 1p -- f", "sed:*"],
		["sed -E 's/a/b/' f", "sed:*"],
		["find . -name '*.ts'", "find:*"],
		["awk -F: '{print $1}' f", "awk:*"],
		["tar cf a.tar src", "tar:*"],
		["tar xf a.tar", "tar xf:*"],
		["tar zxf a.tar", "tar zxf:*"],
		["tar -xf a.tar", "tar -xf:*"],
		["git restore --staged a.ts", "git add:*"],
		["python3 /opt/x.py --flag", "python3 /opt/x.py:*"],
		["curl -w '%{http_code}' http://x", "curl:*"],
		["less -R f", "less:*"],
	])("%s", async (script, pattern) => {
		expect(await judge(script, "allow", pattern)).toBe("allow");
	});
});

describe("a rule denies", () => {
	it.each([["an option after a value of two dashes", "git push -o -- --force", "git push --force:*"]])(
		"%s",
		async (_, script, pattern) => {
			expect(await judge(script, "deny", pattern)).toBe("deny");
		},
	);
});
