// What the actions of the `permissions` command work with, and what they answer.

import type { Place } from "../../host/place.ts";
import type { Files } from "../../ports/files/port.ts";
import type { GitPlace } from "../../ports/processes/git/git.ts";

/** What the command says, in lines, and its exit code. */
export interface PermissionsAnswer {
	readonly results: readonly string[];
	/** What a person should see apart from the results. */
	readonly faults: readonly string[];
	readonly code: number;
}

export interface PermissionsPlace {
	readonly files: Files;
	readonly shareDir: string;
	readonly place: Place;
	/** For git, which is asked what a repository would have it run. */
	readonly git: GitPlace;
	/** The machine administrator's rules file; null for none. */
	readonly managedFile: string | null;
}

/** Something that the person can mend. The message is a sentence. */
export class PermissionsError extends Error {
	override readonly name = "PermissionsError";
}
