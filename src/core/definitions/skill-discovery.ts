import path from "node:path";
import { errorText } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { DirectoryEntry, Files } from "../../ports/files/port.ts";
import { projectDirectories } from "./project-root.ts";
import type { Skill, SkillScope } from "./skill.ts";
import { type LeftOutSkill, readSkill, type SkillFile } from "./skill-file.ts";

export interface SkillSet {
	readonly skills: readonly Skill[];
	/** The existing searched directories, links as spelled. */
	readonly roots: readonly string[];
	/** Files that would be skills if they were usable. */
	readonly leftOut: readonly LeftOutSkill[];
}

/** All directories are absolute, except the configured ones. */
export interface SkillPlace {
	readonly files: Files;
	readonly workDir: string;
	readonly home: string;
	readonly shareDir: string;
	readonly skillsDirs: readonly string[];
	/** From the settings: absolute, below `~`, or relative to the project root. */
	readonly extraSkillDirs: readonly string[];
	/** Whether a scope merges the directories of all programs, or uses only the first existing one. */
	readonly mergeAll: boolean;
	readonly builtIn: () => Promise<SkillSet>;
	readonly log: Log;
}

/** Maximum skill files; each is named in the prompt of every session. */
const fileLimit = 1000;

/** Searches all directories in parallel. Logs and skips unreadable and unusable skills. */
export async function discoverSkills(place: SkillPlace): Promise<SkillSet> {
	const { files, log } = place;
	const [[projectRoot], builtIn] = await Promise.all([projectDirectories(files, place.workDir), place.builtIn()]);
	const found = await Promise.all(sourcesOf(place, projectRoot).map((source) => findRoots(source, files, log)));
	const own = await readRoots(found.flat().filter(isFirstOfItsKind), files, log);
	return {
		skills: firstOfEachName([...own.skills, ...builtIn.skills], log),
		roots: [...own.roots, ...builtIn.roots],
		leftOut: [...own.leftOut, ...builtIn.leftOut],
	};
}

export function createBuiltInSkills(files: Files, directory: string | null, log: Log): () => Promise<SkillSet> {
	const groups = directory === null ? [] : [[directory]];
	const read = async (): Promise<SkillSet> =>
		readRoots(await findRoots({ scope: "built-in", groups, takes: "all", isNamed: false }, files, log), files, log);
	let known: SkillSet | null = null;
	return async () => {
		if (known !== null) return known;
		const found = await read();
		// Retries after a read failure.
		if (found.leftOut.length === 0 && found.roots.length === groups.length) known = found;
		return found;
	};
}

async function readRoots(roots: readonly Root[], files: Files, log: Log): Promise<SkillSet> {
	const named = roots.flatMap(skillFilesIn);
	if (named.length > fileLimit) {
		log.warn("There are too many skills; the rest is left out.", { found: named.length, limit: fileLimit });
	}
	const leftOut: LeftOutSkill[] = [];
	const reading = named.slice(0, fileLimit).map((file) => readSkill(file, files, log, (each) => leftOut.push(each)));
	const skills = (await Promise.all(reading)).filter((skill) => skill !== null);
	return { skills, roots: roots.map(({ directory }) => directory), leftOut };
}

interface Source {
	readonly scope: SkillScope;
	readonly groups: readonly (readonly string[])[];
	readonly takes: "all" | "first";
	/** Whether the user named them, so that a missing one is reported. */
	readonly isNamed: boolean;
}

/** From highest to lowest precedence. */
function sourcesOf(place: SkillPlace, projectRoot: string): Source[] {
	const { home, shareDir, skillsDirs, extraSkillDirs, mergeAll } = place;
	const standard = (scope: SkillScope, takes: Source["takes"], ...groups: string[][]): Source => {
		return { scope, groups, takes, isNamed: false };
	};
	const named = (directories: readonly string[]): Source => {
		return { scope: "extra", groups: directories.map((directory) => [directory]), takes: "all", isNamed: true };
	};
	const programs = mergeAll ? "all" : "first";
	const inProject = (name: string) => [path.join(projectRoot, name, "skills")];
	const inHome = (name: string) => [path.join(home, name, "skills")];
	const own = [...new Set([path.join(shareDir, "skills"), ...inHome(".kimi")])];
	return [
		named(skillsDirs),
		...(skillsDirs.length > 0
			? []
			: [
					standard("project", programs, inProject(".kimi"), inProject(".claude"), inProject(".codex")),
					standard("project", "all", inProject(".agents")),
					standard("user", programs, own, inHome(".claude"), inHome(".codex")),
					standard("user", "first", inHome(".config/agents"), inHome(".agents")),
				]),
		named(extraSkillDirs.filter((spelled) => spelled !== "").map((spelled) => toAbsolute(spelled, home, projectRoot))),
		standard("extra", "all", [path.join(shareDir, "plugins")]),
	];
}

function toAbsolute(spelled: string, home: string, projectRoot: string): string {
	return path.resolve(projectRoot, spelled === "~" || spelled.startsWith("~/") ? home + spelled.slice(1) : spelled);
}

interface Root {
	readonly directory: string;
	readonly resolved: string;
	readonly scope: SkillScope;
	readonly entries: readonly DirectoryEntry[];
}

async function findRoots({ scope, groups, takes, isNamed }: Source, files: Files, log: Log): Promise<Root[]> {
	const leaveOut = (directory: string, reason: string): Root[] => {
		log.warn("A directory of skills is left out.", { path: directory, reason });
		return [];
	};
	const look = async (directory: string): Promise<Root[]> => {
		try {
			// Most do not exist, and a status is the cheapest check.
			const status = await files.status(directory);
			if (status === null) return isNamed ? leaveOut(directory, "there is no such directory") : [];
			if (status.kind !== "directory") return isNamed ? leaveOut(directory, "is not a directory") : [];
			const [entries, resolved] = await Promise.all([files.list(directory), files.resolve(directory)]);
			return [{ directory, resolved, scope, entries }];
		} catch (thrown) {
			return leaveOut(directory, errorText(thrown));
		}
	};
	const found = await Promise.all(groups.map(async (group) => (await Promise.all(group.map(look))).flat()));
	const existing = found.filter((group) => group.length > 0);
	return (takes === "all" ? existing : existing.slice(0, 1)).flat();
}

/** Whether no earlier root is the same directory under another name. */
function isFirstOfItsKind(root: Root, index: number, all: readonly Root[]): boolean {
	return all.findIndex(({ resolved }) => resolved === root.resolved) === index;
}

/** The possible skill files in a root: `NAME/SKILL.md` before `NAME.md`, each sorted by name. */
function skillFilesIn({ directory, scope, entries }: Root): SkillFile[] {
	const sorted = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
	const inDirectories = sorted
		.filter(({ kind }) => kind === "directory")
		.map(({ name }) => ({ name, path: path.join(directory, name, "SKILL.md"), scope }));
	const flat = sorted
		.filter(({ kind, name }) => kind === "file" && name.endsWith(".md"))
		.map(({ name }) => ({ name: name.slice(0, -".md".length), path: path.join(directory, name), scope }));
	return [...inDirectories, ...flat];
}

/** Names that differ only in case are equal. */
function firstOfEachName(read: readonly Skill[], log: Log): Skill[] {
	const byName = new Map<string, Skill>();
	for (const skill of read) {
		const key = skill.name.toLowerCase();
		const earlier = byName.get(key);
		if (earlier === undefined) byName.set(key, skill);
		else log.debug("A skill is hidden by an earlier one of its name.", { path: skill.path, by: earlier.path });
	}
	return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
