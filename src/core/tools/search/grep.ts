import path from "node:path";
import * as v from "valibot";
import { type ToolReturn, toolError } from "../../../api/values/content.ts";
import { beginning } from "../../../base/text/well-formed.ts";
import type { RunOutcome } from "../../../ports/processes/port.ts";
import { boolean, integer } from "../argument-schemas.ts";
import { createOutputBuilder } from "../output-builder.ts";
import { findSecret } from "../secret-refusal.ts";
import type { Tool, ToolEnvironment } from "../tool.ts";
import { cancelledResult, defineTool, freeUnlessRuled, settled } from "../tool-definition.ts";
import { absolutePath, contains, refusePath, searchSubject } from "../workspace-paths.ts";
import { inOwnEncodings } from "./grep-encodings.ts";
import {
	type GrepEntry,
	type GrepMode,
	parseGrepOutput,
	toResultLines,
	totalCount,
	withoutSecrets,
} from "./grep-output.ts";

const timeout = 20_000;
/** Maximum bytes of results. Raw output may be larger, so that removing secrets has no visible effect. */
const resultLimit = 20 * 1024 * 1024;
const captureLimit = resultLimit + 8 * 1024 * 1024;
const maximumColumns = 500;
const versionControlDirectories = [".git", ".svn", ".hg", ".bzr", ".jj", ".sl"];
const statusBatch = 64;
const failureBrief = "Failed to grep";

const description = `Search in files with ripgrep regular expressions.

- Always use this tool to search; do not run grep or rg with Shell.
- \`output_mode\`: \`files_with_matches\` gives paths, the newest first; \`content\` gives lines; \`count_matches\` gives the number of matches per file.
- Braces and other special characters must be escaped to stand for themselves, as in \`interface\\{\\}\`.
- Hidden files are searched, ignored ones only with \`include_ignored\`, version control directories never. Files that hold secrets are left out.
- Results come in pages of \`head_limit\`; go on with \`offset\`.`;

function nullableInteger(text: string) {
	return v.optional(v.pipe(v.nullable(integer()), v.description(text)), null);
}

const schema = v.object({
	pattern: v.pipe(v.string(), v.description("The regular expression to search for.")),
	path: v.optional(
		v.pipe(
			v.string(),
			v.description("The file or directory to search; relative to the working directory or absolute."),
		),
		".",
	),
	glob: v.optional(
		v.pipe(v.nullable(v.string()), v.description("Search only files whose path matches this pattern, such as `*.ts`.")),
		null,
	),
	output_mode: v.optional(
		v.pipe(v.string(), v.description("`files_with_matches`, `content` or `count_matches`.")),
		"files_with_matches",
	),
	"-B": nullableInteger("Lines to show before each match; for `content` only."),
	"-A": nullableInteger("Lines to show after each match; for `content` only."),
	"-C": nullableInteger("Lines to show before and after each match; for `content` only."),
	"-n": v.optional(v.pipe(boolean(), v.description("Whether to show line numbers; for `content` only.")), true),
	"-i": v.optional(v.pipe(boolean(), v.description("Whether upper and lower case are the same.")), false),
	type: v.optional(
		v.pipe(v.nullable(v.string()), v.description("Search only files of this type, such as `py` or `rust`.")),
		null,
	),
	head_limit: v.optional(
		v.pipe(
			v.nullable(v.pipe(integer(), v.minValue(0))),
			v.description("The most results to show: lines, or files; 0 or null for all of them."),
		),
		250,
	),
	offset: v.optional(
		v.pipe(integer(), v.minValue(0), v.description("Results to leave out before the first that is shown.")),
		0,
	),
	multiline: v.optional(
		v.pipe(boolean(), v.description("Whether a match may span lines, with `.` matching newlines.")),
		false,
	),
	include_ignored: v.optional(
		v.pipe(boolean(), v.description("Whether to search files that .gitignore and the like leave out.")),
		false,
	),
});

type Input = v.InferOutput<typeof schema>;

/** Maximum pattern length in bytes; Linux allows 128 KiB per argument. */
const argumentLimit = 100_000;

/** Unknown modes count as content, which shows most. */
function toMode(outputMode: string): GrepMode {
	if (outputMode === "files_with_matches") return "files";
	return outputMode === "count_matches" ? "counts" : "content";
}

const modeArguments: Readonly<Record<GrepMode, readonly string[]>> = {
	files: ["--files-with-matches", `--max-columns=${maximumColumns}`],
	counts: ["--count-matches", "--with-filename", `--max-columns=${maximumColumns}`],
	content: ["--line-number", "--column", "--with-filename", "--no-heading"],
};

function bringsBackIgnored({ glob, include_ignored: includesIgnored }: Input): boolean {
	return glob !== null && !glob.startsWith("!") && !includesIgnored;
}

/** Globs to always exclude. The last matching glob wins, so these follow the glob of the call. */
function excluding(target: string): string[] {
	return [
		...versionControlDirectories.map((name) => `--glob=!${name}`),
		// From the root, /proc is reachable.
		...(target === path.sep ? ["--glob=!/proc"] : []),
	];
}

