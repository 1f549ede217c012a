import type { Log } from "../../base/log.ts";
import type { Files } from "../../ports/files/port.ts";
import { loadAgentsMd } from "./agents-md.ts";
import { listDirectoryTree } from "./directory-listing.ts";
import { describeSkills, type Skill } from "./skill.ts";

export interface PromptVariables {
	/** ISO 8601 with the local zone's offset. */
	readonly now: string;
	readonly workDir: string;
	readonly workDirListing: string;
	readonly agentsMd: string;
	/** The skill list, or a sentence saying that the session has no skills. */
	readonly skills: string;
	readonly additionalDirsInfo: string;
	readonly os: string;
	readonly shell: string;
}

export type RenderPrompt = (variables: PromptVariables) => string;

export interface PromptPlace {
	readonly files: Files;
	readonly skills: readonly Skill[];
	readonly workDir: string;
	readonly additionalDirs: readonly string[];
	readonly now: number;
	readonly os: string;
	readonly shell: { readonly name: string; readonly path: string };
	readonly log: Log;
}

/** Reads the listing and the instructions. Unreadable files do not fail it. */
export async function loadPromptVariables(place: PromptPlace): Promise<PromptVariables> {
	const { files, skills, workDir, additionalDirs, now, os, shell, log } = place;
	const [workDirListing, agentsMd, additional] = await Promise.all([
		listDirectoryTree(files, workDir),
		loadAgentsMd(files, workDir, log),
		Promise.all(
			additionalDirs.map(async (directory) => describe(directory, await listDirectoryTree(files, directory))),
		),
	]);
	return {
		now: toLocalTimestamp(now),
		workDir,
		workDirListing,
		agentsMd,
		skills: describeSkills(skills),
		additionalDirsInfo: additional.join("\n\n"),
		os,
		shell: `${shell.name} (${shell.path})`,
	};
}

const describe = (directory: string, listing: string) => `${directory}\n\n${listing}`;

function toLocalTimestamp(now: number): string {
	const minutesEast = -new Date(now).getTimezoneOffset();
	const local = new Date(now + minutesEast * 60_000).toISOString().slice(0, 19);
	const pad = (value: number) => String(Math.floor(value)).padStart(2, "0");
	const ahead = Math.abs(minutesEast);
	return `${local}${minutesEast < 0 ? "-" : "+"}${pad(ahead / 60)}:${pad(ahead % 60)}`;
}
