// What is known of a session and of its host.
import type { ModelChoice, ModelOption } from "./models.ts";
import type { UserInput } from "./values/content.ts";
import type { HistoryEntry } from "./values/conversation.ts";
import type { AgentEvent, AgentPathEntry, Cursor, EventBody } from "./values/event.ts";
import type { CommandHook } from "./values/hooks/hook.ts";
import type { SessionMode } from "./values/session-mode.ts";

/** A skill that a person can choose. */
export interface SkillInfo {
	readonly name: string;
	/** One line. */
	readonly description: string;
	readonly scope: "project" | "user" | "extra" | "built-in";
}

/** Identifies a stored session without a disk access. */
export interface StoredId {
	readonly id: string;
	/** Absolute. */
	readonly workDir: string;
}

/** Facts about a session that are known without loading it. */
export interface SessionInfo {
	readonly id: string;
	/** Absolute. */
	readonly workDir: string;
	/** The name sent to the provider, and the provider's key; empty for none. */
	readonly model: string;
	readonly provider: string;
	readonly isRunning: boolean;
	/** Whether an approval or question is open. */
	readonly isWaiting: boolean;
	/** Whether its last turn ended in an error; absent if not, and where that is not known. */
	readonly hasFailed?: boolean;
	/** Empty if it was created without labels. */
	readonly labels: Readonly<Record<string, string>>;
	/** Absent if it was created without. */
	readonly stagedInput?: UserInput;
}

/** An outside event, as stored by `notification.add`. */
export interface ExternalEvent {
	readonly id: string;
	readonly kind: string;
	readonly input: UserInput;
}

/** A command as clients list it. */
export interface SlashCommandInfo {
	readonly name: string;
	readonly description: string;
	readonly aliases: readonly string[];
}

export interface SessionDescription {
	/** The commands that a prompt can invoke. */
	readonly slashCommands: readonly SlashCommandInfo[];
	/** The hooks of the settings, which run whether or not a client subscribes. */
	readonly commandHooks: readonly CommandHook[];
	/** The models that it can use. */
	readonly models: readonly ModelOption[];
	/** The available modes: not those that settings forbid, nor plan mode if the agent has no tools for it. */
	readonly modes: readonly SessionMode[];
	/** Null if the settings ask for none. */
	readonly sandbox: SandboxDescription | null;
}

/** Whether commands run in the sandbox that the settings ask for. */
export interface SandboxDescription {
	readonly status: "active" | "none";
	/** Why this machine has no sandbox, as a clause without full stop; null if it is active. */
	readonly why: string | null;
}

/** A session's state at one moment. */
export interface SessionSnapshot {
	readonly sessionId: string;
	readonly workDir: string;
	/** The running turn; null when idle. */
	readonly turnId: string | null;
	/** Whether it was loaded from disk or has had a turn. */
	readonly hasHistory: boolean;
	/** The last durable event delivered to clients; later events follow this snapshot. */
	readonly cursor: Cursor;
	readonly planMode: boolean;
	/** Whether everything is approved without asking, and whether nobody is at the keyboard. */
	readonly approvesEverything: boolean;
	readonly isAway: boolean;
	/** The next turn's model, if any. */
	readonly model: ModelChoice | null;
	/** The reasoning token limit that a client chose, if any. */
	readonly thinkingBudget: number | null;
	/** The title that a person or the first answered input gave it, if any. */
	readonly title: string | null;
	/** Open requests as they were delivered, oldest first. */
	readonly openInteractions: readonly AgentEvent[];
	/** The delivered parts of the running turn's incomplete texts and calls, and the last 64 KiB of each running call's progress. */
	readonly unfinished: readonly UnfinishedPart[];
	readonly clients: readonly AttachedClient[];
}

/** The durable form of a partly delivered part of an answer. */
export interface UnfinishedPart {
	readonly agentPath: readonly AgentPathEntry[];
	readonly body: EventBody;
}

/** A client that is attached to a session. */
export interface AttachedClient {
	readonly clientId: string;
	readonly name: string | null;
	readonly version: string | null;
}

export interface AttachedTools {
	readonly accepted: readonly string[];
	readonly rejected: readonly { readonly name: string; readonly reason: string }[];
}

/** The session as the model sees it; the system prompt is null before the first turn. */
export interface MessageHistory {
	readonly systemPrompt: string | null;
	readonly messages: readonly HistoryEntry[];
}
