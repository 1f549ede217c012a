// biome-ignore-all lint/suspicious/noTemplateCurlyInString: scripts are written so.
// Scripts that the parser reads otherwise than bash, or that evaluate what looks like data: each has a doubt.
import { describe, expect, it } from "vitest";
import { readScript } from "./read-script.ts";

const place = { cwd: "/work", home: "/home/user" } as const;

describe("a script has a doubt", () => {
	it.each([
		["that replaces with a substitution, which the parser cuts at its slash", "echo ${HOME/$(ls a/b; rm x)/y}"],
		["that replaces with a substitution that has another one", "echo ${HOME/$(ls $(pwd)/b; rm x)/y}"],
		["that replaces with backticks", "echo ${HOME/`ls a/b; rm x`/y}"],
		["whose program follows a closed output", ">&-rm x"],
		["whose program follows a closed input", "<&-rm x"],
		["with a word after a closed descriptor", "ls 2>&-rm"],
		["whose program follows two ends of options of time", "time -- -- rm x"],
		["with a word behind the process substitution of an input", "< <(ls)# rm x"],
		["with a word behind the process substitution of an output", ">&>(ls)b rm x"],
		["with a word behind the process substitution of a here-string", "<<<<(ls)'' rm x"],
		["whose descriptor is an index", ": {a['$(rm x)']}>/dev/null"],
		["whose sh gets a redirection of bash", "sh -c 'p &>f rm x'"],
		["whose sh gets a string of bash", "sh -c 'rm $\"x\"'"],
		["with two parentheses that are no arithmetic", "((rm x); ls)"],
		["that counts with a variable", "c='a[$(rm x)]'; for ((c;;)); do :; done"],
		["with a coprocess", "coproc N ! rm x"],
		["with a reserved word after a redirection", "</dev/null ! rm x"],
		["that declares a quoted list", "declare -a 'a=($(rm x))'"],
		["that exports a quoted list", "export 'a=($(rm x))'"],
		["that runs its own input as a file", "source /dev/stdin <<< 'rm x'"],
		["that runs a descriptor", ". /proc/self/fd/0 <<< 'rm x'"],
		["whose shell reads a descriptor as a file", "echo rm x | bash /dev/stdin"],
		["whose loop sets where programs are found", "for PATH in ./x; do ls; done"],
		["whose menu sets where programs are found", "select PATH in ./x; do ls; done"],
		["whose loop sets the home directory", "for HOME in ./x; do git log; done"],
		["whose descriptor sets where programs are found", "exec {PATH}>/dev/null; ls"],
		["whose descriptor of a group sets where programs are found", "{ ls; } {PATH}>/dev/null; ls"],
		["with two lines of a comment in backticks, which the shell joins", "echo `#\\\nrm x`"],
		["with two lines of quotes in backticks, which the shell joins", "echo `'r\\\nm' x`"],
		["with two lines of nested backticks", 'echo "$(ls `#\\\nrm x`)"'],
		["whose expansion decodes a substitution", "echo \"${x:-$'\\x24(rm x)'}\""],
		["whose expansion in quotes has a substitution in quotes", "echo \"a${x+$'$(rm x)'}\""],
		["whose here-document has an expansion with such quotes", "cat <<E\n${x+$'$(rm x)'}\nE\n"],
		["whose program has a mark of the shell in it", "$'\\x01' x"],
		["whose expansion sets the pager", ": ${GIT_PAGER:=./x}; git log"],
	])("%s", async (_, script) => {
		expect((await readScript(script, place)).doubts).not.toEqual([]);
	});
});

it.each([
	["is not read", "#".repeat(20_000)],
	["is read", "$x "],
])("the text of a doubt over a script that %s is cut, but no character of it", async (_, script) => {
	for (const shift of ["", "x"]) {
		const { doubts } = await readScript(`${shift}${"😀".repeat(150)}${script}`, place);
		expect(doubts[0]?.text.length).toBeGreaterThan(190);
		expect(doubts.map(({ text }) => text).join("")).not.toMatch(/\p{Surrogate}/u);
	}
});

it.each([
	"ls >&- x",
	"ls 2>&1",
	"ls 2>&1-",
	"echo ${HOME/a/b}",
	"declare -a 'a=(x)'",
	"echo `a` $(b)",
	"echo `a\nb` \\\n $(#\\\nb)",
	"for i in a; do ls; done",
	"echo ${a:=b}",
	"echo \"${a%$'\\n'}\" ${b#$'\\t'}",
])("%j has no doubt", async (script) => {
	expect((await readScript(script, place)).doubts).toEqual([]);
});
