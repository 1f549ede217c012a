// Where skills are found, and which of a name counts (agent-kernel §8.5).
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import type { Files } from "../../ports/files/port.ts";
import { createBuiltInSkills, discoverSkills, type SkillPlace, type SkillSet } from "./skill-discovery.ts";

type Place = Omit<SkillPlace, "builtIn"> & { readonly builtInDir: string | null };

const discover = ({ builtInDir, ...place }: Place): Promise<SkillSet> =>
	discoverSkills({ ...place, builtIn: createBuiltInSkills(place.files, builtInDir, place.log) });

const standard: Omit<Place, "files"> = {
	workDir: "/repo/a/b",
	home: "/home/me",
	shareDir: "/home/me/.kimi",
	skillsDirs: [],
	extraSkillDirs: [],
	mergeAll: true,
	builtInDir: "/program/skills",
	log: silentLog,
};

async function plant(paths: readonly string[], text = "Text."): Promise<Files> {
	const files = createMemoryFiles();
	for (const name of paths) {
		await files.makeDirectory(name.endsWith("/") ? name : path.dirname(name));
		if (!name.endsWith("/")) await files.replace(name, text);
	}
	return files;
}

/** What is found among these files: for each name, the scope and the path that counts. */
async function find(paths: readonly string[], changes: Partial<Place> = {}): Promise<string[]> {
	const { skills } = await discover({ ...standard, files: await plant(paths), ...changes });
	return skills.map(({ scope, path: file }) => `${scope} ${file}`);
}

/** One skill of the same name in each place, from the most to the least important. */
const places = [
	["project", "/repo/.kimi/skills"],
	["project", "/repo/.claude/skills"],
	["project", "/repo/.codex/skills"],
	["project", "/repo/.agents/skills"],
	["user", "/home/me/.kimi/skills"],
	["user", "/home/me/.claude/skills"],
	["user", "/home/me/.codex/skills"],
	["user", "/home/me/.config/agents/skills"],
	["extra", "/more/one"],
	["extra", "/home/me/two"],
	["extra", "/repo/three"],
	["extra", "/home/me/.kimi/plugins"],
	["built-in", "/program/skills"],
] as const;
const extraSkillDirs = ["/more/one", "~/two", "three"];
const below = (index: number, name: string) => places.slice(index).map(([, root]) => `${root}/${name}.md`);

