import * as v from "valibot";
import { type ToolReturn, toolError, toolSuccess } from "../../../api/values/content.ts";
import { boolean } from "../argument-schemas.ts";
import type { Tool, ToolEnvironment } from "../tool.ts";
import { cancelledResult, defineTool, freeUnlessRuled, settled } from "../tool-definition.ts";
import { absolutePath, isAbsolutePath, isSearchable, refusePath, searchSubject } from "../workspace-paths.ts";
import { parseGlobAlternatives } from "./glob-alternatives.ts";
import { listDirectory, standardBounds, type WalkBounds, type WalkResult, walkPatterns } from "./glob-walk.ts";

const maximumMatches = 1000;
const listingLength = 200;

const description = `Find files and directories by a pattern.

- \`*\` and \`?\` match within a name, \`[...]\` one character of a set, \`{a,b}\` either of several texts, \`**\` any number of directories. Upper and lower case differ. Hidden files are found.
- Names with brackets are found as they are spelled, as in \`app/[slug]/page.tsx\`.
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

function toResult(
	{ paths, count, cutBy, isBarred }: WalkResult,
	pattern: string,
	{ entries, time }: WalkBounds,
): ToolReturn {
	const notes = [
		count === 0
			? `No matches found for pattern \`${pattern}\`.`
			: `Found ${count} ${count === 1 ? "match" : "matches"} for pattern \`${pattern}\`.`,
		...(isBarred ? ["A link that leads out of the workspace was not followed."] : []),
		...(paths.length < count
			? [`Only the first ${maximumMatches} are shown; a more specific pattern finds fewer.`]
			: []),
		...(cutBy === "entries"
			? [`The search was ended after ${entries.toLocaleString("en")} entries of directories; results are partial.`]
			: []),
		...(cutBy === "time" ? [`The search was ended after ${time / 1000} s; results are partial.`] : []),
		...(cutBy === null ? [] : ["Give a directory with less in it."]),
	];
	return toolSuccess({ output: paths.join("\n"), message: notes.join(" ") });
}

async function unsafePattern(pattern: string, { files, workDir }: ToolEnvironment): Promise<ToolReturn> {
	const names = (await listDirectory(files, workDir))
		.map(({ name, kind }) => (kind === "directory" ? `${name}/` : name))
		.sort();
	const more = names.length > listingLength ? [`... and ${names.length - listingLength} more`] : [];
	return toolError(
		`The pattern \`${pattern}\` begins with \`**\` and would go through every directory. Begin with one of the directories of the working directory, listed here.`,
		"Unsafe pattern",
		{ output: [...names.slice(0, listingLength), ...more].join("\n") },
	);
}

async function findDirectory(
	spelled: string | null,
	environment: ToolEnvironment,
): Promise<{ readonly root: string } | { readonly refusal: ToolReturn }> {
	if (spelled === null) return { root: environment.workDir };
	const refuse = (message: string, brief: string) => ({ refusal: toolError(message, brief) });
	const refusal = refusePath(spelled);
	if (refusal !== null) return { refusal };
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

export function createGlob(environment: ToolEnvironment, bounds: WalkBounds = standardBounds): Tool {
	const failureBrief = "Glob failed";
	return defineTool({
		name: "Glob",
		description,
		schema,
		failureBrief,
		async prepare({ pattern, directory, include_dirs: includeDirectories }) {
			const parsed = parseGlobAlternatives(pattern);
			if (!parsed.ok) return settled(toolError(parsed.reason, failureBrief));
			if (parsed.alternatives.some(([first]) => first?.kind === "any-depth"))
				return settled(await unsafePattern(pattern, environment));
			const found = await findDirectory(directory, environment);
			if ("refusal" in found) return settled(found.refusal);
			const named = directory === null ? found.root : absolutePath(directory, environment);
			const subject = await searchSubject(named, found.root, environment);
			const need = { action: "search files", subject, description: `List \`${pattern}\` in \`${found.root}\`` };
			return freeUnlessRuled(need, async (signal) => {
				const result = await walkPatterns(environment.files, found.root, parsed.alternatives, {
					includeDirectories,
					// A trailing slash selects directories, as in a shell.
					includeFiles: !pattern.endsWith("/"),
					retained: maximumMatches,
					bounds,
					clock: environment.clock,
					isSearched: (resolved) => isSearchable(resolved, environment),
					signal,
				});
				return signal.aborted ? cancelledResult() : toResult(result, pattern, bounds);
			});
		},
	});
}
