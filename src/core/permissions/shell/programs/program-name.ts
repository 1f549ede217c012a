import { foldName } from "../../../../ports/files/folded-name.ts";

export function writtenName(program: string): string {
	return program.slice(program.lastIndexOf("/") + 1);
}

/** The folded name, for file systems where `RM` runs `rm`. Use it to deny, ask or doubt, never to allow. */
export function nameOf(program: string): string {
	const name = writtenName(program);
	// Fast path: there may be thousands of rules, and most names are plain.
	return /^[a-z0-9._+-]*$/.test(name) ? name : foldName(name);
}
