// Cases of the wedge campaign: the tools that search for files and in them.
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Case, Scene, World } from "./case.ts";
import { callTools } from "./loopback.ts";
import { fill, list } from "./texts.ts";

/** A session whose model makes one call. */
export function calling(name: string, given: object | string): Scene {
	return { answers: [callTools({ name, arguments: given })] };
}

const glob = (name: string, reached: RegExp, set: (world: World) => object): Case => ({
	area: "Glob",
	name,
	reached,
	set: (world) => calling("Glob", set(world)),
});

const grep = (name: string, reached: RegExp, set: (world: World) => object): Case => ({
	area: "Grep",
	name,
	reached,
	set: (world) => calling("Grep", set(world)),
});

/** So many files in one directory. */
function fillDirectory({ stage }: World, count: number): void {
	const directory = path.join(stage.workDir, "many");
	mkdirSync(directory);
	for (let number = 0; number < count; number += 1) writeFileSync(path.join(directory, `file-${number}.txt`), "");
}

export const searchCases: readonly Case[] = [
	glob("stars against a long name", /Glob ok/, ({ stage }) => {
		stage.write("a".repeat(100), "");
		return { pattern: `${"*a".repeat(12)}*b` };
	}),
	glob("stars against dashes", /Glob ok/, ({ stage }) => {
		stage.write("-".repeat(72), "");
		return { pattern: "*-*-*-*-*-*-*-*.md" };
	}),
	glob("sets and stars against a long name", /Glob ok/, ({ stage }) => {
		stage.write("a".repeat(250), "");
		return { pattern: `${"*[a-z]".repeat(40)}b` };
	}),
	glob("a pattern of stars and letters", /Glob (ok|error)/, ({ size }) => ({ pattern: fill("*a", size) })),
	glob("a pattern of brackets", /Glob (ok|error)/, ({ size }) => ({ pattern: fill("[a", size) })),
	glob("a pattern of nested braces", /Glob (ok|error)/, ({ size }) => ({ pattern: fill("{a,", size) })),
	glob("a pattern of doubling braces", /Glob (ok|error)/, () => ({ pattern: "{a,b}".repeat(40) })),
	glob("a pattern of directories", /Glob (ok|error)/, ({ size }) => ({ pattern: `src/${fill("*/", size)}` })),
	glob("double stars through deep directories", /Glob (ok|error)/, ({ stage }) => {
		mkdirSync(path.join(stage.workDir, "src", ..."d".repeat(300).split("")), { recursive: true });
		return { pattern: `src/${"**/d/".repeat(20)}**/x` };
	}),
	glob("double stars through wide directories", /Glob (ok|error)/, (world) => {
		for (let number = 0; number < 300; number += 1) {
			mkdirSync(path.join(world.stage.workDir, "src", `a${number}`, "b", "c", "d"), { recursive: true });
		}
		return { pattern: `src/${"**/*/".repeat(12)}x` };
	}),
	glob("a directory of 20000 files", /Glob (ok|error)/, (world) => {
		fillDirectory(world, 20_000);
		return { pattern: "many/*-*-*" };
	}),
	glob("links in a ring", /Glob (ok|error)/, ({ stage }) => {
		mkdirSync(path.join(stage.workDir, "src"));
		for (const name of ["a", "b", "c", "d"]) symlinkSync("..", path.join(stage.workDir, "src", name));
		return { pattern: "src/**/*.ts" };
	}),
	grep("a doubled repetition against as", /Grep ok/, ({ stage, size }) => {
		stage.write("long.txt", `${fill("a", size)}!`);
		return { pattern: "^(a+)+$", output_mode: "content" };
	}),
	grep("a repetition of a repetition", /Grep error/, () => ({ pattern: "((a{1000}){1000}){1000}" })),
	grep("a pattern of a million characters", /Grep (ok|error)/, ({ size, stage }) => {
		stage.write("some.txt", "aaa\n");
		return { pattern: fill("(a|b)?", size) };
	}),
	grep("a pattern of open brackets", /Grep error/, ({ size }) => ({ pattern: fill("(", size) })),
	grep("a glob of stars", /Grep (ok|error)/, ({ size }) => ({ pattern: "a", glob: fill("*a", size) })),
	grep("a glob of nested braces", /Grep (ok|error)/, () => ({
		pattern: "a",
		glob: `${"{a,".repeat(500)}b${"}".repeat(500)}`,
	})),
	grep("one line of a megabyte", /Grep ok/, ({ stage, size }) => {
		stage.write("long.txt", fill("match me ", size));
		return { pattern: "match", output_mode: "content", path: "long.txt", head_limit: 0 };
	}),
	grep("every line of a megabyte of them", /Grep ok/, ({ stage, size }) => {
		stage.write("lines.txt", fill("a\n", size));
		return { pattern: "a", output_mode: "content", head_limit: 0 };
	}),
	grep("context of two thousand million lines", /Grep (ok|error)/, ({ stage, size }) => {
		stage.write("lines.txt", fill("ab\n", size));
		return { pattern: "a", output_mode: "content", "-A": 2_147_483_647, "-B": 2_147_483_647, head_limit: 0 };
	}),
	grep("matches over all lines", /Grep ok/, ({ stage, size }) => {
		stage.write("lines.txt", fill("ab\n", size));
		return { pattern: "(?s).*", multiline: true, output_mode: "content", head_limit: 0 };
	}),
	grep("50000 files that match", /Grep ok/, (world) => {
		for (let number = 0; number < 5000; number += 1) world.stage.write(`many/${number}.txt`, "match\n");
		return { pattern: "match", head_limit: 0 };
	}),
	grep("a pipe that nobody writes to", /Grep (ok|error)/, ({ stage }) => {
		execFileSync("mkfifo", [path.join(stage.workDir, "pipe")]);
		return { pattern: "a", path: "pipe" };
	}),
	grep("a file of random bytes", /Grep (ok|error)/, () => ({ pattern: "a", path: "/dev/urandom" })),
	grep("a type that is a megabyte", /Grep error/, ({ size }) => ({ pattern: "a", type: fill("x", size) })),
	grep("a path that is a megabyte", /Grep error/, ({ size }) => ({ pattern: "a", path: fill("x/", size) })),
	grep("names with line breaks and colors", /Grep ok/, ({ stage }) => {
		for (let number = 0; number < 500; number += 1) stage.write(`\u001b[31m${number}\n:12:x`, "match\n");
		return { pattern: "match", output_mode: "content", head_limit: 0 };
	}),
	grep("a hundred thousand alternatives", /Grep (ok|error)/, ({ stage, size }) => {
		stage.write("some.txt", "w1\n");
		return { pattern: list(Math.min(size, 120_000), (number) => `w${number}`, "|") };
	}),
];
