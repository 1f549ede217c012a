// Cases of the wedge campaign: the tools that read and change files.
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { symlinkSync, truncateSync } from "node:fs";
import path from "node:path";
import type { Case, Scene, World } from "./case.ts";
import { calling } from "./cases-search.ts";
import { callTools } from "./loopback.ts";
import { fill, list } from "./texts.ts";

const read = (name: string, reached: RegExp, set: (world: World) => object): Case => ({
	area: "ReadFile",
	name,
	reached,
	set: (world) => calling("ReadFile", set(world)),
});

const write = (name: string, reached: RegExp, set: (world: World) => object): Case => ({
	area: "WriteFile",
	name,
	reached,
	set: (world) => calling("WriteFile", set(world)),
});

const replace = (name: string, reached: RegExp, set: (world: World) => object): Case => ({
	area: "StrReplaceFile",
	name,
	reached,
	set: (world) => calling("StrReplaceFile", set(world)),
});

/** Numbered lines. */
const numbered = (size: number, mark = "") => list(size, (number) => `line ${number} ${mark}`, "\n");

const readCases: readonly Case[] = [
	read("one line of a megabyte", /ReadFile ok/, ({ stage, size }) => ({
		path: stage.write("a.txt", fill("word ", size)),
	})),
	read("nothing but line breaks", /ReadFile ok/, ({ stage, size }) => ({
		path: stage.write("a.txt", fill("\n", size)),
	})),
	read("the last lines of a megabyte of them", /ReadFile ok/, ({ stage, size }) => {
		return { path: stage.write("a.txt", fill("ab\n", size)), line_offset: -1000 };
	}),
	read("an offset beyond all numbers", /ReadFile (ok|error)/, ({ stage, size }) => {
		return { path: stage.write("a.txt", fill("ab\n", size)), line_offset: Number.MAX_SAFE_INTEGER, n_lines: 1000 };
	}),
	read("a hole of ten gigabytes", /ReadFile (ok|error)/, ({ stage }) => {
		const file = stage.write("hole.txt", "begin\n");
		truncateSync(file, 10 * 1024 ** 3);
		return { path: file };
	}),
	read("the last lines of a hole of ten gigabytes", /ReadFile (ok|error)|cancelled/, ({ stage }) => {
		const file = stage.write("hole.txt", "begin\n");
		truncateSync(file, 10 * 1024 ** 3);
		return { path: file, line_offset: -10 };
	}),
	read("bytes that are no text", /ReadFile (ok|error)/, ({ stage, size, random }) => {
		return {
			path: stage.write(
				"a.txt",
				Uint8Array.from({ length: size }, () => 128 + random.below(128)),
			),
		};
	}),
	read("half surrogates and odd line ends", /ReadFile ok/, ({ stage, size }) => {
		return { path: stage.write("a.txt", Buffer.from(fill("\u2028\u2029\r\ud83d\ude00\u0085\f\v", size))) };
	}),
	read("a pipe that nobody writes to", /ReadFile error/, ({ stage }) => {
		const file = path.join(stage.workDir, "pipe");
		execFileSync("mkfifo", [file]);
		return { path: file };
	}),
	// Some systems have nothing to read there.
	read("/proc/kmsg", /ReadFile (ok|error)/, () => ({ path: "/proc/kmsg" })),
	read("/dev/zero", /ReadFile error/, () => ({ path: "/dev/zero" })),
	read("/proc/self/mem", /ReadFile error/, () => ({ path: "/proc/self/mem" })),
	read("/proc/self/pagemap", /ReadFile (ok|error)/, () => ({ path: "/proc/self/pagemap" })),
	read("a ring of links", /ReadFile error/, ({ stage }) => {
		symlinkSync("b", path.join(stage.workDir, "a"));
		symlinkSync("a", path.join(stage.workDir, "b"));
		return { path: "a" };
	}),
	read("a path that is a megabyte", /ReadFile error/, ({ size }) => ({ path: fill("../x/", size) })),
	{
		area: "ReadFile",
		name: "forty large files at once",
		reached: /ReadFile ok.*ReadFile ok/,
		set({ stage, size }) {
			const calls = Array.from({ length: 40 }, (_, number) => ({
				name: "ReadFile",
				arguments: { path: stage.write(`${number}.txt`, fill(`${number} word `, size)) },
			}));
			return { answers: [callTools(...calls)] };
		},
	},
];

