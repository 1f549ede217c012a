// What is read of a skill's file, and what is left out.
import { describe, expect, it } from "vitest";
import { collectGarbage } from "../../../test/support/host/garbage.ts";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import { type Log, silentLog } from "../../base/log.ts";
import type { Files } from "../../ports/files/port.ts";
import { readSkill } from "./skill-file.ts";

const mebibyte = 1024 * 1024;
const flow = "```mermaid\nBEGIN --> a --> END\n```";
const goodFlow = "```d2\nBEGIN -> a -> END\n```";

interface Outcome {
	readonly skill: Awaited<ReturnType<typeof readSkill>>;
	readonly logged: readonly unknown[];
	/** Bytes. */
	readonly taken: number;
}

async function read(text: string | Buffer, change: (files: Files) => Partial<Files> = () => ({})): Promise<Outcome> {
	const memory = createMemoryFiles();
	await memory.replace("/stem.md", text);
	const logged: unknown[] = [];
	const log: Log = { ...silentLog, warn: (_, fields) => logged.push(fields) };
	let taken = 0;
	const readRange: Files["readRange"] = async (file, offset, length) => {
		taken += length;
		return await memory.readRange(file, offset, length);
	};
	const files = { ...memory, readRange, ...change(memory) };
	const skill = await readSkill({ path: "/stem.md", name: "stem", scope: "user" }, files, log);
	return { skill, logged, taken };
}

const skill = (name: string, description: string) => ({
	name,
	description,
	scope: "user",
	path: "/stem.md",
	flow: null,
});

describe("a skill's file", () => {
	it.each([
		["Text.", skill("stem", "Text.")],
		["\n \n  # Title  \nText.", skill("stem", "# Title")],
		["---\n---\n\nText.\nMore.", skill("stem", "Text.")],
		["---\nname: Other-1_a\ndescription: Does it.\n---\nText.", skill("Other-1_a", "Does it.")],
		["---\nname: ''\ndescription: ' '\ntype: standard\n---\nText.", skill("stem", "Text.")],
		["---\ndescription: >\n  Does\n\n  it.\n---\nText.", skill("stem", "Does it.")],
		["---\nname: 1\ndescription: 2.0\nother: [a]\n---\nText.", skill("1", "2.0")],
		["---\r\nname: a\r\n---\r\nText.\r\nMore.", skill("a", "Text.")],
		["\ufeff---\nname: a\n---\nText.", skill("a", "Text.")],
		["---\nname: a\n---\n", skill("a", "No description.")],
		[`---\ndescription: ${"d".repeat(300)}\n---\n`, skill("stem", "d".repeat(300))],
		["x".repeat(241), skill("stem", "x".repeat(240))],
		["😀".repeat(241), skill("stem", "😀".repeat(240))],
		["---\r\ndescription: [beta] Use it: often\r\n---\r\nText.", skill("stem", "[beta] Use it: often")],
		["\ufeff---\ndescription: `x` runs\n---\n", skill("stem", "`x` runs")],
	])("is parsed: %j", async (text, expected) => {
		expect(await read(text)).toMatchObject({ skill: expected, logged: [] });
	});

	it.each([
		["", "is empty"],
		["\ufeff \n", "is empty"],
		["---\nname: a\n", 'its frontmatter is not closed: a line "---" is missing'],
		["---\nname: [a\n---\n", '"[a" cannot be its name: only letters, digits, "-" and "_" can be in one'],
		["---\n- a\n---\n", "its frontmatter is not a map of keys"],
		["---\ndescription:\n- a\n---\n", 'its "description" is not a text'],
		["---\nname: my skill\n---\n", '"my skill" cannot be its name: only letters, digits, "-" and "_" can be in one'],
		["---\nname: a:b\n---\n", '"a:b" cannot be its name: only letters, digits, "-" and "_" can be in one'],
		["---\nname: größe\n---\n", '"größe" cannot be its name: only letters, digits, "-" and "_" can be in one'],
		["x".repeat(mebibyte + 1), "has 1048577 bytes, more than 1 MiB"],
	])("is omitted and logged: %j", async (text, reason) => {
		const { skill: none, logged } = await read(text);
		expect(none).toBeNull();
		expect(logged).toEqual([{ path: "/stem.md", reason }]);
	});

	it("is omitted when it is unreadable, no file, or missing", async () => {
		const refusing = await read("Text.", () => ({ readRange: () => Promise.reject(new Error("EACCES: no")) }));
		expect(refusing).toMatchObject({ skill: null, logged: [{ path: "/stem.md", reason: "EACCES: no" }] });
		const other = { kind: "other", size: 0, modifiedAt: 0, mode: 0 } as const;
		const pipe = await read("Text.", () => ({ status: async () => other }));
		expect(pipe).toMatchObject({ skill: null, logged: [{ reason: "is not a file" }], taken: 0 });
		expect(await read("Text.", () => ({ status: async () => null }))).toMatchObject({ skill: null, logged: [] });
	});

	it("is read only as far as needed", async () => {
		const long = "x".repeat(mebibyte - 1000);
		expect((await read(`---\nname: a\n---\nText.\n${long}`)).taken).toBe(16 * 1024);
		expect((await read("Text.")).taken).toBe(5);
	});

	it.each([
		["a long frontmatter", `---\nother: ${"x".repeat(20_000)}\nname: a\n---\nText.`, skill("a", "Text.")],
		["a first line after many blank lines", `${"\n".repeat(20_000)}Text.`, skill("stem", "Text.")],
		["a first line at the read limit", `${"\n".repeat(16 * 1024 - 2)}Text.`, skill("stem", "Text.")],
		[
			"a first line across the read limit",
			`${"\n".repeat(16 * 1024 - 500)}${"€".repeat(300)}`,
			skill("stem", "€".repeat(240)),
		],
	])("is read whole for %s", async (_, text, expected) => {
		expect((await read(text)).skill).toEqual(expected);
	});
});

