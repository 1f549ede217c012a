// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are scripts for a shell.
// Arithmetic runs commands that are in the value of a variable: it is only certain where no variable can hold any.
import { describe, expect, it } from "vitest";
import { readScript } from "./read-script.ts";

const place = { cwd: "/work", home: "/home/user" } as const;
const doubtsOf = async (script: string) => (await readScript(script, place)).doubts.map(({ why }) => why);

describe("what computes with numbers of the script only has no doubt", () => {
	it.each([
		"i=1; echo $((i+1))",
		"i=1\necho $(( $i * 2 )) ${i} $[i-1]",
		"i=0; while [ $i -lt 5 ]; do ls; i=$((i+1)); done",
		"i=0; while [[ $i -lt 5 ]]; do ls; ((i++)); done",
		"for ((i=0; i<5; i++)); do echo $((i*2)); done; echo $i",
		"for ((i = 0; i < 5; i += 2)); do for ((j=0; j<i; j++)); do ls; done; done",
		"n=3; for i in 1 2 3; do ls; done; echo $((n-1))",
		"i=-1 j=2; f() { echo $((i+j)); }; f",
		"i=1; x=$(ls); echo $((10#$i))",
		"i=1; echo $(echo $((i)))",
		"i=1; read line; echo $((i))",
	])("%j", async (script) => {
		expect(await doubtsOf(script)).toEqual([]);
	});
});

describe("what may compute with anything else has a doubt", () => {
	it.each([
		["nothing that is assigned", "echo $((i+1))"],
		["what is assigned later", "echo $((i)); i=1"],
		["what is assigned in one of two ways", "[ x ] && i=1; echo $((i))"],
		["what is assigned in a branch", "if ls; then i=1; fi; echo $((i))"],
		["what is assigned in a shell of its own", "(i=1); echo $((i))"],
		["what is assigned in the background", "i=1 & echo $((i))"],
		["what is assigned for one command", "i=1 ls; echo $((i))"],
		["what is assigned in a function", "f() { i=1; }; echo $((i))"],
		["what is assigned in another script", "bash -c 'i=1'; echo $((i))"],
		["what the other script did not get", "i=1; bash -c 'echo $((i))'"],
		["another value before", "i=1; i='a[$(rm x)]'; echo $((i))"],
		["another value after, in a loop", "i=1; while ls; do echo $((i)); i=$x; done"],
		["a value of an expansion", "i=1; : ${i:=$x}; echo $((i))"],
		["a value of a loop", "i=1; for i in 'a[$(rm x)]'; do echo $((i)); done"],
		["a value of the words of the script", "i=1; for i; do echo $((i)); done"],
		["a value that is read", "i=1; read i; echo $((i))"],
		["a value that is read by its quoted name", "i=1; read $'\\x69'; echo $((i))"],
		["a value that is read with options", "i=1; read -ri; echo $((i))"],
		["a value that is printed", "i=1; printf -v i %s 'a[$(rm x)]'; echo $((i))"],
		["a value that is printed, attached", "i=1; printf -vi %s x; echo $((i))"],
		["a value that is declared", "i=1; declare i='a[$(rm x)]'; echo $((i))"],
		["a value that is exported by its wrapper", "i=1; command export i=$x; echo $((i))"],
		["a value that is evaluated", "i=1; eval 'i=$x'; echo $((i))"],
		["a value at a signal", "i=1; trap 'i=$x' INT; echo $((i))"],
		["a value of a file", "i=1; . ./x; echo $((i))"],
		["a list", "i=1; i=(a); echo $((i))"],
		["an index", "i=1; echo $((a[i]))"],
		["a value that is appended", "i=1; i+=$x; echo $((i))"],
		["a value that computes with another", "i=1; i=$((j)); echo $((i))"],
		["a variable of the shell", "_=1; ls 'a[$(rm x)]'; echo $((_))"],
		["a variable in capitals", "I=1; echo $((I))"],
		["a counter that begins with another variable", "for ((i=j; i<5; i++)); do ls; done"],
		["a counter without a beginning", "for ((; i<5; i++)); do ls; done"],
		["a counter after a loop in a branch", "ls && for ((i=0; i<5; i++)); do ls; done; echo $((i))"],
		["a test of a variable", "[[ $i -lt 5 ]]"],
		["quotes", "i=1; echo $(('i'))"],
		["a substitution", "i=1; echo $((i+$(ls)))"],
	])("%s", async (_, script) => {
		expect(await doubtsOf(script)).not.toEqual([]);
	});
});