const writeCases: readonly Case[] = [
	write("a megabyte of other lines", /WriteFile ok/, ({ stage, size }) => {
		return { path: stage.write("a.txt", numbered(size)), content: numbered(size, "changed") };
	}),
	write("a megabyte in which every second line differs", /WriteFile ok/, ({ stage, size }) => {
		const mixed = list(size, (number) => (number % 2 === 0 ? `line ${number} ` : `other ${number}`), "\n");
		return { path: stage.write("a.txt", numbered(size)), content: mixed };
	}),
	write("a megabyte of the same lines in another order", /WriteFile ok/, ({ stage, size }) => {
		const lines = numbered(size).split("\n");
		return { path: stage.write("a.txt", lines.join("\n")), content: lines.toReversed().join("\n") };
	}),
	write("two lines again and again, shifted by one", /WriteFile ok/, ({ stage, size }) => {
		return { path: stage.write("a.txt", fill("a\nb\n", size)), content: fill("b\na\na\n", size) };
	}),
	write("one line of a megabyte in place of another", /WriteFile ok/, ({ stage, size }) => {
		return { path: stage.write("a.txt", fill("ab", size)), content: fill("ba ", size) };
	}),
	write("a megabyte of line breaks at the end", /WriteFile ok/, ({ stage, size }) => {
		return { path: stage.write("a.txt", fill("\n", size)), content: fill("\n", size), mode: "append" };
	}),
	write("returns and line feeds mixed", /WriteFile ok/, ({ stage, size }) => {
		return { path: stage.write("a.txt", fill("a\r\n", size)), content: fill("a\r\r\n", size) };
	}),
	write("a pipe that nobody reads", /WriteFile error/, ({ stage }) => {
		const file = path.join(stage.workDir, "pipe");
		execFileSync("mkfifo", [file]);
		return { path: file, content: "hello" };
	}),
	write("/dev/full", /WriteFile error/, ({ size }) => ({ path: "/dev/full", content: fill("a", size) })),
	write("a path that is a megabyte", /WriteFile error/, ({ size }) => ({ path: fill("x/", size), content: "" })),
	write("a name that is too long", /WriteFile error/, () => ({ path: "x".repeat(256), content: "" })),
];

const replaceCases: readonly Case[] = [
	replace("edits that double a text", /StrReplaceFile error/, ({ stage }) => {
		const edit = Array.from({ length: 40 }, () => ({ old: "a", new: "aa", replace_all: true }));
		return { path: stage.write("a.txt", "a"), edit };
	}),
	replace("every letter becomes a long text", /StrReplaceFile error/, ({ stage, size }) => {
		const half = Math.floor(size / 2);
		return { path: stage.write("a.txt", fill("a", half)), edit: { old: "a", new: fill("b", half), replace_all: true } };
	}),
	replace("every second letter of a megabyte", /StrReplaceFile ok/, ({ stage, size }) => {
		return { path: stage.write("a.txt", fill("ab", size)), edit: { old: "a", new: "c", replace_all: true } };
	}),
	replace("every line of a megabyte", /StrReplaceFile ok/, ({ stage, size }) => {
		return { path: stage.write("a.txt", fill("a\n", size)), edit: { old: "a", new: "b", replace_all: true } };
	}),
	replace("ten thousand edits of a megabyte", /StrReplaceFile (ok|error)/, ({ stage, size }) => {
		const edit = Array.from({ length: 10_000 }, (_, number) => ({ old: `line ${number} `, new: `row ${number} ` }));
		return { path: stage.write("a.txt", numbered(size)), edit };
	}),
	replace("ten thousand edits that find nothing until the last", /StrReplaceFile error/, ({ stage, size }) => {
		const edit = Array.from({ length: 10_000 }, () => ({ old: `${"a".repeat(50)}b`, new: "c" }));
		return { path: stage.write("a.txt", fill("a", size)), edit };
	}),
	replace("a text that is nearly there everywhere", /StrReplaceFile error/, ({ stage, size }) => {
		const half = Math.floor(size / 2);
		return { path: stage.write("a.txt", fill("a", size)), edit: { old: `${fill("a", half)}b`, new: "" } };
	}),
	replace("an empty text", /StrReplaceFile (ok|error)/, ({ stage, size }) => {
		return { path: stage.write("a.txt", fill("a", size)), edit: { old: "", new: "b", replace_all: true } };
	}),
	replace("a text found half a million times", /StrReplaceFile error/, ({ stage, size }) => {
		return { path: stage.write("a.txt", fill("ab", size)), edit: { old: "ab", new: "c" } };
	}),
];

const otherCases: readonly Case[] = [
	{
		area: "SetTodoList",
		name: "a title of a megabyte",
		reached: /SetTodoList ok/,
		set: ({ size }) => calling("SetTodoList", { todos: [{ title: fill("do it ", size), status: "pending" }] }),
	},
	{
		area: "SetTodoList",
		name: "twenty thousand todos",
		reached: /SetTodoList ok/,
		set: ({ size }) => {
			const todos = Array.from({ length: Math.ceil(size / 50) }, (_, number) => ({
				title: `${number}`,
				status: "done",
			}));
			return calling("SetTodoList", { todos });
		},
	},
	{
		area: "plan",
		name: "a plan of a megabyte",
		reached: /WriteFile ok.*ExitPlanMode ok/,
		set: ({ size, stage }): Scene => {
			const id = randomUUID();
			stage.writeSession(id, {
				"context.jsonl": '{"role":"_system_prompt","content":"You help."}\n{"role":"user","content":"why?"}\n',
				"state.json": JSON.stringify({ plan_mode: true, plan_slug: "hostile" }),
			});
			const plan = stage.writeShared("plans/hostile.md", fill("think\n", size));
			return {
				dialect: "wire",
				flags: ["--session", id],
				answers: [
					callTools({ name: "WriteFile", arguments: { path: plan, content: fill("- do it\n", size) } }),
					callTools({
						name: "ExitPlanMode",
						arguments: { options: [{ label: fill("a", size), description: fill("b", size) }] },
					}),
				],
			};
		},
	},
];

export const fileCases: readonly Case[] = [...readCases, ...writeCases, ...replaceCases, ...otherCases];
