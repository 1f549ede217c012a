// What a hostile script costs is counted in parts, not in time.
import * as shell from "unbash";
import { describe, expect, it } from "vitest";
import { type Budget, createBudget } from "./budget.ts";
import { parseCommandPattern } from "./command-pattern.ts";
import { judgeScript } from "./judge-script.ts";
import { readScript } from "./read-script.ts";
import type { CommandReading, ScriptReading } from "./script.ts";
import { ScriptReader } from "./script-reader.ts";

const place = { cwd: "/work", home: "/home/user" } as const;

/** As many as a script can have. */
const size = 16_384;
const repeat = (text: string) => text.repeat(Math.floor(size / text.length));
const nest = (before: string, middle: string, after: string) => {
	const depth = Math.floor((size - middle.length) / (before.length + after.length));
	return before.repeat(depth) + middle + after.repeat(depth);
};

const hostile: Readonly<Record<string, string>> = {
	"wrappers of unknown options": repeat("taskset "),
	"forty wrappers of unknown options": `${"taskset ".repeat(40)}x`,
	"wrappers of unknown options of several kinds": repeat("taskset perf valgrind env "),
	"chains of wrappers of unknown options": repeat(`${"taskset ".repeat(100)};`),
	"commands with many words": repeat("taskset a b c d e f g h i j k l;"),
	"wrappers that give words to a shell": repeat("xterm 'a b' "),
	"many wrappers that give words to a shell": `${"xterm ".repeat(64)}${repeat("'a b' ").slice(0, -390)}`,
	"older options": `tar ${"I".repeat(8000)}${" a".repeat(4000)}`,
	wrappers: repeat("sudo "),
	"chains of wrappers": repeat(`${"env A=1 ".repeat(90)}x;`),
	"wrappers that split": repeat("env -S "),
	"wrappers that read": repeat("xargs "),
	"wrappers that join": repeat("parallel "),
	"scripts within scripts": repeat("eval "),
	"scripts that are watched": repeat("watch "),
	"users of users": repeat("su a "),
	searches: repeat("find -exec "),
	commands: repeat("a;"),
	"commands in a pipeline": repeat("a|"),
	substitutions: `a ${"$(b) ".repeat(3000)}`,
	"expansions in quotes in expansions": `a ${'"${a:-'.repeat(1500)}x${'}"'.repeat(1500)}`,
	"indexes in indexes": `a ${"${a[".repeat(2000)}1${"]}".repeat(2000)}`,
	"replacements in replacements": `a ${repeat("${a//b/").slice(0, -10)}`,
	groups: nest("{ ", "a", ";}"),
	"loops that move": nest("while cd a;do ", "a", ";done"),
	arithmetic: `echo $((${"1+".repeat(8000)}1))`,
	"here-documents": repeat("<<a\n"),
};

function countingBudget(): { readonly budget: Budget; readonly count: () => number } {
	const inner = createBudget(1, () => 0);
	let count = 0;
	return {
		budget: {
			...inner,
			visit(parts = 1) {
				count += parts;
				inner.visit(parts);
			},
		},
		count: () => count,
	};
}

function wordsOf(readings: readonly CommandReading[]): number {
	return readings.reduce((sum, { command, inner }) => sum + command.words.length + wordsOf(inner?.commands ?? []), 0);
}

describe("the work on a script of 16 kB", () => {
	it.each(Object.entries(hostile))("of %s has a limit", async (_, text) => {
		const reading = countingBudget();
		const read = new ScriptReader(shell, place, reading.budget).read(text);
		// The part that exceeds the limit is counted, and not looked at.
		expect(reading.count()).toBeLessThan(50_000 + size);
		expect(wordsOf(read.commands)).toBeLessThan(60_000);
		const judging = countingBudget();
		await judgeScript(rules, place, read, () => "allow", judging.budget);
		expect(judging.count()).toBeLessThan(40_000);
	});
});

const pattern = parseCommandPattern("rm -rf:*");
const rules = {
	deny: pattern.ok ? [{ pattern: pattern.pattern }] : [],
	ask: [],
	allow: [{ pattern: { kind: "every" } as const }],
	allowsReadOnly: false,
};

/** A clock on which each look takes `milliseconds`. */
function slowClock(milliseconds: number): () => number {
	let now = 0;
	return () => {
		now += milliseconds;
		return now;
	};
}

describe("a script that takes too long", () => {
	const text = "a; b; c; d; rm -rf x; e";

	it("to read is doubted, and what was found of it counts", () => {
		const read = new ScriptReader(shell, place, createBudget(7, slowClock(1))).read(text);
		expect(read.doubts).toMatchObject([{ why: "judging the script takes too long" }]);
		expect(wordsOf(read.commands)).toBeGreaterThan(1);
	});

	it("to judge is asked about", async () => {
		const read = await readScript("a; b; c", place);
		const verdict = await judgeScript(rules, place, read, () => "allow", createBudget(4, slowClock(1)));
		expect(verdict).toMatchObject({ decision: "ask", why: "judging the script takes too long" });
	});

	it("to judge is denied nevertheless", async () => {
		const read = await readScript(text, place);
		const verdict = await judgeScript(rules, place, read, () => "allow", createBudget(2, slowClock(1)));
		expect(verdict).toMatchObject({ decision: "deny" });
	});

	it("because of the machine's other work is read", () => {
		const read: ScriptReading = new ScriptReader(shell, place, createBudget(100, slowClock(1000))).read("a; b");
		expect(read.doubts).toEqual([]);
	});
});

it("finds a program after many wrappers of unknown options", async () => {
	const read = await readScript(`${"taskset ".repeat(20)}rm -rf x`, place);
	expect(await judgeScript(rules, place, read, () => "allow")).toMatchObject({ decision: "deny" });
});

it("doubts a wrapper of unknown options whose program may be any of many words", async () => {
	const read = await readScript(`firejail ${"-a b ".repeat(40)} rm -rf x`, place);
	expect(read.doubts).not.toEqual([]);
});
