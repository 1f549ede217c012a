// The contract of every tool. What `prepare` shows for approval is exactly what `execute` does; no tool asks by itself,
// and what the model can correct is a result, never an exception.

import type { DisplayBlock, Todo, ToolReturn } from "../../api/values/content.ts";
import type { EventBodyOf } from "../../api/values/event.ts";
import type { Subject } from "../../api/values/subject.ts";
import type { Clock } from "../../base/clock.ts";
import type { Editor } from "../../ports/files/editor-files.ts";
import type { Files } from "../../ports/files/port.ts";
import type { SecretPaths } from "../../ports/files/secret-paths.ts";
import type { Network } from "../../ports/network/network.ts";
import type { Processes, RunOutcome } from "../../ports/processes/port.ts";
import type {
	AgentOperations,
	MailOperations,
	MediaOperations,
	PlanOperations,
	QuestionOperations,
	TaskOperations,
} from "./operations.ts";
import type { ReadPage } from "./web/page-reader.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * What is decided before the effect, and shown to the person who is asked. `action` names the kind of act for people;
 * `subjects` are what the call would act on, which policies decide over.
 */
export interface ApprovalNeed {
	/** What happens when no policy has anything to say. */
	readonly byDefault: "ask" | "allow";
	readonly action: string;
	readonly subjects: readonly Subject[];
	readonly description: string;
	readonly display: readonly DisplayBlock[];
}

export type Preparation =
	/** Nothing to run: refused, or answered without an effect. */
	| { readonly kind: "settled"; readonly result: ToolReturn }
	| {
			readonly kind: "ready";
			/** Null when there is nothing to decide over. */
			readonly approval: ApprovalNeed | null;
			/** Whether running it changes anything outside the kernel; such calls are recorded before they start. */
			readonly hasEffect: boolean;
			/**
			 * What the call was prepared against and will change, such as a file; null for nothing in particular. Calls
			 * of one answer that nobody was asked about are prepared again, in order, for the same target.
			 */
			readonly target: string | null;
			/**
			 * Runs once. Rejects only on a bug; after an abort it settles as soon as its effects have ended. What it
			 * reports as progress is for clients that watch; the result has all that the model needs.
			 */
			execute(signal: AbortSignal, progress?: ToolProgress): Promise<ToolReturn | Refusal>;
	  };

/**
 * Reports output of a running call as it comes; bytes are UTF-8, and may end within a character. It never fails, and is
 * cheap when no client wants it.
 */
export type ToolProgress = (stream: EventBodyOf<"tool.progress">["stream"], output: string | Buffer) => void;

/** A result with a person's refusal to continue: it stops the turn like a rejected approval. */
export interface Refusal {
	readonly kind: "refusal";
	readonly result: ToolReturn;
}

/** What a call knows besides its arguments. */
export interface ToolCallContext {
	readonly toolCallId: string;
	/** The arguments as the model wrote them, unless they were fitted to the schema: JSON text or null. */
	readonly rawArguments: string | null;
	/** Ends what the preparation waits for when the turn is cancelled; absent when nobody can cancel it. */
	readonly signal?: AbortSignal;
}

/** The outcome of opening a call: prepared, or invalid arguments (`issue` is one sentence). */
export type OpenedCall =
	| { readonly ok: true; readonly preparation: Preparation }
	| { readonly ok: false; readonly issue: string };

/** What a client must be able to do before a model is offered the tool. */
export type ClientCapability = "questions" | "plan-mode";

export interface Tool {
	readonly name: string;
	/**
	 * Hidden from the model, though not from calls, unless an attached client has all these capabilities. Default:
	 * none.
	 */
	readonly needs?: readonly ClientCapability[];
	readonly description: string;
	/** JSON Schema of the arguments; computed on first use. */
	parameters(): Promise<JsonSchema>;
	/** Checks the decoded arguments, then prepares the call: reads and checks, changes nothing. */
	open(value: unknown, context: ToolCallContext): Promise<OpenedCall>;
}

/** What a session provides to its tools. Paths are absolute. */
export interface ToolEnvironment {
	readonly workDir: string;
	/** The current additional workspace roots. */
	additionalDirs(): readonly string[];
	/** Directories of skills: they may be searched as well. */
	readonly skillDirs: readonly string[];
	/** The environment for children; tools never read the process's own. */
	readonly environment: Readonly<Record<string, string>>;
	/** The user's home directory, for `~`. */
	readonly home: string;
	/** The directory for output too large for an answer. */
	readonly outputDir: string;
	/** Refuses to read files that contain secrets. */
	readonly files: Files;
	/** The same without that rule: for changes, which a person is shown before they are made. */
	readonly allFiles: Files;
	/** Text files of the workspace as a client's editor has them; null without such a client. */
	readonly editor: Editor | null;
	/** What `files` refuses to read. */
	readonly secrets: SecretPaths;
	readonly processes: Processes;
	/** The sandbox that `processes` runs commands in; null when the settings ask for none. */
	readonly sandbox: CommandSandbox | null;
	readonly web: WebAccess;
	/** ripgrep: a file to start, or a name for PATH. */
	readonly findRipgrep: () => Promise<string>;
	readonly clock: Clock;
	readonly todos: TodoOperations;
	readonly questions: QuestionOperations;
	readonly plan: PlanOperations;
	/** Null for subagents, which call none. */
	readonly agents: AgentOperations | null;
	readonly mail: MailOperations;
	/** The media that the agent's model accepts: it decides which media tools exist. */
	readonly media: MediaOperations;
	/** Null for subagents, which have no background work. */
	readonly tasks: TaskOperations | null;
}

/** The sandbox of commands, as tools see it. */
export interface CommandSandbox {
	/** Why there is none on this machine, although the settings ask for one: a clause without full stop; else null. */
	readonly missing: string | null;
	/** Runs commands without it. */
	readonly outside: Processes;
	/**
	 * One sentence when a command that failed looks as if the sandbox was why. `since` is when it was started, by the clock
	 * that nobody sets, in milliseconds.
	 */
	explain(outcome: RunOutcome, since: number): Promise<string | null>;
}

/** What tools use to access the web. */
export interface WebAccess {
	readonly network: Network;
	/** Hosts, addresses and ranges that may be fetched although they are not public. */
	readonly allowed: readonly string[];
	/** Why a permission rule denies an address that a page redirects to: a sentence; null when none does. */
	refuses(url: URL): Promise<string | null>;
	/** The service that fetches pages for us; null for none. */
	readonly fetchService: WebService | null;
	/** The search service; null for none. */
	readonly searchService: WebService | null;
	/** Converts HTML to text. */
	readonly readPage: ReadPage;
}

/** A web service from the settings. */
export interface WebService {
	readonly baseUrl: string;
	/** Sent with each request. */
	readonly customHeaders: Readonly<Record<string, string>>;
	/** The current bearer token. */
	token(): Promise<string>;
}

export interface TodoOperations {
	read(): readonly Todo[];
	write(todos: readonly Todo[]): Promise<void>;
}
