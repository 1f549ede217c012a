// The operations of a session that tools use. Types only; the kernel implements them.
import type { ToolReturn } from "../../api/values/content.ts";
import type { TaskKind, TaskStatus } from "../../api/values/task-status.ts";

/** A question as a model words it. */
export interface Question {
	readonly question: string;
	readonly header: string;
	readonly options: readonly { readonly label: string; readonly description: string }[];
	readonly multi_select: boolean;
	/** The label of the client's own free-text option; "Other" by default. */
	readonly other_label?: string;
}

export type QuestionOutcome =
	/** By question; several selections are one comma-separated text. Never empty. */
	| { readonly kind: "answered"; readonly answers: Readonly<Record<string, string>> }
	| { readonly kind: "dismissed" }
	/** Nobody is at the keyboard, so nobody was asked. */
	| { readonly kind: "away" }
	/** No attached client can ask questions. */
	| { readonly kind: "unsupported" };

export interface QuestionOperations {
	ask(questions: readonly Question[], toolCallId: string, signal: AbortSignal): Promise<QuestionOutcome>;
}

/** What an approval request says where no attached client takes questions. */
export interface PlanReview {
	readonly description: string;
	/** What the person decides on, in full; empty when the description says it. */
	readonly text: string;
}

/** The call that asks. */
export interface PlanCall {
	readonly id: string;
	readonly tool: string;
}

export type PlanOutcome =
	| QuestionOutcome
	| { readonly kind: "approved" }
	/** The feedback may be empty. */
	| { readonly kind: "rejected"; readonly feedback: string };

export interface PlanOperations {
	isOn(): boolean;
	/** The plan's file; null while plan mode is off. */
	file(): string | null;
	/** The plan; null when nothing is written yet. */
	read(): Promise<{ readonly file: string; readonly text: string } | null>;
	set(enabled: boolean): Promise<void>;
	/** Shows the plan to the person. */
	show(content: string, file: string): Promise<void>;
	/** Whether an attached client can show plans. */
	canShow(): boolean;
	/** Whether attached clients can also let the person decide about them. */
	canAsk(): boolean;
	/** Whether entering needs no consent, because the person does not want to be asked. */
	entersUnasked(): boolean;
	/** Whether nobody is at the keyboard. */
	isAway(): boolean;
	/** The instructions for the model in plan mode. */
	instructions(file: string): string;
	/** Asks with a question, or with an approval request if no attached client takes questions. */
	ask(question: Question, review: PlanReview, call: PlanCall, signal: AbortSignal): Promise<PlanOutcome>;
}

/** For `SendDMail`: an agent's message to its own past, at an earlier checkpoint; it is delivered at the end of the step. */
export interface MailOperations {
	/** At most one message per step. */
	send(message: string, checkpoint: number): "sent" | "already-sent" | "no-such-checkpoint";
}

/** A video to upload to a provider. */
export interface Video {
	readonly bytes: Uint8Array;
	readonly mediaType: string;
	/** The name of its file. */
	readonly name: string;
}

export type UploadedVideo =
	/** The URL by which messages refer to it. */
	| { readonly ok: true; readonly url: string }
	/** A sentence. */
	| { readonly ok: false; readonly reason: string };

/** The media that the agent's model accepts. */
export interface MediaOperations {
	readonly takesImages: boolean;
	readonly takesVideos: boolean;
	/** Uploads a video to the provider, where messages only refer to videos; null where they contain them. */
	readonly uploadVideo: ((video: Video, signal: AbortSignal) => Promise<UploadedVideo>) | null;
}

/** A task for a subagent, as a model words it. */
export interface AgentRequest {
	readonly description: string;
	readonly prompt: string;
	readonly type: string;
	/** A model alias; null for that of the type, or the session's own. */
	readonly model: string | null;
	/** The id of a subagent to continue; its type then counts. */
	readonly resume: string | null;
	/** Seconds; null for none. */
	readonly timeout: number | null;
}

export interface AgentOperations {
	/** The available types, for the model to choose from. */
	readonly types: readonly { readonly name: string; readonly whenToUse: string; readonly tools: readonly string[] }[];
	/** Runs the task to its end and returns its result; failures are results. */
	run(request: AgentRequest, toolCallId: string, signal: AbortSignal): Promise<ToolReturn>;
	/** Starts it in the background; a result instead when it cannot be started. */
	start(request: AgentRequest, toolCallId: string): Promise<StartedTask>;
}

/** The current state of a background task. */
export interface TaskView {
	readonly id: string;
	readonly kind: TaskKind;
	readonly status: TaskStatus;
	readonly description: string;
	/** Seconds; null for none. */
	readonly timeout: number | null;
	/** Null for agents. */
	readonly command: string | null;
	/** Null for commands. */
	readonly agent: { readonly id: string; readonly type: string } | null;
	readonly exitCode: number | null;
	/** Whether it was ended on request. */
	readonly interrupted: boolean;
	readonly timedOut: boolean;
	/** Why it failed; for a task that waits for an approval, what it wants to do. */
	readonly reason: string | null;
	/** The file of its output; null when there is none. */
	readonly outputPath: string | null;
}

export type StartedTask =
	| { readonly ok: true; readonly task: TaskView }
	| { readonly ok: false; readonly result: ToolReturn };

export interface CommandRequest {
	readonly command: string;
	readonly description: string;
	/** Seconds. */
	readonly timeout: number;
	readonly shellPath: string;
	/** Whether it runs without the sandbox that the settings ask for. */
	readonly outsideSandbox: boolean;
}

export interface TaskOutput {
	readonly text: string;
	/** Bytes of the text, and of the whole output. */
	readonly previewBytes: number;
	readonly size: number;
}

export interface TaskOperations {
	/** Starts a command; a result instead when it cannot be started. */
	startCommand(request: CommandRequest, toolCallId: string): Promise<StartedTask>;
	/** The newest first. */
	list(activeOnly: boolean): Promise<readonly TaskView[]>;
	/** The task of this id; null when there is none. */
	find(id: string): Promise<TaskView | null>;
	/** Waits at most so many seconds for the end of the task. */
	wait(id: string, seconds: number, signal: AbortSignal): Promise<void>;
	/** The last bytes of a task's output; null when there is no such task. */
	output(id: string, limit: number): Promise<TaskOutput | null>;
	/** Requests the end of the task; returns its state then, or null when there is no such task. */
	stop(id: string, reason: string): Promise<TaskView | null>;
}
