import type { ToolReturn } from "../../api/values/content.ts";
import type { TaskView } from "../../api/values/task-status.ts";

export interface Question {
	readonly question: string;
	readonly header: string;
	readonly options: readonly { readonly label: string; readonly description: string }[];
	readonly multi_select: boolean;
	/** The label of the client's free-text option; "Other" by default. */
	readonly other_label?: string;
}

export type QuestionOutcome =
	/** By question; multiple selections are one comma-separated text. Never empty. */
	| { readonly kind: "answered"; readonly answers: Readonly<Record<string, string>> }
	| { readonly kind: "dismissed" }
	/** The user is away, so the question was not asked. */
	| { readonly kind: "away" }
	/** No attached client supports questions. */
	| { readonly kind: "unsupported" };

export interface QuestionOperations {
	ask(questions: readonly Question[], toolCallId: string, signal: AbortSignal): Promise<QuestionOutcome>;
}

/** The approval request used if no attached client supports questions. */
export interface PlanReview {
	readonly description: string;
	/** The full text to decide on; empty if the description suffices. */
	readonly text: string;
}

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
	file(): string | null;
	read(): Promise<{ readonly file: string; readonly text: string } | null>;
	set(enabled: boolean): Promise<void>;
	show(content: string, file: string): Promise<void>;
	canShow(): boolean;
	/** Whether attached clients can also ask for a decision on a plan. */
	canAsk(): boolean;
	/** Whether entering plan mode needs no consent, because the user does not want to be asked. */
	entersUnasked(): boolean;
	isAway(): boolean;
	instructions(file: string): string;
	/** Asks a question, or requests approval if no attached client supports questions. */
	ask(question: Question, review: PlanReview, call: PlanCall, signal: AbortSignal): Promise<PlanOutcome>;
}

/** `SendDMail`: a message from the agent to an earlier checkpoint of itself, delivered at the end of the step. */
export interface MailOperations {
	/** At most one message per step. */
	send(message: string, checkpoint: number): "sent" | "already-sent" | "no-such-checkpoint";
}

export interface Video {
	readonly bytes: Uint8Array;
	readonly mediaType: string;
	readonly name: string;
}

export type UploadedVideo =
	/** The URL by which messages refer to it. */
	{ readonly ok: true; readonly url: string } | { readonly ok: false; readonly reason: string };

export interface MediaOperations {
	readonly takesImages: boolean;
	readonly takesVideos: boolean;
	/** Uploads a video to the provider; null if messages embed videos. */
	readonly uploadVideo: ((video: Video, signal: AbortSignal) => Promise<UploadedVideo>) | null;
}

export interface AgentRequest {
	readonly description: string;
	readonly prompt: string;
	readonly type: string;
	/** A model alias; null for the type's model, else the session's. */
	readonly model: string | null;
	readonly resume: string | null;
	/** Seconds; null for none. */
	readonly timeout: number | null;
}

export interface AgentOperations {
	readonly types: readonly { readonly name: string; readonly whenToUse: string; readonly tools: readonly string[] }[];
	/** Runs the task to completion; failures are results. */
	run(request: AgentRequest, toolCallId: string, signal: AbortSignal): Promise<ToolReturn>;
	start(request: AgentRequest, toolCallId: string): Promise<StartedTask>;
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
	readonly outsideSandbox: boolean;
}

export interface TaskOutput {
	readonly text: string;
	readonly previewBytes: number;
	readonly size: number;
}

export interface TaskOperations {
	/** Starts a command in the background, or returns an error result. */
	startCommand(request: CommandRequest, toolCallId: string): Promise<StartedTask>;
	list(activeOnly: boolean): Promise<readonly TaskView[]>;
	find(id: string): Promise<TaskView | null>;
	/** Waits at most this many seconds for the task to end. */
	wait(id: string, seconds: number, signal: AbortSignal): Promise<void>;
	/** The end of the task's output; null if there is no such task. */
	output(id: string, limit: number): Promise<TaskOutput | null>;
	/** Requests the task to stop; returns its resulting state, or null if there is no such task. */
	stop(id: string, reason: string): Promise<TaskView | null>;
}
