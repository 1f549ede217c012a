// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are scripts for a shell.
import { describe, expect, it } from "vitest";
import { readScript } from "./read-script.ts";
import type { CommandReading } from "./script.ts";

const place = { cwd: "/work", home: "/home/u" };

const read = (text: string) => readScript(text, place);

const argumentsOf = ({ command }: CommandReading) => command.words.map((word) => word.text);

/** Pseudo-random numbers from 0 to 1, the same for the same seed. */
function createRandom(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
		return state / 4_294_967_296;
	};
}

describe("reading a script", () => {
	it("finds every simple command with its decoded words, in the order written", async () => {
		const { commands, doubts } = await read('git \'a b\' "c\\"d" e\\ f; x=1 ls | wc -l && (true)');
		expect(commands.map(argumentsOf)).toEqual([["git", "a b", 'c"d', "e f"], ["ls"], ["wc", "-l"], ["true"]]);
		expect(commands[1]?.command.assignments).toEqual([{ name: "x", value: { kind: "literal", text: "1" } }]);
		expect(doubts).toEqual([]);
	});

	it("says of a dynamic word why it is dynamic, and whether it may be an option", async () => {
		const { commands } = await read('ls $x *.c a{b,c} ~root "x$y" "$y" ~/z');
		expect(commands[0]?.command.words.slice(1)).toEqual([
			{ kind: "dynamic", text: "$x", why: "a variable", mayBeOption: true },
			{ kind: "dynamic", text: "*.c", why: "a pattern for file names", mayBeOption: true },
			{ kind: "dynamic", text: "a{b,c}", why: "braces", mayBeOption: false },
			{ kind: "dynamic", text: "~root", why: "a tilde", mayBeOption: false },
			{ kind: "dynamic", text: '"x$y"', why: "a variable", mayBeOption: false, isOne: true },
			{ kind: "dynamic", text: '"$y"', why: "a variable", mayBeOption: true, isOne: true },
			{ kind: "literal", text: "/home/u/z" },
		]);
	});

	it("does not know the home directory in a script that sets it", async () => {
		const { commands } = await read("export H''OME=/x; ls ~/z");
		expect(commands[1]?.command.words[1]).toMatchObject({ kind: "dynamic", why: "a tilde" });
	});

	it("reads redirections to files, and leaves out those to descriptors", async () => {
		const { commands } = await read("a < in > out 2>&1 3>&- <&0 >& both <<< text <> two");
		expect(commands[0]?.command.redirects.map(({ operation, target }) => `${operation} ${target.text}`)).toEqual([
			"read in",
			"write out",
			"write both",
			"read two",
			"write two",
		]);
	});

	it.each([
		["cd src && a", "/work/src"],
		["cd /x && cd y/../z && a", "/x/z"],
		["cd && a", "/home/u"],
		["cd ~/p && a", "/home/u/p"],
		["(cd x); a", "/work"],
		["cd x; a", null],
		["cd x || exit 1; a", "/work/x"],
		["cd $x && a", null],
		["cd x && true; a", null],
		["if b; then cd x; else cd x; fi; a", null],
		["cd x && cd - && a", null],
		["f() { a; }", null],
	])("knows where a command runs: %s", async (text, cwd) => {
		const { commands } = await read(text);
		expect(commands.find((reading) => argumentsOf(reading)[0] === "a")?.command.cwd).toBe(cwd);
	});

	it("gives a wrapper what it runs, and says whether it changes anything", async () => {
		const { commands } = await read("timeout 5 env A=1 sh -c 'a; b'");
		const [outer] = commands;
		const [environment] = outer?.inner?.commands ?? [];
		const [shell] = environment?.inner?.commands ?? [];
		expect(outer?.inner?.isTransparent).toBe(true);
		expect(environment?.inner?.isTransparent).toBe(true);
		expect(shell?.command.assignments).toEqual([{ name: "A", value: { kind: "literal", text: "1" } }]);
		expect(shell?.inner?.isTransparent).toBe(true);
		expect(shell?.inner?.commands.map(argumentsOf)).toEqual([["a"], ["b"]]);
	});

	it("marks the commands that the script declares itself, wherever it does", async () => {
		const { commands } = await read("git status; git() { ls; }; bash -c 'git log'");
		expect(commands.filter(({ command }) => command.isDeclaredHere).map(argumentsOf)).toEqual([["git", "status"]]);
		expect(commands.at(-1)?.inner?.commands[0]?.command.isDeclaredHere).toBe(true);
	});

	it("keeps what it found when it stops early", async () => {
		const { commands, doubts } = await read(`a; b; ${"eval ".repeat(200)}c`);
		expect(commands.slice(0, 2).map(argumentsOf)).toEqual([["a"], ["b"]]);
		expect(doubts.length).toBeGreaterThan(0);
	});
});

