/** How a confined command reaches the network. Except for `host`, it has a separate network without links. */
export type ConfinedNetwork =
	| { readonly kind: "host" }
	| { readonly kind: "none" }
	| { readonly kind: "proxy"; readonly socket: string };

/** Everything is readable, only listed paths are writable. The deepest path wins, then the later list. */
export interface Confinement {
	/** Writable directories. Missing ones are ignored. */
	readonly writable: readonly string[];
	/** Empty, writable directories that disappear with the command. */
	readonly scratch: readonly string[];
	/** Read-only, even below a writable directory. Missing paths cannot be created. */
	readonly readOnly: readonly string[];
	/** Files in `readOnly`: a missing one appears as an empty file instead of an empty directory. */
	readonly missingAsFiles: readonly string[];
	/** Cannot be placeholders: what the command creates there is removed, or renamed, afterwards. */
	readonly removed: readonly string[];
	/** Readable but not writable, in any directory. Missing ones are ignored and may be created. */
	readonly visible: readonly string[];
	/** Unreadable files and directories. Missing ones are ignored. */
	readonly hidden: readonly string[];
	readonly network: ConfinedNetwork;
}

export interface RunRequest {
	readonly file: string;
	readonly arguments: readonly string[];
	readonly workDir: string;
	readonly environment: Readonly<Record<string, string>>;
	readonly input?: string;
	/** Milliseconds until the group is ended. Default: no limit. */
	readonly timeout?: number;
	/** Maximum bytes of output in memory; the rest is counted and dropped. */
	readonly outputLimit: number;
	/** File for all output once it exceeds the limit. */
	readonly spillPath?: string;
	/** Maximum bytes written to `spillPath`. Default: no limit. */
	readonly spillLimit?: number;
	/** Stores stderr separately instead of interleaving it with stdout line by line. Default: false. */
	readonly separateStderr?: boolean;
	/** Uses the child's stdin and output live, instead of `input` and stored output. */
	readonly conversation?: ChildStdio;
	/** Receives all output as it arrives, up to `limit` bytes, instead of memory. The caller closes the sink. */
	readonly outputTo?: { readonly sink: OutputSink; readonly limit: number };
	/** Called with each output chunk, in addition to its normal handling. Must not throw. */
	readonly onOutput?: (source: "output" | "error", bytes: Buffer) => void;
	/** Called with the leader's process id once it runs. */
	readonly onStart?: (processId: number) => void;
	/** Confines the command. If that is impossible, the command does not start; it never runs unconfined. */
	readonly confinement?: Confinement;
	/** When aborted, groups being ended are killed immediately. It does not end running groups. */
	readonly abortPending?: AbortSignal;
}

export interface ChildStdio {
	begin(input: ChildInput): void;
	/** Receives child output. Reading pauses until a returned promise resolves. */
	hear(source: "output" | "error", bytes: Buffer): Promise<void> | void;
}

/** The stdin of a child with `conversation`. */
export interface ChildInput {
	write(text: string): Promise<void>;
	/** Most programs exit at the end of input. */
	close(): void;
}

export interface RunOutcome {
	readonly ended:
		| { readonly kind: "exited"; readonly exitCode: number }
		| { readonly kind: "signalled"; readonly signal: string }
		| { readonly kind: "timed-out" }
		| { readonly kind: "aborted" }
		| { readonly kind: "not-started"; readonly reason: string };
	/** Invalid UTF-8 is replaced. Only stdout with `separateStderr`, else both. */
	readonly output: string;
	/** Empty unless `separateStderr`. */
	readonly errorOutput: string;
	readonly outputBytes: number;
	/** Whether `outputBytes` exceeded the limit. */
	readonly truncated: boolean;
	/** The file with all output, if it exceeded the limit and a path was given. */
	readonly spilledTo: string | null;
}

export interface Processes {
	run(request: RunRequest, signal: AbortSignal): Promise<RunOutcome>;
	endAll(): Promise<void>;
}

export interface DetachedRequest {
	readonly file: string;
	readonly arguments: readonly string[];
	readonly workDir: string;
	readonly environment: Readonly<Record<string, string>>;
}

/** A process in its own session, which may outlive this one. Its stdin pipe closes when this process exits. */
export interface DetachedProcess {
	readonly processId: number;
	readonly gone: Promise<number | null>;
	send(line: string): void;
	release(): void;
}

/** A file for output that exceeds memory. Each append is one write. */
export interface OutputSink {
	append(text: string): Promise<void>;
	close(): Promise<void>;
}

/** Opens the file and creates parent directories. Called when there is data to write. */
export type OpenOutputSink = (path: string) => Promise<OutputSink>;