describe("the directories of skills", () => {
	it("hold up to a thousand skills", async () => {
		const warned: unknown[] = [];
		const log: Log = { ...silentLog, warn: (_message, fields) => warned.push(fields) };
		const many = Array.from({ length: 1100 }, (_, index) => `/home/me/.kimi/skills/s${index}.md`);
		expect(await find(many, { log })).toHaveLength(1000);
		expect(warned).toEqual([{ found: 1100, limit: 1000 }]);
	});

	it.each(places.map(([scope, root], index) => [index, scope, root] as const))(
		"override later ones in their order: %i, %s %s",
		async (index, scope, root) => {
			expect(await find(["/repo/.git/HEAD", ...below(index, "same")], { extraSkillDirs })).toEqual([
				`${scope} ${root}/same.md`,
			]);
		},
	);

	it("are all searched, and listed when they exist", async () => {
		const files = await plant(["/repo/.git/HEAD", ...places.map(([, root], index) => `${root}/s${index + 10}.md`)]);
		const { skills, roots } = await discover({ ...standard, files, extraSkillDirs });
		expect(skills.map(({ name }) => name)).toEqual(places.map((_, index) => `s${index + 10}`));
		expect(roots).toEqual(places.map(([, root]) => root));
		expect(await discover({ ...standard, files: createMemoryFiles() })).toEqual({
			skills: [],
			roots: [],
			leftOut: [],
		});
	});

	it("begin at the work directory when there is no project", async () => {
		expect(await find(["/repo/.kimi/skills/a.md", "/repo/a/b/.kimi/skills/b.md"])).toEqual([
			"project /repo/a/b/.kimi/skills/b.md",
		]);
	});

	it("are only those of one program when the settings say so", async () => {
		const paths = ["/repo/.git/HEAD", ...places.map(([, root], index) => `${root}/s${index + 10}.md`)];
		const without = (...roots: string[]) => paths.filter((name) => !roots.some((root) => name.startsWith(root)));
		const names = async (tree: string[]) =>
			(await find(tree, { mergeAll: false, extraSkillDirs })).map((line) => line.replace(/.*\/|\.md/g, ""));
		const rest = ["s17", "s18", "s19", "s20", "s21", "s22"];
		expect(await names(paths)).toEqual(["s10", "s13", "s14", ...rest]);
		expect(await names(without("/repo/.kimi", "/home/me/.kimi/skills", "/home/me/.claude"))).toEqual([
			...["s11", "s13", "s16"],
			...rest,
		]);
		// An empty directory is one, too.
		expect(await names([...without("/repo/.kimi"), "/repo/.kimi/skills/"])).toEqual(["s13", "s14", ...rest]);
	});

	it("include one of two common directories in the home directory", async () => {
		const [first, second] = ["/home/me/.config/agents/skills/a.md", "/home/me/.agents/skills/b.md"];
		expect(await find([first, second])).toEqual([`user ${first}`]);
		expect(await find([second])).toEqual([`user ${second}`]);
	});

	it("include the share directory, wherever it is, before the old one", async () => {
		const shareDir = "/share";
		const [share, old] = ["/share/skills/a.md", "/home/me/.kimi/skills/a.md"];
		expect(await find([share, old], { shareDir })).toEqual([`user ${share}`]);
		expect(await find([old], { shareDir })).toEqual([`user ${old}`]);
		expect(await find([share, "/home/me/.kimi/skills/b.md"], { shareDir, mergeAll: false })).toHaveLength(2);
		expect(await find(["/share/plugins/p/SKILL.md"], { shareDir })).toEqual(["extra /share/plugins/p/SKILL.md"]);
	});

	it("are replaced by given ones", async () => {
		const paths = ["/repo/.git/HEAD", "/given/a.md", "/also/b.md", "/also/a.md", ...below(0, "c"), "/more/one/a.md"];
		expect(await find(paths, { skillsDirs: ["/given", "/also"], extraSkillDirs })).toEqual([
			"extra /given/a.md",
			"extra /also/b.md",
			"extra /more/one/c.md",
		]);
	});

	it("need not include any of the program", async () => {
		expect(await find(["/program/skills/a.md"], { builtInDir: null })).toEqual([]);
	});

	it("are logged as missing only if a person named them", async () => {
		const logged: unknown[] = [];
		const log: Log = { ...silentLog, warn: (_, fields) => logged.push(fields?.["path"]) };
		await find(["/more/file"], { log, skillsDirs: ["/given"], extraSkillDirs: ["/more/file", "none", ""] });
		expect(logged.toSorted()).toEqual(["/given", "/more/file", "/repo/a/b/none"]);
	});

	it("are omitted when they cannot be read", async () => {
		const logged: unknown[] = [];
		const log: Log = { ...silentLog, warn: (_, fields) => logged.push(fields) };
		const files = await plant(["/repo/a/b/.kimi/skills/a.md", "/repo/a/b/.claude/skills/b.md"]);
		const list: Files["list"] = async (directory) => {
			if (directory.includes(".kimi")) throw Object.assign(new Error("EACCES: no"), { code: "EACCES" });
			return await files.list(directory);
		};
		const { skills, roots } = await discover({ ...standard, log, files: { ...files, list } });
		expect(skills.map(({ name }) => name)).toEqual(["b"]);
		expect(roots).toEqual(["/repo/a/b/.claude/skills"]);
		expect(logged).toContainEqual({ path: "/repo/a/b/.kimi/skills", reason: "EACCES: no" });
	});
});

