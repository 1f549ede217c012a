import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { longestPause, shortestPause } from "../../../../test/support/host/pauses.ts";
import {
	briefOf,
	call,
	createToolPlace,
	prepareCall,
	type ToolPlace,
} from "../../../../test/support/host/tool-environment.ts";
import { parseGlobPattern } from "../../patterns/glob-pattern.ts";
import type { Tool } from "../tool.ts";
import { createGlob } from "./glob.ts";

let place: ToolPlace;
let glob: Tool;
beforeEach(async () => {
	place = await createToolPlace();
	glob = createGlob(place.environment);
});
afterEach(() => place.remove());

async function touch(...names: readonly string[]): Promise<void> {
	for (const name of names) {
		const file = place.at("work", name);
		await mkdir(path.dirname(file), { recursive: true });
		await writeFile(file, "");
	}
}

const find = async (pattern: string, more: object = {}) =>
	String((await call(glob, { pattern, ...more })).output).split("\n");

describe("Glob", () => {
	it("finds files and directories, sorted name by name", async () => {
		await touch("src/b.ts", "src/a/z.ts", "src/a.ts", "src/.hidden.ts", "src/B.ts");
		expect(await find("src/*")).toEqual(["src/.hidden.ts", "src/B.ts", "src/a", "src/a.ts", "src/b.ts"]);
		expect(await find("src/*", { include_dirs: false })).not.toContain("src/a");
		expect(await find("src/**/*.ts")).toEqual(["src/.hidden.ts", "src/B.ts", "src/a/z.ts", "src/a.ts", "src/b.ts"]);
		expect(await find("src/**")).toEqual([
			...["src", "src/.hidden.ts", "src/B.ts", "src/a", "src/a/z.ts", "src/a.ts", "src/b.ts"],
		]);
		const result = await call(glob, { pattern: "src/a.ts" });
		expect(result).toEqual({
			is_error: false,
			output: "src/a.ts",
			message: "Found 1 match for pattern `src/a.ts`.",
			display: [],
			extras: null,
		});
		expect(await call(glob, { pattern: "*.py" })).toMatchObject({ is_error: false, output: "" });
	});

	it.each([
		["src/*.{ts,tsx}", ["src/a.ts", "src/b.tsx"]],
		["src/*.{t,j}s", ["src/a.ts", "src/c.js"]],
		["{src,test}/**/*.ts", ["src/a.ts", "src/deep/d.ts", "test/e.ts"]],
		["src/{deep/,}*.ts", ["src/a.ts", "src/deep/d.ts"]],
		["src/**/*.{ts,{j,t}sx}", ["src/a.ts", "src/b.tsx", "src/deep/d.ts"]],
		["{src/*,src/a.*}", ["src/a.ts", "src/b.tsx", "src/c.js", "src/deep"]],
		["{{tool.name}}/*.ts", ["{{tool.name}}/g.ts"]],
		["src\\{a,b\\}/*", ["src{a,b}/h.ts"]],
		["src/*/", ["src/deep"]],
		["app/[slug]/page.tsx", ["app/[slug]/page.tsx"]],
		["app/[slug]/**", ["app/[slug]", "app/[slug]/page.tsx"]],
		["app/[[]slug]/*", ["app/[slug]/page.tsx"]],
		["app/\\[slug\\]/*", ["app/[slug]/page.tsx"]],
		["app/[...all]/*.tsx", ["app/[...all]/page.tsx"]],
		["app/[[...any]]/page.tsx", ["app/[[...any]]/page.tsx"]],
		["app/(group)/*.tsx", ["app/(group)/page.tsx"]],
		["app/**/[slug]*.tsx", ["app/(group)/deep/[slug].test.tsx"]],
		["app/{[slug],(group)}/page.tsx", ["app/(group)/page.tsx", "app/[slug]/page.tsx"]],
		["app/@modal/(.)photo/*", ["app/@modal/(.)photo/page.tsx"]],
		["app/[l-s]/page.tsx", ["app/n/page.tsx"]],
	])("finds what %s spells", async (pattern, paths) => {
		await touch(
			"src/a.ts",
			"src/b.tsx",
			"src/c.js",
			"src/deep/d.ts",
			"test/e.ts",
			"{{tool.name}}/g.ts",
			"src{a,b}/h.ts",
		);
		for (const directory of ["[slug]", "[...all]", "[[...any]]", "(group)", "@modal/(.)photo", "n"]) {
			await touch(`app/${directory}/page.tsx`);
		}
		await touch("app/(group)/deep/[slug].test.tsx");
		expect(await find(pattern)).toEqual(paths);
	});

	it.each([
		["!src/**", "A pattern cannot exclude files with `!`. Leave out what is found too much."],
		["src/@(a|b).ts", "Glob does not know `@(a|b)`. List the choices in braces, as in `{a,b}`."],
		["src/!(a).ts", "Glob does not know `!(a)`. List the choices in braces, as in `{a,b}`."],
		["src/f{1..3}.ts", "Glob does not know the range `{1..3}`. List its members, as in `{1,2,3}`."],
		["src/**.ts", "`**` in `**.ts` does not stand alone between slashes. For all directories write `src/**/*.ts`."],
		[
			"src\\main\\*.ts",
			"The pattern has a backslash before `m`. Separate names with `/`; a backslash only makes `[`, `{`, `*` and `?` literal.",
		],
		[`src/${"{a,b}".repeat(8)}`, "The braces of the pattern stand for more than 200 patterns."],
	])("says of %s why it cannot be used", async (pattern, message) => {
		expect(await call(glob, { pattern })).toMatchObject({ is_error: true, message });
	});

	it("finds each path once, however many ways lead to it", async () => {
		await touch("a/b/c/d.ts");
		expect(await find("a/**/**/*.ts")).toEqual(["a/b/c/d.ts"]);
	});

	it("follows no links to directories in `**`, and no circular ones", async () => {
		await touch("a/real/x.ts");
		await symlink(place.at("work", "a"), place.at("work", "a", "loop"));
		expect(await find("a/**/*.ts")).toEqual(["a/real/x.ts"]);
		expect(await find("a/loop/real/*")).toEqual(["a/loop/real/x.ts"]);
	});

	it("searches a given directory of the workspace", async () => {
		await touch("src/a.ts");
		expect(await find("*", { directory: place.at("work", "src") })).toEqual(["a.ts"]);
		const wide = createGlob({ ...place.environment, additionalDirs: () => [place.at("outside")] });
		await writeFile(place.at("outside", "b.ts"), "");
		expect((await call(wide, { pattern: "*", directory: place.at("outside") })).output).toBe("b.ts");
	});

	it("shows at most 1000 matches", async () => {
		await touch(...Array.from({ length: 1001 }, (_, index) => `f${String(index).padStart(4, "0")}`));
		const result = await call(glob, { pattern: "f*" });
		expect(String(result.output).split("\n")).toHaveLength(1000);
		expect(result.message).toContain("Found 1001 matches");
		expect(result.message).toContain("first 1000");
	});

	it("lists the work directory for a pattern that begins with `**`", async () => {
		await touch("src/a.ts", "b.ts");
		const result = await call(glob, { pattern: "**/*.ts" });
		expect(briefOf(result)).toBe("Unsafe pattern");
		expect(result.output).toBe("b.ts\nsrc/");
		expect(briefOf(await call(glob, { pattern: "{src,**}/*.ts" }))).toBe("Unsafe pattern");
	});

	it.each([
		[{ directory: "src" }, "Invalid directory"],
		[{ directory: "WORK/file" }, "Invalid directory"],
		[{ directory: "OUTSIDE" }, "Directory outside workspace"],
		[{ directory: "WORK/link" }, "Directory outside workspace"],
		[{ directory: "WORK/missing" }, "Directory not found"],
		[{ pattern: "../*" }, "Glob failed"],
		[{ pattern: "/etc/*" }, "Glob failed"],
		[{ pattern: "" }, "Glob failed"],
	])("refuses %j: %s", async (parameters: { directory?: string; pattern?: string }, brief) => {
		await touch("file");
		await symlink(place.at("outside"), place.at("work", "link"));
		const directory = parameters.directory?.replace("WORK", place.at("work")).replace("OUTSIDE", place.at("outside"));
		expect(briefOf(await call(glob, { pattern: "*", ...parameters, directory: directory ?? null }))).toBe(brief);
	});

	it("takes bounded time for ambiguous patterns", async () => {
		const name = "a".repeat(100);
		const dashes = "-".repeat(72);
		await touch(name, dashes, "deep/".repeat(25) + name);
		const patterns = ["*a*a*a*a*a*a*a*a*b", "*-*-*-*-*-*-*-*.md", `${"?*".repeat(400)}b`, `${"[a-b]*".repeat(150)}c`];
		const pause = await shortestPause(async () => {
			for (const pattern of patterns) expect(await find(pattern)).toEqual([""]);
			expect(await find(`deep/${"**/".repeat(300)}*a*b`)).toEqual([""]);
			expect(await find(`deep/${"**/*/".repeat(12)}x`)).toEqual([""]);
		});
		expect(pause).toBeLessThan(longestPause);
	});

	it("ends at its limits and reports that", async () => {
		await touch("d/a.ts", "d/b.ts", "d/c.ts");
		const few = createGlob(place.environment, { entries: 3, time: 1000 });
		expect(await call(few, { pattern: "d/*" })).toMatchObject({
			output: expect.stringMatching(/^d\/[abc]\.ts$/),
			message:
				"Found 1 match for pattern `d/*`. The search was ended after 3 entries of directories; results are partial. Give a directory with less in it.",
		});
		let time = 0;
		const clock = { ...place.environment.clock, monotonic: () => (time += 400) };
		const short = createGlob({ ...place.environment, clock }, { entries: 1000, time: 1000 });
		expect((await call(short, { pattern: "e/*" })).message).toBe("No matches found for pattern `e/*`.");
		expect((await call(short, { pattern: "d/*" })).message).toMatch(
			/The search was ended after 1 s; results are partial\./,
		);
	});

	it("refuses a pattern above the maximum length", async () => {
		const message = "The pattern is longer than 1000 characters.";
		for (const sign of ["a", "*"]) expect(await call(glob, { pattern: sign.repeat(1001) })).toMatchObject({ message });
	});

	it("stops when aborted", async () => {
		expect(briefOf(await (await prepareCall(glob, { pattern: "*" })).execute(AbortSignal.abort()))).toBe("Cancelled");
	});
});

