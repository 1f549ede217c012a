// Checks whether read-only git commands would run a program configured by a repository.
import { existsSync } from "node:fs";
import path from "node:path";
import { type GitPlace, runGit } from "./git.ts";

/** Repository keys that run a program on reads. Optional locks are off, so hooks do not run. */
const reading =
	/^(?:core\.fsmonitor|diff\.external|(?:filter|diff)\..*\.(?:clean|process|textconv|command)|gpg\.(?:.*\.)?program)$/is;
/** The same when git may fetch missing objects. */
const fetching =
	/^(?:protocol\..*|core\.(?:sshcommand|gitproxy|askpass)|credential\..*|remote\..*\.(?:uploadpack|vcs))$/is;
const promisor = /^(?:extensions\.partialclone|remote\..*\.promisor)$/is;

/** Also accept an apparent bare repository, as the command itself would. Neither of our verbs runs anything there. */
const bare = ["-c", "safe.bareRepository=all"];

const limits = { timeout: 5000, separateStderr: true };
/** Bytes of the file list: about 300,000 files. */
const listLimit = 32 * 1024 * 1024;
const mostSubmodules = 50;

/** Why git would run a program, or that this is unknown; null if it would not. Includes submodules. */
export async function repositoryProgram(
	directory: string,
	place: GitPlace,
	signal: AbortSignal,
): Promise<string | null> {
	const listing = {
		...limits,
		words: [...bare, "config", "--list", "-z", "--show-scope"],
		workDir: directory,
		outputLimit: 1_048_576,
	};
	const listed = await runGit(listing, place, signal);
	// Without a trusted git, the command's git cannot be trusted either.
	if (listed?.ended.kind !== "exited" || listed.ended.exitCode !== 0 || listed.truncated) {
		return "the repository's configuration cannot be read";
	}
	const own = settingsOf(listed.output).filter(({ scope }) => scope === "local" || scope === "worktree");
	const isPartial = own.some(({ key }) => promisor.test(key));
	const named = own.find(({ key, value }) => {
		// Git's built-in monitor, or none.
		if (/^core\.fsmonitor$/i.test(key) && /^(?:true|false|yes|no|on|off|0|1|)$/i.test(value)) return false;
		return reading.test(key) || (isPartial && fetching.test(key));
	});
	if (named !== undefined) return `the repository's \`${named.key}\` names a program that git would run`;
	return await submoduleProgram(directory, place, signal);
}

interface Setting {
	readonly scope: string;
	readonly key: string;
	readonly value: string;
}

/** Parses alternating scopes and settings, NUL-terminated. A setting is a key, a newline and its value. */
function settingsOf(output: string): readonly Setting[] {
	const parts = output.split("\0");
	return parts.flatMap((scope, index) => {
		const setting = parts[index + 1];
		if (index % 2 === 1 || setting === undefined) return [];
		const [key = "", ...value] = setting.split("\n");
		return [{ scope, key, value: value.join("\n") }];
	});
}

async function submoduleProgram(directory: string, place: GitPlace, signal: AbortSignal): Promise<string | null> {
	const words = [...bare, "ls-files", "--stage", "--full-name", "-z", ":/"];
	const listed = await runGit({ ...limits, words, workDir: directory, outputLimit: listLimit }, place, signal);
	// No repository, or no files.
	if (listed?.ended.kind !== "exited" || listed.ended.exitCode !== 0) return null;
	if (listed.truncated) return "the repository has too many files to look for submodules";
	const found = [...listed.output.matchAll(/(?:^|\0)160000 [^\t\0]*\t([^\0]*)/g)].map(([, name = ""]) => name);
	if (found.length === 0) return null;
	if (found.length > mostSubmodules) return "the repository has too many submodules to look into";
	const root = repositoryRoot(directory);
	for (const name of found) {
		const submodule = path.join(root, name);
		if (!existsSync(path.join(submodule, ".git"))) continue;
		const program = await repositoryProgram(submodule, place, signal);
		if (program !== null) return program;
	}
	return null;
}

function repositoryRoot(directory: string): string {
	for (let root = directory; ; root = path.dirname(root)) {
		if (existsSync(path.join(root, ".git")) || root === path.dirname(root)) return root;
	}
}