describe("what is held of a skill", () => {
	it("is not the text of its file", async () => {
		const used = () => {
			collectGarbage();
			return process.memoryUsage().heapUsed;
		};
		const before = used();
		const held: Outcome["skill"][] = [];
		for (let n = 10; n < 50; n += 1) {
			const text = `---\nname: a-long-name-of-a-skill-${n}\ndescription: one-word-that-is-long\n---\n`;
			held.push((await read(`${text}${" ".repeat(mebibyte - 1000)}Text.`)).skill);
		}
		expect(held.map((each) => each?.name.length)).toEqual(held.map(() => 25));
		expect(used() - before).toBeLessThan(10 * mebibyte);
	});
});

describe("a skill's own name and description", () => {
	it("are truncated to what a list can show", async () => {
		const { skill: found } = await read(`---\ndescription: ${"😀".repeat(5000)}\n---\nText.`);
		expect(found?.description).toBe("😀".repeat(1000));
		const { skill, logged } = await read(`---\ndescription: ${"x".repeat(100_000)}\n---\nText.`);
		expect({ skill, logged }).toEqual({
			skill: null,
			logged: [{ path: "/stem.md", reason: "its frontmatter is longer than 65536 characters" }],
		});
	});
});

describe("a skill's flow", () => {
	it("is read from the whole file", async () => {
		for (const text of [goodFlow, `${"x".repeat(20_000)}\n${goodFlow}`]) {
			const { skill: found, logged } = await read(`---\ntype: flow\n---\n${text}`);
			expect(found?.flow?.begin).toBe("BEGIN");
			expect(logged).toEqual([]);
		}
	});

	it("is read only for the type flow", async () => {
		expect((await read(`Text.\n${goodFlow}`)).skill?.flow).toBeNull();
		expect((await read(`---\ntype: standard\n---\n${flow}`)).logged).toEqual([]);
	});

	it.each([
		[flow, 'line 5: "--> END" is not expected here: write one edge per line'],
		["Text.", "there is no fenced mermaid or d2 block"],
	])("that is invalid leaves an ordinary skill and a line in the log", async (text, reason) => {
		const { skill: found, logged } = await read(`---\ntype: flow\n---\n${text}`);
		expect(found).toMatchObject({ name: "stem", flow: null });
		expect(logged).toEqual([{ path: "/stem.md", reason }]);
	});

	it("is not read for an unknown type, which is logged", async () => {
		const { skill: found, logged } = await read(`---\ntype: Flow\n---\n${goodFlow}`);
		expect(found).toMatchObject({ name: "stem", flow: null });
		expect(logged).toEqual([{ path: "/stem.md", type: "Flow" }]);
	});
});
