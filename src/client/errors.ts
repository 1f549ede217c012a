/** A request that the server refused. `code` is one of the kernel's error codes, such as `busy` or `session-not-found`. */
export class Refused extends Error {
	readonly code: string;
	readonly details: unknown;

	constructor(code: string, message: string, details: unknown = null) {
		super(message);
		this.name = "Refused";
		this.code = code;
		this.details = details;
	}
}

/** The server is gone. Every open promise of its client rejects with this. */
export class PeerGone extends Error {
	/** Exit code of a process started by the client; null if a signal ended it. */
	readonly exitCode: number | null;
	/** The end of its stderr output. */
	readonly stderr: string;

	constructor(why: string, { exitCode = null, stderr = "" }: { exitCode?: number | null; stderr?: string } = {}) {
		super(stderr === "" ? why : `${why}\n${stderr.trimEnd()}`);
		this.name = "PeerGone";
		this.exitCode = exitCode;
		this.stderr = stderr;
	}
}

export function messageOf(thrown: unknown): string {
	return thrown instanceof Error ? thrown.message : String(thrown);
}
