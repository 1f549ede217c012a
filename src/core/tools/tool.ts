import type { ClientCapability, JsonSchema } from "../../api/session-options.ts";
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

/** `action` names the kind of act for display; policies judge the `subjects`. */
export interface ApprovalNeed {
	/** The decision if all policies abstain. */
	readonly byDefault: "ask" | "allow";
	readonly action: string;
	readonly subjects: readonly Subject[];
	readonly description: string;
	readonly display: readonly DisplayBlock[];
}

export type Preparation =
	| { readonly kind: "settled"; readonly result: ToolReturn }
	| {
			readonly kind: "ready";
			readonly approval: ApprovalNeed | null;
			/** Whether running it has effects outside the kernel; such calls are recorded before they start. */
			readonly hasEffect: boolean;
			/** What the call will change; calls of one answer with the same target are prepared again in order. Null if none. */
			readonly target: string | null;
			/** Runs once; rejects only on a bug. After an abort it settles once its effects have ended. */
			execute(signal: AbortSignal, progress?: ToolProgress): Promise<ToolReturn | Refusal>;
	  };

/** UTF-8 bytes that may end within a character. Never fails; cheap when no client listens. */
export type ToolProgress = (stream: EventBodyOf<"tool.progress">["stream"], output: string | Buffer) => void;

/** A result for a user's refusal to continue, which stops the turn like a rejected approval. */
export interface Refusal {
	readonly kind: "refusal";
	readonly result: ToolReturn;
}

export interface ToolCallContext {
	readonly toolCallId: string;
	/** The model's JSON text if used unchanged; null if the arguments were adapted. */
	readonly rawArguments: string | null;
	/** Aborts the preparation when the turn is canceled; absent if it cannot be canceled. */
	readonly signal?: AbortSignal;
}

export type OpenedCall =
	| { readonly ok: true; readonly preparation: Preparation }
	| { readonly ok: false; readonly issue: string };

export interface Tool {
	readonly name: string;
	/** Hides the tool from the model, but not from calls, unless an attached client has all these capabilities. Default: none. */
	readonly needs?: readonly ClientCapability[];
	readonly description: string;
	/** JSON Schema of the arguments; computed on first use. */
	parameters(): Promise<JsonSchema>;
	/** Checks the decoded arguments, then prepares the call; reads and checks only. */
	open(value: unknown, context: ToolCallContext): Promise<OpenedCall>;
}

export interface ToolEnvironment {
	readonly workDir: string;
	additionalDirs(): readonly string[];
	/** Skill directories, which are also searchable. */
	readonly skillDirs: readonly string[];
	/** The environment for child processes; tools never read the process's own. */
	readonly environment: Readonly<Record<string, string>>;
	readonly home: string;
	/** The directory for output too large for an answer. */
	readonly outputDir: string;
	/** Refuses to read secret files. */
	readonly files: Files;
	/** `files` without the secret rule, for changes that the user sees before they are made. */
	readonly allFiles: Files;
	/** Workspace text files in the client's editor; null without editor support. */
	readonly editor: Editor | null;
	readonly secrets: SecretPaths;
	readonly processes: Processes;
	readonly sandbox: CommandSandbox | null;
	readonly web: WebAccess;
	/** ripgrep: a file to start, or a name for PATH. */
	readonly findRipgrep: () => Promise<string>;
	readonly clock: Clock;
	readonly todos: TodoOperations;
	readonly questions: QuestionOperations;
	readonly plan: PlanOperations;
	/** Null for subagents, which cannot start subagents. */
	readonly agents: AgentOperations | null;
	readonly mail: MailOperations;
	/** The media the agent's model accepts, which decide the available media tools. */
	readonly media: MediaOperations;
	/** Null for subagents, which have no background work. */
	readonly tasks: TaskOperations | null;
}

export interface CommandSandbox {
	/** Why the configured sandbox is unavailable: a clause without a full stop; else null. */
	readonly missing: string | null;
	/** Runs commands outside of the sandbox. */
	readonly outside: Processes;
	/** One sentence if the sandbox probably caused the command's failure. `since` is its start in monotonic milliseconds. */
	explain(outcome: RunOutcome, since: number): Promise<string | null>;
}

export interface WebAccess {
	readonly network: Network;
	/** Hosts, addresses and ranges that may be fetched although they are not public. */
	readonly allowed: readonly string[];
	/** Why a permission rule denies a redirect target: a sentence; null if allowed. */
	refuses(url: URL): Promise<string | null>;
	readonly fetchService: WebService | null;
	readonly searchService: WebService | null;
	readonly readPage: ReadPage;
}

export interface WebService {
	readonly baseUrl: string;
	readonly customHeaders: Readonly<Record<string, string>>;
	token(): Promise<string>;
}

export interface TodoOperations {
	read(): readonly Todo[];
	write(todos: readonly Todo[]): Promise<void>;
}