describe("the limits of reading a script", () => {
	const attacks: Readonly<Record<string, string>> = {
		"100,000 nested substitutions": "$(".repeat(100_000),
		"nested substitutions within the size": "$(".repeat(8000),
		"closed nested substitutions": `${"echo $(".repeat(1500)}x${")".repeat(1500)}`,
		"nested groups": "{ ".repeat(8000),
		"nested braces": "{a,".repeat(5000),
		"nested parentheses": "(".repeat(16_000),
		"many here-documents": `cat ${"<<a ".repeat(4000)}`,
		"nested here-documents": "cat <<a\n$(".repeat(1500),
		backticks: "`".repeat(16_000),
		"nested quotes": '"$('.repeat(5000),
		"nested parameters": `echo ${"$".concat("{a:-").repeat(3000)}`,
		"nested arithmetic": "$((".repeat(5000),
		"nested conditions": "if a; then ".repeat(1300),
		"nested functions": "f(){ ".repeat(2500),
		"nested shells": "sh -c '".repeat(1000),
		"nested wrappers": `${"sudo ".repeat(3000)}x`,
		"wrappers of many forms": `${"taskset chrt numactl choom ".repeat(500)}x`,
		"nested finds": `find ${"-exec find ".repeat(1200)}`,
		"nested env": "env -S'".repeat(2000),
	};

	it.each(Object.entries(attacks))("asks about %s, soon", async (_, text) => {
		await read("true");
		const before = process.cpuUsage();
		const { doubts } = await read(text);
		const { user, system } = process.cpuUsage(before);
		expect(doubts.length).toBeGreaterThan(0);
		// The budget is 50 ms; other threads of the test process count too.
		expect((user + system) / 1000).toBeLessThan(2000);
	});

	it("asks about scripts of more than 16,384 characters, and reads those of as many", async () => {
		expect((await read(`echo ${"x".repeat(16_379)}`)).doubts).toEqual([]);
		expect((await read(`echo ${"x".repeat(16_380)}`)).doubts).toMatchObject([
			{ why: expect.stringContaining("too long") },
		]);
	});

	it("never throws and never takes long, whatever the script", async () => {
		const random = createRandom(7);
		const pieces = (
			"$( ) ` ' \" { } ( ) (( )) [[ ]] ; ;; & && | || < > << <<- <<< <( >( # \\ $ ${ $' $\" ! = += [ ] * ? ~ - -- , .. \n \t " +
			"a b rm x=1 if then else elif fi for in do done while until case esac select function coproc time eval exec sh -c env " +
			"-S sudo -u find -exec {} + xargs -I trap cd EOF <<EOF ${x:- ${!x} @P 2>&1 >f \r \u00a0 é 𝒳 \ud800"
		).split(" ");
		let slowest = 0;
		for (let round = 0; round < 3000; round += 1) {
			const length = 1 + Math.floor(random() * 40);
			const text = Array.from({ length }, () => {
				const blank = random() < 0.6 ? " " : "";
				return `${pieces[Math.floor(random() * pieces.length)]}${blank}`;
			}).join("");
			const before = process.cpuUsage();
			const reading = await read(text);
			const { user, system } = process.cpuUsage(before);
			slowest = Math.max(slowest, (user + system) / 1000);
			expect(Array.isArray(reading.commands)).toBe(true);
		}
		expect(slowest).toBeLessThan(2000);
	});
});
