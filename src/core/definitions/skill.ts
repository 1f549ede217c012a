import type { Files } from "../../ports/files/port.ts";
import type { Flow } from "./flows/flow.ts";

export const skillSizeLimit = 1024 * 1024;

/** The origins of skills, in display order. */
export const skillScopes = ["project", "user", "extra", "built-in"] as const;
export type SkillScope = (typeof skillScopes)[number];

export interface Skill {
	/** Letters, digits, `-` and `_`: part of a slash command. */
	readonly name: string;
	/** One line. */
	readonly description: string;
	readonly scope: SkillScope;
	/** Absolute path of its file. */
	readonly path: string;
	readonly flow: Flow | null;
}

export const noSkills = "There are no skills.";

const headings: Readonly<Record<SkillScope, string>> = {
	project: "### Project",
	user: "### User",
	extra: "### Extra",
	"built-in": "### Built-in",
};

export function describeSkills(skills: readonly Skill[]): string {
	const groups = skillScopes.flatMap((scope) => {
		const lines = skills.filter((skill) => skill.scope === scope).map(describeSkill);
		return lines.length === 0 ? [] : [[headings[scope], "", ...lines].join("\n")];
	});
	return groups.length === 0 ? noSkills : groups.join("\n\n");
}

const describeSkill = ({ name, path, description }: Skill) =>
	`- ${name}\n  Path: ${path}\n  Description: ${description}`;

/** The whole file, trimmed, with its frontmatter; null if unreadable. */
export async function loadSkillText({ path }: Skill, files: Files): Promise<string | null> {
	const bytes = await files.readRange(path, 0, skillSizeLimit + 1).catch(() => null);
	return bytes === null || bytes.length > skillSizeLimit ? null : toText(bytes).trim();
}

/** A text file's content without the byte order mark. */
export const toText = (bytes: Buffer) => bytes.toString().replace(/^\ufeff/, "");

export function skillPrompt(text: string, args: string): string {
	return args === "" ? text : `${text}\n\nUser request:\n${args}`;
}