/** The glob, and a variant that matches brackets literally. */
function globArguments(glob: string | null): string[] {
	if (glob === null) return [];
	return [`--glob=${glob}`, ...(/(?<!\\)\[/.test(glob) ? [`--glob=${glob.replaceAll("[", "[[]")}`] : [])];
}

function toArguments(input: Input, mode: GrepMode, target: string): string[] {
	const context = mode === "content" ? (["-B", "-A", "-C"] as const) : [];
	return [
		...["--no-config", "--color=never", "--hidden", "--null"],
		...modeArguments[mode],
		...context.flatMap((flag) => (input[flag] === null ? [] : [`${flag}${input[flag]}`])),
		...(input["-i"] ? ["--ignore-case"] : []),
		...(input.multiline ? ["--multiline", "--multiline-dotall"] : []),
		...(input.include_ignored ? ["--no-ignore"] : []),
		...globArguments(input.glob),
		...(input.type === null ? [] : [`--type=${input.type}`]),
		...excluding(target),
		...[`--regexp=${input.pattern}`, "--", target],
	];
}

async function runRipgrep(
	ripgrep: string,
	commandLine: readonly string[],
	resolved: string,
	environment: ToolEnvironment,
	signal: AbortSignal,
): Promise<RunOutcome> {
	const run = (extra: readonly string[]) =>
		environment.processes.run(
			{
				file: ripgrep,
				arguments: [...extra, ...commandLine],
				// The base directory of path patterns.
				workDir: resolved === path.sep ? resolved : environment.workDir,
				environment: environment.environment,
				timeout,
				outputLimit: captureLimit,
				separateStderr: true,
			},
			signal,
		);
	const outcome = await run([]);
	const lacksThreads =
		outcome.ended.kind === "exited" &&
		outcome.ended.exitCode > 1 &&
		/resource temporarily unavailable/i.test(outcome.errorOutput);
	return lacksThreads ? run(["--threads=1"]) : outcome;
}

interface Filtered {
	readonly entries: readonly GrepEntry[];
	readonly isPartial: boolean;
}

/** Removes ignored files, because ripgrep lets globs override ignore files. */
async function withoutIgnored(entries: readonly GrepEntry[], list: () => Promise<RunOutcome>): Promise<Filtered> {
	if (entries.length === 0) return { entries, isPartial: false };
	const { output, truncated, ended } = await list();
	const listed = new Set(output.split("\0"));
	const isWhole = !truncated && ended.kind === "exited" && ended.exitCode <= 1;
	return { entries: entries.filter((entry) => listed.has(entry.path)), isPartial: !isWhole };
}

/** Newest first; deleted files last. */
async function sortByAge(entries: readonly GrepEntry[], { files }: ToolEnvironment): Promise<GrepEntry[]> {
	const dated: { readonly entry: GrepEntry; readonly modifiedAt: number }[] = [];
	for (let start = 0; start < entries.length; start += statusBatch) {
		dated.push(
			...(await Promise.all(
				entries.slice(start, start + statusBatch).map(async (entry) => {
					const status = await files.status(entry.path).catch(() => null);
					return { entry, modifiedAt: status?.modifiedAt ?? 0 };
				}),
			)),
		);
	}
	const byPath = (one: GrepEntry, other: GrepEntry) => (one.path < other.path ? -1 : 1);
	return dated
		.sort((one, other) => other.modifiedAt - one.modifiedAt || byPath(one.entry, other.entry))
		.map(({ entry }) => entry);
}

function failure(outcome: RunOutcome): ToolReturn | null {
	const { ended } = outcome;
	switch (ended.kind) {
		case "aborted":
			return cancelledResult();
		case "not-started":
			return toolError(`ripgrep could not be started: ${ended.reason}.`, failureBrief);
		case "signalled":
			return toolError(`ripgrep was ended by signal ${ended.signal}.`, failureBrief);
		case "timed-out":
			return null;
		case "exited":
			if (ended.exitCode <= 1) return null;
			return toolError(`The search failed: ${beginning(outcome.errorOutput.trim(), 2000)}`, failureBrief);
	}
}

async function toResult(
	outcome: RunOutcome,
	input: Input,
	mode: GrepMode,
	{ target, resolved }: SearchedPlace,
	environment: ToolEnvironment,
	list: () => Promise<RunOutcome>,
): Promise<ToolReturn> {
	const failed = failure(outcome);
	if (failed !== null) return failed;
	const isPartial = outcome.truncated || outcome.ended.kind === "timed-out";
	const parsed = await parseGrepOutput(outcome.output, mode, isPartial);
	const searched = bringsBackIgnored(input)
		? await withoutIgnored(parsed, list)
		: { entries: parsed, isPartial: false };
	const { entries: found, isCut } = await withoutSecrets(searched.entries, environment.secrets.forMany(), resultLimit);
	const { entries, isChanged: isDecoded } =
		mode === "content" ? await inOwnEncodings(found, environment) : { entries: found, isChanged: false };
	if (outcome.ended.kind === "timed-out" && entries.length === 0) {
		return toolError(
			`The search found nothing in ${timeout / 1000} s and was ended. Search in fewer files.`,
			"Grep timed out",
		);
	}
	const sorted =
		mode === "files"
			? await sortByAge(entries, environment)
			: entries.toSorted((one, other) => (one.path < other.path ? -1 : 1));

	const isDirectory = (await environment.files.status(resolved))?.kind === "directory";
	// A file given as the target is shown under the given name.
	const named = isDirectory ? sorted : sorted.map((entry) => ({ ...entry, path: target }));
	const all = await toResultLines(named, isDirectory ? resolved : path.dirname(target), mode, {
		withLineNumbers: input["-n"],
		withContext: [input["-A"], input["-B"], input["-C"]].some((lines) => lines !== null && lines > 0),
	});
	const limit = input.head_limit === null || input.head_limit === 0 ? all.length : input.head_limit;
	const shown = all.slice(input.offset, input.offset + limit);
	const next = input.offset + shown.length;

	const notes = [
		...(all.length > 0
			? []
			: [
					!isDirectory && outcome.output.startsWith(`${resolved}: binary file matches`)
						? "The file matches, but is binary, so its lines are not shown."
						: "No matches found.",
				]),
		...(isDecoded ? ["Files that are not UTF-8 are shown in an encoding that was guessed."] : []),
		...(mode === "files" && all.length > 0 ? [`Found ${all.length} ${all.length === 1 ? "file" : "files"}.`] : []),
		...(mode === "counts" && all.length > 0
			? [`Found ${totalCount(sorted)} matches in ${sorted.length} ${sorted.length === 1 ? "file" : "files"}.`]
			: []),
		...(all.length > 0 && shown.length === 0 ? [`There are only ${all.length} results; the offset is past them.`] : []),
		...(shown.length > 0 && next < all.length
			? [`Showing ${shown.length} of ${all.length} results; use offset=${next} for the next.`]
			: []),
		...(outcome.ended.kind === "timed-out"
			? [`The search was ended after ${timeout / 1000} s; results are partial.`]
			: []),
		...(isCut || outcome.truncated || searched.isPartial ? ["There was too much output; results are partial."] : []),
	];
	const builder = createOutputBuilder();
	builder.write(shown.join("\n"));
	return builder.success(notes.join(" "));
}

interface SearchedPlace {
	readonly target: string;
	readonly resolved: string;
}

async function refuseSearch(
	spelled: string,
	{ target, resolved }: SearchedPlace,
	environment: ToolEnvironment,
): Promise<ToolReturn | null> {
	const isDirectory = (await environment.files.status(resolved).catch(() => null))?.kind === "directory";
	if (isDirectory && contains("/proc", resolved)) {
		return toolError(`\`${spelled}\` shows processes and the system, and is not searched.`, "Sensitive directory");
	}
	// A directory named like a secret file is an ordinary directory.
	if (isDirectory && (await environment.secrets.kindOf(resolved)) !== "own") return null;
	return await findSecret({ spelled, path: target, resolved }, environment);
}

function refuseArgument({ pattern, glob, type }: Input): ToolReturn | null {
	for (const [name, text] of Object.entries({ pattern, glob: glob ?? "", type: type ?? "" })) {
		if (Buffer.byteLength(text) > argumentLimit) {
			return toolError(`The ${name} is longer than ${argumentLimit} bytes.`, failureBrief);
		}
		if (text.includes("\0")) {
			return toolError(`The ${name} has a NUL character.`, failureBrief);
		}
	}
	return null;
}

export function createGrep(environment: ToolEnvironment): Tool {
	return defineTool({
		name: "Grep",
		description,
		schema,
		failureBrief,
		async prepare(input) {
			const unusable = refuseArgument(input) ?? refusePath(input.path);
			if (unusable !== null) return settled(unusable);
			const target = absolutePath(input.path, environment);
			const resolved = await environment.files.resolve(target);
			const subject = await searchSubject(target, resolved, environment);
			const need = { action: "search files", subject, description: `Search \`${target}\`` };
			return freeUnlessRuled(need, async (signal) => {
				const mode = toMode(input.output_mode);
				const refused = await refuseSearch(input.path, { target, resolved }, environment);
				if (refused !== null) return refused;
				const ripgrep = await environment.findRipgrep();
				const run = (commandLine: readonly string[]) => runRipgrep(ripgrep, commandLine, resolved, environment, signal);
				const outcome = await run(toArguments(input, mode, resolved));
				if ((await environment.files.resolve(target)) !== resolved) {
					return toolError(`\`${input.path}\` was replaced while it was searched. Search again.`, failureBrief);
				}
				const list = ["--no-config", "--hidden", "--null", "--files", ...excluding(resolved), "--", resolved];
				return toResult(outcome, input, mode, { target, resolved }, environment, () => run(list));
			});
		},
	});
}
