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
	/** Speaks with the child as long as it runs, in place of `input` and of output that is kept. */
	readonly conversation?: ChildStdio;
	/** Takes all output as it comes, in place of memory; after `limit` bytes the rest is dropped. It is the caller's to close. */
	readonly outputTo?: { readonly sink: OutputSink; readonly limit: number };
	/** Told the process id of the group's leader once it runs. */
	readonly onStart?: (processId: number) => void;
	/** Once it aborts, what is being ended is killed without waiting for it. Ends nothing by itself. */
	readonly abortPending?: AbortSignal;
}

/** Our side of what is said to a child and by it. */
export interface ChildStdio {
	/** Called once, when the child runs. */
	begin(input: ChildInput): void;
	/** What the child prints, as it comes. A promise means: nothing more is read before it resolves. */
	hear(source: "output" | "error", bytes: Buffer): Promise<void> | void;
}

/** The stdin of a child that is being spoken to. */
export interface ChildInput {
	/** Resolves once the pipe has taken the text; rejects when the child reads no more. */
	write(text: string): Promise<void>;
	/** By this most programs are told to go. */
	close(): void;
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

/** What to start as a process of its own. */
export interface DetachedRequest {
	readonly file: string;
	readonly arguments: readonly string[];
	readonly workDir: string;
	readonly environment: Readonly<Record<string, string>>;
}

/** A process in a session of its own, which may outlive this one. Its stdin is a pipe that closes when this one goes. */
export interface DetachedProcess {
	readonly processId: number;
	/** Resolves with its exit code once it has gone; null when a signal ended it. */
	readonly gone: Promise<number | null>;
	/** Writes a line to its stdin. */
	send(line: string): void;
	/** Closes its stdin and no more. */
	release(): void;
}

/** A file that takes the output which does not fit in memory. One append is one write. */
export interface OutputSink {
	append(text: string): Promise<void>;
	close(): Promise<void>;
}

/** Opens the file, making its parent directories; called only when there is something to write. */
export type OpenOutputSink = (path: string) => Promise<OutputSink>;
