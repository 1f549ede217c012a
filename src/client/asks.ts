// What the agent waits for: approvals and questions, each answered once, by whichever client is first.
import type {
	InteractionRequestedEvent,
	InteractionRespondParams,
	InteractionRespondResult,
} from "./protocol-types.ts";

type Interaction = InteractionRequestedEvent["interaction"];
export type ApprovalInteraction = Extract<Interaction, { kind: "approval" }>;
export type QuestionInteraction = Extract<Interaction, { kind: "question" }>;

/** False when somebody else had already answered, or nobody was waiting anymore. */
export interface Settled {
	readonly settled: boolean;
	readonly by: InteractionRespondResult["by"];
}

type Respond = (answer: InteractionRespondParams["answer"]) => Promise<Settled>;

/** A tool call that needs a decision. It stays open until somebody answers, even if this client leaves. */
export class Approval {
	readonly kind = "approval";
	readonly id: string;
	readonly callId: string;
	/** The tool, such as `Shell`. */
	readonly tool: string;
	/** What the call would do, for people. */
	readonly description: string;
	/** Commands, diffs and texts to show. */
	readonly display: ApprovalInteraction["display"];
	/** The rule or doubt that requires approval; null when it is required by default. */
	readonly reason: string | null;
	/** What `forSession` would allow, as rule patterns; empty when only `once` is possible. */
	readonly grants: readonly string[];
	/** The subagent that asks; null for the main agent. */
	readonly agent: string | null;
	readonly raw: ApprovalInteraction;
	readonly #respond: Respond;

	constructor(raw: ApprovalInteraction, respond: Respond) {
		this.raw = raw;
		this.id = raw.id;
		this.callId = raw.toolCallId;
		this.tool = raw.sender;
		this.description = raw.description;
		this.display = raw.display;
		this.reason = raw.reason ?? null;
		this.grants = raw.grants ?? [];
		this.agent = raw.agentId;
		this.#respond = respond;
	}

	/** Allows this call. */
	once(): Promise<Settled> {
		return this.#respond({ kind: "approval", decision: "approve", feedback: "" });
	}

	/** Allows this call and everything in `grants` for the rest of the session. */
	forSession(): Promise<Settled> {
		return this.#respond({ kind: "approval", decision: "approve_for_session", feedback: "" });
	}

	/** Rejects the call; the model reads the reason. */
	reject(reason = ""): Promise<Settled> {
		return this.#respond({ kind: "approval", decision: "reject", feedback: reason });
	}
}

/** Questions of the agent to a person. */
export class Question {
	readonly kind = "question";
	readonly id: string;
	readonly callId: string;
	readonly questions: QuestionInteraction["questions"];
	readonly #respond: Respond;

	constructor(raw: QuestionInteraction, respond: Respond) {
		this.id = raw.id;
		this.callId = raw.toolCallId;
		this.questions = raw.questions;
		this.#respond = respond;
	}

	/** Answers by question text: an option's label, or free text. */
	answer(answers: Readonly<Record<string, string>>): Promise<Settled> {
		return this.#respond({ kind: "question", answers });
	}

	/** Leaves the questions unanswered; the model continues without them. */
	dismiss(): Promise<Settled> {
		return this.answer({});
	}
}

export type Ask = Approval | Question;
