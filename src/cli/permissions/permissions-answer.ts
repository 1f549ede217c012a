import type { Place } from "../../host/place.ts";
import type { Files } from "../../ports/files/port.ts";
import type { GitPlace } from "../../ports/processes/git/git.ts";

export interface PermissionsAnswer {
	readonly results: readonly string[];
	readonly faults: readonly string[];
	readonly code: number;
}

export interface PermissionsPlace {
	readonly files: Files;
	readonly shareDir: string;
	readonly place: Place;
	/** Used to ask git which commands a repository would run. */
	readonly git: GitPlace;
	/** The machine administrator's rules file; null for none. */
	readonly managedFile: string | null;
}

export class PermissionsError extends Error {
	override readonly name = "PermissionsError";
}
