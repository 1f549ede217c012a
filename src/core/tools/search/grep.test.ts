import { existsSync } from "node:fs";
import { mkdir, symlink, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { longestPause, shortestPause } from "../../../../test/support/host/pauses.ts";
import {
	briefOf,
	call,
	createToolPlace,
	prepareCall,
	type ToolPlace,
} from "../../../../test/support/host/tool-environment.ts";
import type { Processes, RunOutcome, RunRequest } from "../../../ports/processes/port.ts";
import type { Tool } from "../tool.ts";
import { createGlob } from "./glob.ts";
import { createGrep } from "./grep.ts";
import { findRipgrep } from "./ripgrep.ts";

let place: ToolPlace;
let grep: Tool;
beforeEach(async () => {
	place = await createToolPlace();
	grep = createGrep(place.environment);
});
afterEach(() => place.remove());

/** Writes a file whose age in seconds counts back from a fixed time. */
async function write(name: string, content: string, age = 0): Promise<void> {
	const file = place.at("work", name);
	await mkdir(path.dirname(file), { recursive: true });
	await writeFile(file, content);
	await utimes(file, 1_700_000_000 - age, 1_700_000_000 - age);
}

const outputOf = async (value: object) => String((await call(grep, value)).output).split("\n");

describe("Grep", () => {
	it("lists files, newest first", async () => {
		await write("old.ts", "needle", 20);
		await write("src/new.ts", "needle");
		await write("src/middle.py", "needle", 10);
		await write("other.ts", "hay");
		expect(await call(grep, { pattern: "needle" })).toEqual({
			is_error: false,
			output: "src/new.ts\nsrc/middle.py\nold.ts",
			message: "Found 3 files.",
			display: [],
			extras: null,
		});
		expect(await outputOf({ pattern: "needle", path: "src" })).toEqual(["new.ts", "middle.py"]);
		expect(await outputOf({ pattern: "needle", type: "py" })).toEqual(["src/middle.py"]);
		expect(await outputOf({ pattern: "needle", glob: "*.ts" })).toEqual(["src/new.ts", "old.ts"]);
		expect(await outputOf({ pattern: "needle", path: "src/new.ts" })).toEqual(["new.ts"]);
		expect(await outputOf({ pattern: "needle", path: place.at("work", "src"), glob: "**/n*" })).toEqual(["new.ts"]);
	});

	it("is judged by the name of a link as well, like Glob", async () => {
		await mkdir(place.at("work", "real"));
		await symlink(place.at("work", "real"), place.at("work", "link"));
		const link = place.at("work", "link");
		const subjects = [{ kind: "file", operation: "read", path: place.at("work", "real"), named: link }];
		for (const [tool, value] of [
			[grep, { pattern: "a", path: "link" }],
			[createGlob(place.environment), { pattern: "*", directory: link }],
		] as const) {
			expect((await prepareCall(tool, value)).approval).toMatchObject({ subjects });
		}
		const plain = { kind: "file", operation: "read", path: place.at("work", "real") };
		expect((await prepareCall(grep, { pattern: "a", path: "real" })).approval?.subjects).toEqual([plain]);
	});

	it.each([
		["pattern", "a\0b", "The pattern has a NUL character."],
		["glob", "*\0", "The glob has a NUL character."],
		["pattern", "x".repeat(100_001), "The pattern is longer than 100000 bytes."],
	])("refuses a %s that a command line cannot contain", async (name, text, message) => {
		expect(await call(grep, { pattern: "a", [name]: text })).toMatchObject({ is_error: true, message });
	});

	it("shows content with numbers and context", async () => {
		await write("b.txt", "one\ntwo\nthree\nfour\nfive\nsix\ntwo\r\n");
		await write("a.txt", "TWO\n");
		const content = { pattern: "two", output_mode: "content" };
		expect(await outputOf(content)).toEqual(["b.txt:2:two", "b.txt:7:two"]);
		expect(await outputOf({ ...content, "-n": false, "-i": true })).toEqual(["a.txt:TWO", "b.txt:two", "b.txt:two"]);
		expect(await outputOf({ ...content, "-i": true, "-A": 1, "-B": "1" })).toEqual([
			...["a.txt:1:TWO", "--", "b.txt-1-one", "b.txt:2:two", "b.txt-3-three", "--", "b.txt-6-six", "b.txt:7:two"],
		]);
		expect(await outputOf({ ...content, "-C": 1, "-n": false })).toEqual([
			...["b.txt-one", "b.txt:two", "b.txt-three", "--", "b.txt-six", "b.txt:two"],
		]);
	});

	it("counts matches", async () => {
		await write("a.txt", "x x\nx\n");
		await write("b.txt", "x\n");
		expect(await call(grep, { pattern: "x", output_mode: "count_matches" })).toMatchObject({
			output: "a.txt:3\nb.txt:1",
			message: "Found 4 matches in 2 files.",
		});
	});

	it("matches across lines when requested", async () => {
		await write("a.txt", "one\ntwo\n");
		expect(await outputOf({ pattern: "one.two", multiline: true })).toEqual(["a.txt"]);
		expect((await call(grep, { pattern: "one.two" })).message).toMatch(/^No matches found/);
	});

	it("returns pages", async () => {
		await write("a.txt", "x\n".repeat(10));
		const content = { pattern: "x", output_mode: "content" };
		const page = await call(grep, { ...content, head_limit: 3, offset: 2 });
		expect(page.output).toBe("a.txt:3:x\na.txt:4:x\na.txt:5:x");
		expect(page.message).toBe("Showing 3 of 10 results; use offset=5 for the next.");
		expect(await outputOf({ ...content, head_limit: 0 })).toHaveLength(10);
		expect(await outputOf({ ...content, head_limit: null, offset: 9 })).toEqual(["a.txt:10:x"]);
		expect((await call(grep, { ...content, offset: 50 })).message).toContain("only 10 results");
	});

	it("searches hidden files, ignored ones when requested, version control never", async () => {
		await mkdir(place.at("work", ".git"));
		await write(".git/x", "needle");
		await write(".gitignore", "ignored.txt\n", 30);
		await write("ignored.txt", "needle", 20);
		await write(".hidden", "needle", 10);
		expect(await outputOf({ pattern: "needle" })).toEqual([".hidden"]);
		expect(await outputOf({ pattern: "needle", include_ignored: true })).toEqual([".hidden", "ignored.txt"]);
		expect(await outputOf({ pattern: "needle", glob: "*", include_ignored: true })).not.toContain(".git/x");
	});

	it.each(["*.ts", "**/*.ts", "dist/**", "{dist,src}/**", "*", "**/a.*"])(
		"does not bring ignored files back with the glob %s",
		async (glob) => {
			await mkdir(place.at("work", ".git"));
			await write(".gitignore", "dist/**\nnode_modules\nlocal.ts\n");
			await write("src/kept.ts", "needle");
			for (const name of ["dist/a.ts", "node_modules/b/a.ts", "local.ts"]) await write(name, "needle");
			for (const mode of ["files_with_matches", "content", "count_matches"]) {
				const found = await outputOf({ pattern: "needle", glob, output_mode: mode });
				expect(found.filter((each) => each !== "" && !each.startsWith("src/kept.ts"))).toEqual([]);
			}
			const all = await outputOf({ pattern: "needle", glob: "dist/**", include_ignored: true });
			expect(all).toEqual(["dist/a.ts"]);
		},
	);

	it("takes a glob with braces, and with brackets as they are spelled", async () => {
		await write("app/[slug]/page.tsx", "needle", 2);
		await write("app/other.ts", "needle", 1);
		await write("app/third.js", "needle");
		expect(await outputOf({ pattern: "needle", glob: "app/[slug]/**" })).toEqual(["app/[slug]/page.tsx"]);
		expect(await outputOf({ pattern: "needle", glob: "*.{ts,tsx}" })).toEqual(["app/other.ts", "app/[slug]/page.tsx"]);
		expect(await outputOf({ pattern: "needle", glob: "!*.{ts,tsx}" })).toEqual(["app/third.js"]);
	});

	it("shows a match in a very long line with its surroundings", async () => {
		await write(
			"a.min.js",
			`${"ä😀".repeat(2000)}before\n${"é😀".repeat(5000)}needle${"ü😀".repeat(5000)}\n${"z".repeat(2500)}\n`,
		);
		const [before, match, after] = await outputOf({ pattern: "needle", output_mode: "content", "-C": 1 });
		expect(match).toMatch(/^a\.min\.js:2:\[\.\.\.\](é|😀)[é😀]{150,300}needle[ü😀]+\[\.\.\.\]$/u);
		expect(match?.length).toBeLessThan(1100);
		expect(before).toMatch(/^a\.min\.js-1-[ä😀]+\[\.\.\.\]$/u);
		expect(after).toBe(`a.min.js-3-${"z".repeat(1000)}[...]`);
		const [start] = await outputOf({ pattern: "before", output_mode: "content", "-n": false });
		expect(start).toMatch(/^a\.min\.js:\[\.\.\.\][ä😀]+before$/u);
	});

	it("shows lines in the encoding of their file", async () => {
		await writeFile(place.at("work", "latin.txt"), Buffer.from("# gr\xfc\xdfe\nneedle = caf\xe9\r\n", "latin1"));
		await writeFile(place.at("work", "wide.txt"), Buffer.from("\ufeffneedle = größe\r\n", "utf16le"));
		const result = await call(grep, { pattern: "needle", output_mode: "content", "-B": 1 });
		expect(result.output).toBe("latin.txt-1-# grüße\nlatin.txt:2:needle = café\n--\nwide.txt:1:needle = größe");
		expect(result.message).toBe("Files that are not UTF-8 are shown in an encoding that was guessed.");
	});

	it("says of a binary file that it matches", async () => {
		await write("a.dat", "needle\0");
		expect((await call(grep, { pattern: "needle", path: "a.dat", output_mode: "content" })).message).toBe(
			"The file matches, but is binary, so its lines are not shown.",
		);
	});

	it("omits files that may contain secrets", async () => {
		await write(".env", "needle=1");
		expect(await call(grep, { pattern: "needle", output_mode: "content" })).toMatchObject({
			is_error: false,
			output: "",
			message: "No matches found.",
		});
	});

	it("accepts patterns and paths that look like options", async () => {
		await write("-x", "--version\n");
		expect(await outputOf({ pattern: "--version", path: "-x", output_mode: "content" })).toEqual(["-x:1:--version"]);
	});

	it("returns pages of hundreds of thousands of lines without blocking the event loop", { retry: 2 }, async () => {
		await write("many", "a\n".repeat(250_000));
		const results: unknown[] = [];
		const pause = await shortestPause(async () => {
			results.push(await call(grep, { pattern: "a", output_mode: "content", offset: 249_998 }));
			results.push(await call(grep, { pattern: "a", output_mode: "count_matches" }));
		});
		expect(results).toMatchObject([
			{ is_error: false, output: "many:249999:a\nmany:250000:a" },
			{ is_error: false, output: "many:250000" },
		]);
		expect(pause).toBeLessThan(longestPause);
	});

	it("fails with the error text of ripgrep", async () => {
		const result = await call(grep, { pattern: "(" });
		expect(briefOf(result)).toBe("Failed to grep");
		expect(result.message).toContain("unclosed group");
		expect(briefOf(await call(grep, { pattern: "x", path: "missing" }))).toBe("Failed to grep");
	});
});

describe("Grep with simulated outcomes", () => {
	const outcome = (ended: RunOutcome["ended"], output = "", errorOutput = ""): RunOutcome => ({
		ended,
		output,
		errorOutput,
		outputBytes: output.length,
		truncated: false,
		spilledTo: null,
	});
	const withOutcomes = (...outcomes: RunOutcome[]) => {
		const requests: RunRequest[] = [];
		const processes: Processes = {
			async run(request) {
				requests.push(request);
				return outcomes.shift() ?? outcome({ kind: "aborted" });
			},
			endAll: async () => undefined,
		};
		return { requests, tool: createGrep({ ...place.environment, processes }) };
	};

	it("returns the results up to the time limit", async () => {
		const { tool } = withOutcomes(
			outcome({ kind: "timed-out" }, `${place.at("work", "a.ts")}\0${place.at("work", "b")}`),
		);
		const result = await call(tool, { pattern: "x" });
		expect(result).toMatchObject({ is_error: false, output: "a.ts", message: expect.stringContaining("partial") });
		expect(briefOf(await call(withOutcomes(outcome({ kind: "timed-out" })).tool, { pattern: "x" }))).toBe(
			"Grep timed out",
		);
	});

	it("retries once with one thread when the system lacks threads", async () => {
		const lacking = outcome({ kind: "exited", exitCode: 2 }, "", "rg: Resource temporarily unavailable (os error 11)");
		const { tool, requests } = withOutcomes(lacking, lacking);
		expect(briefOf(await call(tool, { pattern: "x" }))).toBe("Failed to grep");
		expect(requests.map((request) => request.arguments.includes("--threads=1"))).toEqual([false, true]);
	});

	it.each([
		[{ kind: "aborted" }, "Cancelled"],
		[{ kind: "not-started", reason: "ENOENT" }, "Failed to grep"],
		[{ kind: "signalled", signal: "SIGSEGV" }, "Failed to grep"],
	] as const)("reports %j", async (ended, brief) => {
		expect(briefOf(await call(withOutcomes(outcome(ended)).tool, { pattern: "x" }))).toBe(brief);
	});
});

describe("findRipgrep", () => {
	it("finds the installed binary", async () => {
		const found = await findRipgrep();
		expect(found === "rg" || existsSync(found)).toBe(true);
	});
});
