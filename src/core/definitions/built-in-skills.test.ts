// The skills that come with the program, and the examples that people copy.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { findFlag } from "../../cli/arguments/flags.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { parseFlow } from "./flows/flow-source.ts";
import { createBuiltInSkills, discoverSkills } from "./skill-discovery.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const textOf = (name: string) => readFileSync(path.join(root, name), "utf8");

const logged: unknown[] = [];
const note = (message: string, fields: unknown) => logged.push([message, fields]);
const log = { debug: note, info: note, warn: note, error: note };
const files = createDiskFiles();
const { skills } = await discoverSkills({
	files,
	workDir: "/nowhere",
	home: "/nowhere",
	shareDir: "/nowhere",
	skillsDirs: [],
	extraSkillDirs: [],
	mergeAll: true,
	builtIn: createBuiltInSkills(files, path.join(root, "skills"), log),
	log,
});

describe("the built-in skills", () => {
	it("have the names that clients know", () => {
		expect(skills.map(({ name, scope }) => [name, scope])).toEqual([
			["kimi-cli-help", "built-in"],
			["skill-creator", "built-in"],
		]);
		expect(logged).toEqual([]);
	});

	it("are part of the package", () => {
		const { files }: { files: readonly string[] } = JSON.parse(textOf("package.json"));
		expect(files).toContain("skills");
	});

	it.each(skills)("name only existing files and flags: $name", ({ path: file }) => {
		const text = textOf(path.relative(root, file));
		const files = [...text.matchAll(/`(\.\.\/[^`]*)`/g)].map(([, name = ""]) => name);
		expect(files.length).toBeGreaterThan(0);
		expect(files.filter((name) => !existsSync(path.resolve(path.dirname(file), name)))).toEqual([]);
		const known = ["--json", "--tags", "--abbrev"];
		const flags = [...text.matchAll(/--[a-z][a-z-]*/g)].map(([flag]) => flag).filter((flag) => !known.includes(flag));
		expect(flags.filter((flag) => findFlag(flag) === null)).toEqual([]);
	});
});

describe("the example flows", () => {
	const blocks = ["docs/guides/skills.md", "skills/skill-creator/SKILL.md"].flatMap((name) =>
		[...textOf(name).matchAll(/^```(?:mermaid|d2)\n[\s\S]*?^```$/gm)].map(([block]) => block),
	);

	it.each(blocks)("are valid flows: %s", (block) => {
		const parsed = parseFlow(block);
		expect(parsed).toMatchObject({ ok: true });
		if (!parsed.ok) return;
		const { begin, nodes } = parsed.flow;
		expect([begin, ...nodes.keys()].toSorted()).toEqual(["BEGIN", "BEGIN", "END", "check", "mend", "write"]);
		expect(nodes.get("check")).toMatchObject({
			kind: "decision",
			branches: new Map([
				["yes", "END"],
				["no", "mend"],
			]),
		});
	});

	it("exist in both languages", () => {
		expect(blocks).toHaveLength(3);
	});
});
