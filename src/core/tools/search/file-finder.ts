import path from "node:path";
import { never } from "../../../base/abort.ts";
import { createPace } from "../../../base/pace.ts";
import type { ToolEnvironment } from "../tool.ts";
import { walkPatterns } from "./glob-walk.ts";

export interface FoundFiles {
	/** Relative to the work directory, best match first; directories end with a slash. */
	readonly paths: readonly string[];
	/** Whether there are more matches, or the search was incomplete. */
	readonly isPartial: boolean;
}

export type FinderPlace = Pick<
	ToolEnvironment,
	"workDir" | "files" | "secrets" | "processes" | "environment" | "findRipgrep" | "clock"
>;

export const foundLimit = 50;
/** Maximum number of candidates to resolve and check. */
const judgedLimit = 200;
/** Limits for the file list, in bytes and milliseconds. */
const listSize = 8 * 1024 * 1024;
const listTime = 3000;
/** Maximum directory entries to visit without ripgrep. */
const walkedEntries = 20_000;
/** Milliseconds to reuse a list, for several keystrokes. */
const listAge = 5000;
/** Maximum query length in characters; longer queries find nothing. */
const queryLength = 200;

interface FileList {
	readonly paths: readonly string[];
	readonly isWhole: boolean;
}

export class FileFinder {
	readonly #place: FinderPlace;
	#list: { readonly at: number; readonly files: Promise<FileList> } | null = null;

	constructor(place: FinderPlace) {
		this.#place = place;
	}

	async find(query: string): Promise<FoundFiles> {
		const wanted = query.toLowerCase();
		if (wanted.length > queryLength) return { paths: [], isPartial: false };
		const { paths, isWhole } = await this.#files();
		const ranked = await rank(paths, wanted);
		const judge = this.#place.secrets.forMany();
		const found: string[] = [];
		for (const candidate of ranked.slice(0, judgedLimit)) {
			if (found.length === foundLimit) break;
			const absolute = path.join(this.#place.workDir, candidate);
			const resolved = await this.#place.files.resolve(absolute).catch(() => absolute);
			if ((await judge.kindOf(resolved)) === null) found.push(candidate);
		}
		return { paths: found, isPartial: !isWhole || ranked.length > found.length };
	}

	#files(): Promise<FileList> {
		const now = this.#place.clock.monotonic();
		if (this.#list === null || now - this.#list.at > listAge) {
			this.#list = { at: now, files: listFiles(this.#place) };
		}
		return this.#list.files;
	}
}

async function listFiles(place: FinderPlace): Promise<FileList> {
	const outcome = await place.processes.run(
		{
			file: await place.findRipgrep(),
			arguments: ["--no-config", "--files", "--hidden", "--null", "--glob=!.git", "--glob=!.hg", "--glob=!.svn"],
			workDir: place.workDir,
			environment: place.environment,
			timeout: listTime,
			outputLimit: listSize,
			separateStderr: true,
		},
		never,
	);
	if (outcome.ended.kind === "not-started") return await walkFiles(place);
	const files = outcome.output.split("\0");
	// The last entry may be truncated.
	files.pop();
	return { paths: withDirectories(files), isWhole: outcome.ended.kind === "exited" && !outcome.truncated };
}

async function walkFiles({ files, workDir, clock }: FinderPlace): Promise<FileList> {
	const walked = await walkPatterns(files, workDir, [[{ kind: "any-depth" }]], {
		includeDirectories: false,
		includeFiles: true,
		retained: walkedEntries,
		bounds: { entries: walkedEntries, time: listTime },
		clock,
		isSearched: async () => false,
		signal: never,
	}).catch(() => ({ paths: [], cutBy: "entries" }));
	return { paths: withDirectories(walked.paths), isWhole: walked.cutBy === null };
}

function withDirectories(files: readonly string[]): readonly string[] {
	const directories = new Set<string>();
	for (const file of files) {
		for (let at = file.lastIndexOf("/"); at > 0; at = file.lastIndexOf("/", at - 1)) {
			const directory = file.slice(0, at + 1);
			if (directories.has(directory)) break;
			directories.add(directory);
		}
	}
	return [...directories, ...files];
}

async function rank(paths: readonly string[], wanted: string): Promise<readonly string[]> {
	const pace = createPace();
	const fitting: { readonly path: string; readonly score: number }[] = [];
	for (const each of paths) {
		await pace.rest();
		const score = scoreOf(each, wanted);
		if (score !== null) fitting.push({ path: each, score });
	}
	fitting.sort((one, other) => one.score - other.score || (one.path < other.path ? -1 : 1));
	return fitting.map((each) => each.path);
}

/** Lower is better: position of the match, then path length; null without a match. */
function scoreOf(file: string, wanted: string): number | null {
	const folded = file.toLowerCase();
	const name = folded.slice(folded.lastIndexOf("/", folded.length - 2) + 1);
	const depth = folded.split("/").length;
	const length = depth + folded.length / 1000;
	if (wanted === "") return length;
	if (name.startsWith(wanted)) return length;
	if (folded.startsWith(wanted)) return 1000 + length;
	if (name.includes(wanted)) return 2000 + length;
	if (folded.includes(wanted)) return 3000 + length;
	let at = 0;
	for (const letter of wanted) {
		at = folded.indexOf(letter, at) + 1;
		if (at === 0) return null;
	}
	return 4000 + length;
}