describe("the names of skills", () => {
	it("are those of the directory or the file, at any depth of a directory", async () => {
		expect(
			await find([
				"/repo/a/b/.kimi/skills/flat.md",
				"/repo/a/b/.kimi/skills/deep/SKILL.md",
				"/repo/a/b/.kimi/skills/deep/other.md",
				"/repo/a/b/.kimi/skills/deeper/still/SKILL.md",
				"/repo/a/b/.kimi/skills/empty/",
				"/repo/a/b/.kimi/skills/text.txt",
				"/repo/a/b/.kimi/skills/upper.MD",
			]),
		).toEqual(["project /repo/a/b/.kimi/skills/deep/SKILL.md", "project /repo/a/b/.kimi/skills/flat.md"]);
	});

	it("belong to the directory rather than to the file, and to the first in any case", async () => {
		const root = "/repo/a/b/.kimi/skills";
		expect(await find([`${root}/one.md`, `${root}/One/SKILL.md`])).toEqual([`project ${root}/One/SKILL.md`]);
		expect(await find([`${root}/One.md`, `${root}/ONE.md`])).toEqual([`project ${root}/ONE.md`]);
		const user = "/home/me/.kimi/skills";
		expect(await find([`${root}/one.md`, `${user}/ONE/SKILL.md`])).toEqual([`project ${root}/one.md`]);
	});

	it("come from the frontmatter, else from the path", async () => {
		const root = "/repo/a/b/.kimi/skills";
		const files = await plant([`${root}/b/SKILL.md`, `${root}/c.md`], "---\nname: Zeta\n---\nText.");
		await files.replace(`${root}/d.md`, "Text.");
		const { skills } = await discover({ ...standard, files });
		expect(skills.map(({ name, path: file }) => [name, path.relative(root, file)])).toEqual([
			["Zeta", "b/SKILL.md"],
			["d", "d.md"],
		]);
	});

	it("remain free when a skill is invalid", async () => {
		const root = "/repo/a/b/.kimi/skills";
		const files = await plant([`${root}/one/SKILL.md`], "---\nname: [\n---\n");
		await files.replace(`${root}/one.md`, "Text.");
		const { skills } = await discover({ ...standard, files });
		expect(skills.map(({ path: file }) => file)).toEqual([`${root}/one.md`]);
	});
});

describe("on a disk", () => {
	let base = "";
	afterEach(() => rm(base, { recursive: true, force: true }));

	it("reads the same directory once and follows links, with paths as spelled", async () => {
		base = await realpath(await mkdtemp(path.join(tmpdir(), "agentwire-skills-")));
		const skills = path.join(base, "repo/.kimi/skills");
		await mkdir(path.join(base, "repo/.git"), { recursive: true });
		await mkdir(path.join(skills, "one"), { recursive: true });
		await mkdir(path.join(base, "home/.codex"), { recursive: true });
		await mkdir(path.join(base, "elsewhere/two"), { recursive: true });
		await writeFile(path.join(skills, "one/SKILL.md"), "Text.");
		await writeFile(path.join(base, "elsewhere/two/SKILL.md"), "Text.");
		await symlink(skills, path.join(base, "repo/.kimi/again"));
		await symlink(skills, path.join(base, "home/.codex/skills"));
		await symlink(path.join(base, "elsewhere"), path.join(base, "home/linked"));
		await symlink(path.join(base, "elsewhere/two"), path.join(skills, "three"));
		await symlink(path.join(base, "nowhere"), path.join(skills, "four.md"));
		const found = await discover({
			...standard,
			files: createDiskFiles(),
			workDir: path.join(base, "repo"),
			home: path.join(base, "home"),
			shareDir: path.join(base, "home/.kimi"),
			extraSkillDirs: [".kimi/again", "~/linked", "~/linked/"],
			builtInDir: null,
		});
		expect(found.roots).toEqual([skills, path.join(base, "home/linked")]);
		expect(found.skills.map(({ name, path: file }) => [name, file])).toEqual([
			["one", path.join(skills, "one/SKILL.md")],
			["three", path.join(skills, "three/SKILL.md")],
			["two", path.join(base, "home/linked/two/SKILL.md")],
		]);
	});
});
