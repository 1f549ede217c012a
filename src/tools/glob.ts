// Glob: finds files by name. The meaning of patterns is in glob-pattern.ts.
import path from "node:path";
import * as v from "valibot";
import { systemErrorCode } from "../base/errors.ts";
import { type ToolReturn, toolError, toolSuccess } from "../events/content.ts";
import type { DirectoryEntry, Files } from "../files/port.ts";
import { boolean } from "./argument-schemas.ts";
import { cancelledResult, defineTool, readOnly, settled } from "./define-tool.ts";
import { type PatternStep, parseGlobPattern } from "./glob-pattern.ts";
import type { Tool, ToolEnvironment } from "./tool.ts";
import { absolutePath, isAbsolutePath, isSearchable } from "./workspace-paths.ts";

const maximumMatches = 1000;
const listingLength = 200;

const description = `Find files and directories by a pattern.

- \`*\` and \`?\` match within a name, \`[...]\` one character of a set, \`**\` any number of directories. Upper and lower case differ. Hidden files are found.
- A pattern must not begin with \`**\`, which would go through everything: begin with a directory, as in \`src/**/*.ts\`, or give \`directory\`.
- Paths are relative to the directory, sorted, at most ${maximumMatches}.
- Directories with very many files, such as installed packages, are better left out.`;

const schema = v.object({
	pattern: v.pipe(v.string(), v.description("The pattern, relative to the directory.")),
	directory: v.optional(
		v.pipe(
			v.nullable(v.string()),
			v.description("The absolute path of the directory to look in; the working directory when left out."),
		),
		null,
	),
	include_dirs: v.optional(v.pipe(boolean(), v.description("Whether directories are found as well as files.")), true),
});

/** What cannot be read, or is gone meanwhile, has nothing in it. */
const skippedErrors: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP"]);

async function list(files: Files, directory: string): Promise<DirectoryEntry[]> {
	try {
		return await files.list(directory);
	} catch (thrown) {
		if (skippedErrors.has(systemErrorCode(thrown) ?? "")) return [];
		throw thrown;
	}
}

/** Collects the paths below `root` that the steps lead to, relative to it, with whether each is a directory. */
async function findMatches(
	files: Files,
	root: string,
	steps: readonly PatternStep[],
	signal: AbortSignal,
): Promise<Map<string, boolean>> {
	const matches = new Map<string, boolean>();
	/** Places already gone through: several `**` lead to one place on many ways. */
	const seen = new Set<string>();

	const walk = async (relative: string, isDirectory: boolean, index: number): Promise<void> => {
		if (signal.aborted) return;
		const step = steps[index];
		if (step === undefined) {
			if (relative !== "") matches.set(relative, isDirectory);
			return;
		}
		const place = `${index}:${relative}`;
		if (!isDirectory || seen.has(place)) return;
		seen.add(place);
		const directory = path.join(root, relative);
		switch (step.kind) {
			case "name": {
				const status = await files.status(path.join(directory, step.name)).catch(() => null);
				if (status !== null) await walk(path.join(relative, step.name), status.kind === "directory", index + 1);
				return;
			}
			case "match":
				for (const entry of await list(files, directory)) {
					if (!step.matches(entry.name)) continue;
					await walk(path.join(relative, entry.name), entry.kind === "directory", index + 1);
				}
				return;
			case "any-depth":
				await descend(relative, directory, index);
		}
	};
	const descend = async (relative: string, directory: string, index: number): Promise<void> => {
		await walk(relative, true, index + 1);
		const isLast = index === steps.length - 1;
		const resolved = await files.resolve(directory);
		for (const entry of await list(files, directory)) {
			const child = path.join(relative, entry.name);
			if (entry.kind !== "directory") {
				if (isLast) matches.set(child, false);
				continue;
			}
			// A link to a directory is found, but not followed: it may lead back up.
			const isLink = (await files.resolve(path.join(directory, entry.name))) !== path.join(resolved, entry.name);
			if (!isLink) await walk(child, true, index);
			else if (isLast) matches.set(child, true);
		}
	};
	await walk("", true, 0);
	return matches;
}

/** Name by name, so that what is in a directory follows it at once. */
function comparePaths(one: string, other: string): number {
	const [left, right] = [one.split("/"), other.split("/")];
	for (const [index, name] of left.entries()) {
		const counterpart = right[index];
		if (counterpart === undefined) return 1;
		if (name !== counterpart) return name < counterpart ? -1 : 1;
	}
	return left.length - right.length;
}

function toResult(matches: ReadonlyMap<string, boolean>, pattern: string, includeDirectories: boolean): ToolReturn {
	const found = [...matches]
		.filter(([, isDirectory]) => includeDirectories || !isDirectory)
		.map(([relative]) => relative)
		.sort(comparePaths);
	if (found.length === 0) return toolSuccess({ message: `No matches found for pattern \`${pattern}\`.` });
	const shown = found.slice(0, maximumMatches);
	const count = `Found ${found.length} ${found.length === 1 ? "match" : "matches"} for pattern \`${pattern}\`.`;
	const note = ` Only the first ${maximumMatches} are shown; a more specific pattern finds fewer.`;
	return toolSuccess({ output: shown.join("\n"), message: shown.length < found.length ? count + note : count });
}

async function unsafePattern(pattern: string, { files, workDir }: ToolEnvironment): Promise<ToolReturn> {
	const names = (await list(files, workDir))
		.map(({ name, kind }) => (kind === "directory" ? `${name}/` : name))
		.sort(comparePaths);
	const more = names.length > listingLength ? [`... and ${names.length - listingLength} more`] : [];
	return toolError(
		`The pattern \`${pattern}\` begins with \`**\` and would go through every directory. Begin with one of the directories of the working directory, listed here.`,
		"Unsafe pattern",
		{ output: [...names.slice(0, listingLength), ...more].join("\n") },
	);
}

/** Where to look, resolved; a refusal when that is not a directory of the workspace. */
async function findDirectory(
	spelled: string | null,
	environment: ToolEnvironment,
): Promise<{ readonly root: string } | { readonly refusal: ToolReturn }> {
	if (spelled === null) return { root: environment.workDir };
	const refuse = (message: string, brief: string) => ({ refusal: toolError(message, brief) });
	if (!isAbsolutePath(spelled)) return refuse(`\`${spelled}\` is not an absolute path.`, "Invalid directory");
	const root = await environment.files.resolve(absolutePath(spelled, environment));
	if (!(await isSearchable(root, environment))) {
		return refuse(`\`${spelled}\` is outside of the workspace.`, "Directory outside workspace");
	}
	const status = await environment.files.status(root);
	if (status === null) return refuse(`\`${spelled}\` does not exist.`, "Directory not found");
	if (status.kind !== "directory") return refuse(`\`${spelled}\` is not a directory.`, "Invalid directory");
	return { root };
}

export function createGlob(environment: ToolEnvironment): Tool {
	const failureBrief = "Glob failed";
	return defineTool({
		name: "Glob",
		description,
		schema,
		failureBrief,
		async prepare({ pattern, directory, include_dirs: includeDirectories }) {
			if (pattern.startsWith("**")) return settled(await unsafePattern(pattern, environment));
			const parsed = parseGlobPattern(pattern);
			if (!parsed.ok) return settled(toolError(parsed.reason, failureBrief));
			const found = await findDirectory(directory, environment);
			if ("refusal" in found) return settled(found.refusal);
			return readOnly(async (signal) => {
				const matches = await findMatches(environment.files, found.root, parsed.steps, signal);
				return signal.aborted ? cancelledResult() : toResult(matches, pattern, includeDirectories);
			});
		},
	});
}
