// Decides what a command line for a server does: on a terminal a person should not wait in front of a silent program.
import type { NamedSession, ServeOptions } from "./command-line.ts";
import { impliedMode, servesOnTerminal } from "./executable-name.ts";
import { UsageError } from "./usage-error.ts";

export type ServerStart =
	| { readonly kind: "serve"; readonly options: ServeOptions & { readonly session: NamedSession } }
	/** A person wants to see the sessions that the flag could name. */
	| { readonly kind: "list-sessions"; readonly flag: string }
	/** Explain to a person what this is and how to start it. */
	| { readonly kind: "explain" };

/** `isTerminal` says whether a person is at stdin. Throws UsageError. */
export function toServerStart(options: ServeOptions, executable: string, isTerminal: boolean): ServerStart {
	const { session, mode } = options;
	if (session.kind === "asked") {
		requireTerminal(session.flag, isTerminal);
		return { kind: "list-sessions", flag: session.flag };
	}
	if (mode === null && isTerminal && !servesOnTerminal(executable)) return { kind: "explain" };
	return { kind: "serve", options: { ...options, session, mode: mode ?? impliedMode(executable) } };
}

/** Throws UsageError when nobody can choose the session for the flag. */
export function requireTerminal(flag: string, isTerminal: boolean): void {
	if (isTerminal) return;
	throw new UsageError(
		`${flag} needs the id of a session. On a terminal it lists those of the work directory; --continue opens the last one.`,
	);
}
