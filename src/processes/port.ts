// The one way to start a child process: in a group of its own, ended as a group.

export interface RunRequest {
	readonly file: string;
	readonly arguments: readonly string[];
	readonly workDir: string;
	readonly environment: Readonly<Record<string, string>>;
	/** Text for the child's stdin; without it stdin is closed. */
	readonly input?: string;
	/** Milliseconds until the group is ended; none when absent. */
	readonly timeout?: number;
	/** Output kept in memory, in bytes; what exceeds it is counted and dropped. */
	readonly outputLimit: number;
	/** Where all of the output goes as well once it exceeds the limit. */
	readonly spillPath?: string;
	/** Bytes of output after which nothing more goes to `spillPath`; none when absent. */
	readonly spillLimit?: number;
	/** True keeps stderr apart; false (the default) interleaves it with stdout line by line, as lines come. */
	readonly separateStderr?: boolean;
}

export interface RunOutcome {
	readonly ended:
		| { readonly kind: "exited"; readonly exitCode: number }
		| { readonly kind: "signalled"; readonly signal: string }
		| { readonly kind: "timed-out" }
		| { readonly kind: "aborted" }
		| { readonly kind: "not-started"; readonly reason: string };
	/** Invalid UTF-8 is replaced. With `separateStderr` only stdout, else both. */
	readonly output: string;
	/** Empty unless `separateStderr`. */
	readonly errorOutput: string;
	/** Bytes the child wrote in all. */
	readonly outputBytes: number;
	/** Whether `outputBytes` exceeded the limit. */
	readonly truncated: boolean;
	/** The file that holds all of the output, when it exceeded the limit and a path was given. */
	readonly spilledTo: string | null;
}

export interface Processes {
	/**
	 * Runs a command to its end; never throws. The abort ends the whole group: TERM, then KILL after a grace period.
	 * What the command left running when it exited is ended too, also what left its group.
	 */
	run(request: RunRequest, signal: AbortSignal): Promise<RunOutcome>;
	/** Ends every group still running and resolves once they are gone. */
	endAll(): Promise<void>;
}

/** A file that takes the output which does not fit in memory. One append is one write. */
export interface OutputSink {
	append(text: string): Promise<void>;
	close(): Promise<void>;
}

/** Opens the file, making its parent directories; called only when there is something to write. */
export type OpenOutputSink = (path: string) => Promise<OutputSink>;
