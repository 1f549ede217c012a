// Resolves relative paths and `~`, and locates the machine administrator's files.
import path from "node:path";

/** The base of relative paths and the meaning of `~`; both absolute. */
export interface Place {
	readonly currentDir: string;
	readonly home: string;
}

/** Absolute and normalized, with links kept: session directories are named after this form of the working directory. */
export function toAbsolutePath(typed: string, place: Place): string {
	const expanded = typed === "~" || typed.startsWith("~/") ? place.home + typed.slice(1) : typed;
	return path.resolve(place.currentDir, expanded);
}

/** The administrator's permission rules, writable only by the administrator. */
export const managedPermissionsFile =
	process.platform === "darwin"
		? "/Library/Application Support/agentwire/permissions.toml"
		: "/etc/agentwire/permissions.toml";
