// Decides what a server command line does, so that a person on a terminal does not face a silent program.
import type { NamedSession, ServeOptions } from "./command-line.ts";
import { impliedMode, servesOnTerminal } from "./executable-name.ts";
import { UsageError } from "./usage-error.ts";

export type ServerStart =
	| { readonly kind: "serve"; readonly options: ServeOptions & { readonly session: NamedSession } }
	/** List the sessions that the flag could name. */
	| { readonly kind: "list-sessions"; readonly flag: string }
	| { readonly kind: "explain" };

export function toServerStart(options: ServeOptions, executable: string, isTerminal: boolean): ServerStart {
	const { session, mode } = options;
	if (session.kind === "asked") {
		requireTerminal(session.flag, isTerminal);
		return { kind: "list-sessions", flag: session.flag };
	}
	if (mode === null && isTerminal && !servesOnTerminal(executable)) return { kind: "explain" };
	return { kind: "serve", options: { ...options, session, mode: mode ?? impliedMode(executable) } };
}

/** Throws UsageError if nobody can choose a session for the flag. */
export function requireTerminal(flag: string, isTerminal: boolean): void {
	if (isTerminal) return;
	throw new UsageError(
		`${flag} needs the id of a session. On a terminal it lists those of the work directory; --continue opens the last one.`,
	);
}
