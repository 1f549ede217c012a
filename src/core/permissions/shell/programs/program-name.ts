import { foldName } from "../../../../ports/files/folded-name.ts";

/** The name of a program without the path to it, as it is written. */
export function writtenName(program: string): string {
	return program.slice(program.lastIndexOf("/") + 1);
}

/**
 * The same for all spellings that lead to one program where the file system does not distinguish them: there, `RM` is
 * `rm`. For what denies, asks or doubts, and never for what allows.
 */
export function nameOf(program: string): string {
	const name = writtenName(program);
	// There may be thousands of rules, and most names are of these.
	return /^[a-z0-9._+-]*$/.test(name) ? name : foldName(name);
}
