// The directory after a command, which depends on whether the command succeeds.

/** An absolute path; "open" if there are several candidates; "never" if no command follows. */
export type Directory = { readonly path: string } | "open" | "never";

export interface Outcome {
	readonly success: Directory;
	readonly failure: Directory;
}

export function stays(directory: Directory): Outcome {
	return { success: directory, failure: directory };
}

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

/** The directory of a command; null if unknown or if the command is never reached. */
export function pathOf(directory: Directory): string | null {
	return typeof directory === "string" ? null : directory.path;
}
