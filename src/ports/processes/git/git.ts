// A repository's configuration can name programs for almost anything git does, so every such key is overridden.
import { existsSync } from "node:fs";
import path from "node:path";
import { isWithin } from "../confinement/replaceable-links.ts";
import type { Processes, RunOutcome, RunRequest } from "../port.ts";
import { findTrustedProgram, withTrustedPath } from "../search-path.ts";

export interface GitPlace {
	readonly environment: Readonly<Record<string, string>>;
	readonly processes: Pick<Processes, "run">;
}

export interface GitRequest
	extends Pick<RunRequest, "timeout" | "outputLimit" | "separateStderr" | "input" | "onOutput"> {
	readonly words: readonly string[];
	readonly workDir: string;
	/** Allowed transports, such as `https:ssh`. Default: none. */
	readonly transports?: string;
}

/** A git configuration key, with a value that runs nothing. */
type Override = readonly [key: string, value: string];

/** Apply in every repository. `core.fsmonitor` and similar are set for all git versions. */
const always: readonly Override[] = [
	["safe.bareRepository", "explicit"],
	["core.fsmonitor", "false"],
	["core.hooksPath", "/dev/null"],
	["core.pager", "cat"],
	["core.editor", "false"],
	["sequence.editor", "false"],
	["core.alternateRefsCommand", "false"],
	["diff.external", "false"],
	["diff.ignoreSubmodules", "all"],
	["diff.submodule", "short"],
	["status.submoduleSummary", "false"],
	["submodule.recurse", "false"],
	["fetch.recurseSubmodules", "false"],
	["log.showSignature", "false"],
	["interactive.diffFilter", ""],
	["maintenance.auto", "false"],
	["gc.auto", "0"],
];

/** Connection settings for calls that must not connect. */
const ofTransports: readonly Override[] = [
	["core.sshCommand", "false"],
	["core.gitProxy", "false"],
	["core.askPass", ""],
	["credential.helper", ""],
];

const patterns: readonly (readonly [pattern: RegExp, value: string])[] = [
	[/^filter\..*\.(?:clean|smudge|process)$/is, ""],
	[/^filter\..*\.required$/is, "false"],
	[/^diff\..*\.textconv$/is, "cat"],
	[/^diff\..*\.command$/is, "false"],
	[/^merge\..*\.driver$/is, "false"],
	[/^(?:diff|merge)tool\..*\.(?:cmd|path)$/is, "false"],
	[/^gpg\.(?:.*\.)?(?:program|defaultkeycommand)$/is, "false"],
	[/^(?:pager|alias|man|browser|tar)\./is, "false"],
	[/^submodule\..*\.update$/is, "none"],
	[/^credential\..*\.helper$/is, ""],
	[/^remote\..*\.(?:uploadpack|receivepack|vcs|promisor)$/is, "false"],
];

/** Stops verbs from starting configured programs; submodules outrank global settings and lack our overrides. */
const guardsOf: Readonly<Record<string, readonly string[]>> = {
	status: ["--ignore-submodules=all"],
	diff: ["--ignore-submodules=all", "--no-ext-diff", "--no-textconv"],
	log: ["--ignore-submodules=all", "--no-ext-diff", "--no-textconv"],
	show: ["--ignore-submodules=all", "--no-ext-diff", "--no-textconv"],
};

/** Environment variables that select another repository, configuration or program. */
const ownVariable = /^(?:GIT_|SSH_ASKPASS$|PAGER$|EDITOR$|VISUAL$)/;

/** The user's sign-in methods for servers. */
const connectionVariable =
	/^(?:GIT_SSH|GIT_SSH_COMMAND|GIT_SSH_VARIANT|GIT_ASKPASS|SSH_ASKPASS|GIT_(?:SSL|HTTP|PROXY)_\w+)$/;

/** Verbs that need no overrides for repository-named keys. */
const readsNoContent: ReadonlySet<string> = new Set(["config", "ls-files"]);

const scan = { outputLimit: 1_048_576, timeout: 5000, separateStderr: true };

/** Uses an absolute git from outside the project and nothing its configuration names. Null without one. */
export async function runGit(request: GitRequest, place: GitPlace, signal: AbortSignal): Promise<RunOutcome | null> {
	const { words, workDir, transports, ...bounds } = request;
	const projects = projectsOf(workDir, place.environment["HOME"]);
	const file = findTrustedProgram("git", place.environment, projects);
	if (file === null) return null;
	const start = (overrides: readonly Override[], more: Pick<RunRequest, "arguments" | "outputLimit">) => {
		const environment = toEnvironment(place.environment, projects, overrides, transports);
		return place.processes.run({ ...more, file, workDir, environment }, signal);
	};
	// The user's settings decide how to connect.
	if (transports !== undefined) return await start(always, { ...bounds, arguments: words });
	const [verb = "", ...rest] = words;
	const overrides = [...always, ...ofTransports];
	if (!readsNoContent.has(verb)) {
		const listed = await start(always, { ...scan, arguments: ["config", "--list", "--name-only", "-z"] });
		if (listed.ended.kind !== "exited" || listed.ended.exitCode !== 0 || listed.truncated) return null;
		overrides.push(...overridesOf(listed.output.split("\0")));
	}
	const guards = Object.hasOwn(guardsOf, verb) ? (guardsOf[verb] ?? []) : [];
	return await start(overrides, { ...bounds, arguments: [verb, ...guards, ...rest] });
}

function overridesOf(keys: readonly string[]): readonly Override[] {
	return [...new Set(keys)].flatMap((key) => {
		const found = patterns.find(([pattern]) => pattern.test(key));
		return found === undefined ? [] : [[key, found[1]] as const];
	});
}

function toEnvironment(
	environment: Readonly<Record<string, string>>,
	projects: readonly string[],
	overrides: readonly Override[],
	transports: string | undefined,
): Record<string, string> {
	const isKept = ([name]: [string, string]) =>
		!ownVariable.test(name) || (transports !== undefined && connectionVariable.test(name));
	return {
		...Object.fromEntries(Object.entries(withTrustedPath(environment, projects)).filter(isKept)),
		GIT_TERMINAL_PROMPT: "0",
		GIT_OPTIONAL_LOCKS: "0",
		GIT_PAGER: "cat",
		GIT_EDITOR: "false",
		// A partial clone would fetch missing objects from its configured remote.
		...(transports === undefined ? { GIT_NO_LAZY_FETCH: "1" } : {}),
		GIT_ALLOW_PROTOCOL: transports ?? "none",
		GIT_CONFIG_COUNT: String(overrides.length),
		...Object.fromEntries(
			overrides.flatMap(([key, value], index) => [
				[`GIT_CONFIG_KEY_${index}`, key],
				[`GIT_CONFIG_VALUE_${index}`, value],
			]),
		),
	};
}

function projectsOf(workDir: string, home = "/"): readonly string[] {
	const found: string[] = [];
	for (let directory = path.resolve(workDir); !isWithin(home, directory); directory = path.dirname(directory)) {
		if (directory === path.resolve(workDir) || existsSync(path.join(directory, ".git"))) found.push(directory);
	}
	return found;
}
