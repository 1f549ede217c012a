// The port for child processes: each runs in a group of its own, which is ended as a whole.

/** How a confined command reaches the network. With anything but `host` it has a network of its own, without links. */
export type ConfinedNetwork =
	| { readonly kind: "host" }
	| { readonly kind: "none" }
	/** The Unix socket of a proxy that speaks HTTP and SOCKS 5; the command reaches it at a loopback port. */
	| { readonly kind: "proxy"; readonly socket: string };

/**
 * What a command may do to the machine, as plain data that can be serialized. Everything can be read and nothing
 * written but as listed. All paths are absolute; where lists overlap, the deepest path decides, and of equal paths the
 * one in the list that is described last here.
 */
export interface Confinement {
	/** Directories in which the command may write. Missing ones are ignored. */
	readonly writable: readonly string[];
	/** Directories that are empty, writable and gone with the command. */
	readonly scratch: readonly string[];
	/** Read-only although below a writable directory. What is missing cannot be created. */
	readonly readOnly: readonly string[];
	/** Those of `readOnly` that are files: where one is missing, programs find an empty one, and else an empty directory. */
	readonly missingAsFiles: readonly string[];
	/**
	 * Files that are removed once the command is gone, if it created them; directories get another name. For what cannot
	 * be a placeholder.
	 */
	readonly removed: readonly string[];
	/** Readable but not writable, below whatever directory. Missing ones are ignored, and can be created. */
	readonly visible: readonly string[];
	/** Files and directories that cannot be read. Missing ones are ignored. */
	readonly hidden: readonly string[];
	readonly network: ConfinedNetwork;
}

export interface RunRequest {
	readonly file: string;
	readonly arguments: readonly string[];
	readonly workDir: string;
	readonly environment: Readonly<Record<string, string>>;
	/** Text for the child's stdin; without it stdin is closed. */
	readonly input?: string;
	/** Milliseconds until the group is ended; none when absent. */
	readonly timeout?: number;
	/** Output to store in memory, in bytes; the rest is counted and dropped. */
	readonly outputLimit: number;
	/** The file for all output once it exceeds the limit. */
	readonly spillPath?: string;
	/** Bytes after which nothing more goes to `spillPath`; none when absent. */
	readonly spillLimit?: number;
	/** True stores stderr separately; false (the default) interleaves it with stdout line by line. */
	readonly separateStderr?: boolean;
	/** Uses the child's stdin and output while it runs, instead of `input` and stored output. */
	readonly conversation?: ChildStdio;
	/**
	 * Receives all output as it arrives, instead of memory; after `limit` bytes the rest is dropped. The caller closes
	 * it.
	 */
	readonly outputTo?: { readonly sink: OutputSink; readonly limit: number };
	/** Called with each piece of output as it arrives, in addition to what becomes of it; must not throw. */
	readonly onOutput?: (source: "output" | "error", bytes: Buffer) => void;
	/** Called with the process id of the group's leader once it runs. */
	readonly onStart?: (processId: number) => void;
	/** Confines the command. Where that is impossible the command does not start; it never runs unconfined. */
	readonly confinement?: Confinement;
	/** Once it aborts, groups being ended are killed without waiting. Ends nothing by itself. */
	readonly abortPending?: AbortSignal;
}

/** Our side of a child's stdin and output. */
export interface ChildStdio {
	/** Called once, when the child runs. */
	begin(input: ChildInput): void;
	/** Output of the child as it arrives. Nothing more is read before a returned promise resolves. */
	hear(source: "output" | "error", bytes: Buffer): Promise<void> | void;
}

/** The stdin of a child with `conversation`. */
export interface ChildInput {
	/** Resolves once the pipe has accepted the text; rejects when the child reads no more. */
	write(text: string): Promise<void>;
	/** Most programs exit at the end of their input. */
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
	/** Total bytes that the child wrote. */
	readonly outputBytes: number;
	/** Whether `outputBytes` exceeded the limit. */
	readonly truncated: boolean;
	/** The file with all the output, when it exceeded the limit and a path was given. */
	readonly spilledTo: string | null;
}

export interface Processes {
	/**
	 * Runs a command to its end; never throws. The abort ends the whole group: TERM, then KILL after a grace period.
	 * Processes that the command left running are ended too, even outside its group.
	 */
	run(request: RunRequest, signal: AbortSignal): Promise<RunOutcome>;
	/** Ends every group still running and resolves once they are gone. */
	endAll(): Promise<void>;
}

/** The command of a detached process. */
export interface DetachedRequest {
	readonly file: string;
	readonly arguments: readonly string[];
	readonly workDir: string;
	readonly environment: Readonly<Record<string, string>>;
}

/**
 * A process in a session of its own, which may outlive this one. Its stdin is a pipe that closes when this one exits.
 */
export interface DetachedProcess {
	readonly processId: number;
	/** Resolves with its exit code once it has exited; null when a signal ended it. */
	readonly gone: Promise<number | null>;
	/** Writes a line to its stdin. */
	send(line: string): void;
	/** Closes its stdin and nothing else. */
	release(): void;
}

/** A file for output that exceeds memory. One append is one write. */
export interface OutputSink {
	append(text: string): Promise<void>;
	close(): Promise<void>;
}

/** Opens the file, creating its parent directories; called only when there is something to write. */
export type OpenOutputSink = (path: string) => Promise<OutputSink>;
