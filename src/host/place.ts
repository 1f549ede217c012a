// Where relative paths and `~` lead, and where the files of the machine's administrator are.
import path from "node:path";

/** The base of relative paths and the meaning of `~`; both absolute. */
export interface Place {
	readonly currentDir: string;
	readonly home: string;
}

/** Absolute and normalized. Session directories are named after this form of a work dir, so links stay. */
export function toAbsolutePath(typed: string, place: Place): string {
	const expanded = typed === "~" || typed.startsWith("~/") ? place.home + typed.slice(1) : typed;
	return path.resolve(place.currentDir, expanded);
}

/** The machine administrator's permission rules, which only the administrator can write. */
export const managedPermissionsFile =
	process.platform === "darwin"
		? "/Library/Application Support/agentwire/permissions.toml"
		: "/etc/agentwire/permissions.toml";