describe("parseGlobPattern", () => {
	const matches = (pattern: string, name: string): boolean => {
		const parsed = parseGlobPattern(pattern);
		const step = parsed.ok ? parsed.steps[0] : undefined;
		if (step?.kind === "match") return step.matches(name);
		return step?.kind === "name" && step.name === name;
	};

	it.each([
		["*.ts", "a.ts", true],
		["*.ts", ".ts", true],
		["*.ts", "a.tsx", false],
		["?.ts", "é.ts", true],
		["?", "😀", true],
		["[a-c]x", "bx", true],
		["[!a-c]x", "bx", false],
		["[!a-c]x", "dx", true],
		["[]]", "]", true],
		["[c-a]", "b", false],
		["[a-]", "-", true],
		["[^a]", "^", true],
		["[", "[", true],
		["*(x)", "a(x)", true],
		["{a,b}*", "{a,b}c", true],
		["{a,b}*", "a", false],
		["*\\x", "a\\x", true],
		["!*", "!a", true],
		["!*", "a", false],
		["a-*.+", "a-b.+", true],
		["a**b", "axxb", true],
		["A*", "ab", false],
		["*", "", true],
		["*a*b*", "xaxxbx", true],
		["*a*b*", "xbxxax", false],
		["*ab", "aab", true],
		["a*?", "a", false],
		["[!]a", "[!]a", true],
		["[!]]", "a", true],
		["[a-c-e]", "-", true],
		["[😀-😂]", "😁", true],
		["[]", "[]", true],
	])("matches %j against %j like Python", (pattern, name, expected) => {
		expect(matches(pattern, name)).toBe(expected);
	});

	it("matches like a regular expression", () => {
		const sign = fc.constantFrom("a", "b", "*", "?", "[ab]", "[!a]", "**");
		fc.assert(
			fc.property(
				fc.array(sign, { maxLength: 8 }),
				fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 10 }),
				(signs, name) => {
					// Without a wildcard it is no pattern.
					const segment = `x${signs.join("")}*`;
					const source = segment.replace(/\*+/g, ".*").replaceAll("?", ".").replaceAll("[!", "[^");
					expect(matches(segment, `x${name}`)).toBe(new RegExp(`^${source}$`).test(`x${name}`));
				},
			),
			{ numRuns: 500 },
		);
	});
});
