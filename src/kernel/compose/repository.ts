// Describes a git repository in a few lines, for agents that start by exploring.
import { type GitPlace, runGit } from "../../ports/processes/git/git.ts";

const lineLimit = 20;
const timeout = 5000;

/** Branch, changes and recent commits. Empty without a repository or git. */
export async function describeRepository(workDir: string, place: GitPlace, signal: AbortSignal): Promise<string> {
	const status = await git(["status", "--short", "--branch"], workDir, place, signal);
	if (status === null) return "";
	const commits = (await git(["log", "--oneline", "-n", "5"], workDir, place, signal)) ?? "";
	return `<git-repository>\n${firstLines(status)}\n\nLast commits:\n${firstLines(commits)}\n</git-repository>`;
}

async function git(
	words: readonly string[],
	workDir: string,
	place: GitPlace,
	signal: AbortSignal,
): Promise<string | null> {
	const outcome = await runGit({ words, workDir, timeout, outputLimit: 65_536, separateStderr: true }, place, signal);
	return outcome?.ended.kind === "exited" && outcome.ended.exitCode === 0 ? outcome.output.trim() : null;
}

function firstLines(text: string): string {
	const lines = text.split("\n");
	const rest = lines.length - lineLimit;
	return rest > 0 ? [...lines.slice(0, lineLimit), `... and ${rest} more`].join("\n") : text;
}
