// Where a script may be after a command: its directory depends on whether the command succeeds.

/** An absolute path; "open" when several are possible; "never" when no command follows. */
export type Directory = { readonly path: string } | "open" | "never";

/** The directory after a command, by how the command ends. */
export interface Outcome {
	readonly success: Directory;
	readonly failure: Directory;
}

export function stays(directory: Directory): Outcome {
	return { success: directory, failure: directory };
}

/** The directory where two ways meet. */
export function merge(one: Directory, other: Directory): Directory {
	if (one === "never") return other;
	if (other === "never") return one;
	if (one === "open" || other === "open") return "open";
	return one.path === other.path ? one : "open";
}

export function after(outcome: Outcome): Directory {
	return merge(outcome.success, outcome.failure);
}

export function isSame(one: Directory, other: Directory): boolean {
	if (typeof one === "string" || typeof other === "string") return one === other;
	return one.path === other.path;
}

/** For a command that runs there; the directory of one that is never reached is unknown. */
export function pathOf(directory: Directory): string | null {
	return typeof directory === "string" ? null : directory.path;
}
