// What the agent waits for: approvals and questions, each answered once, by whichever client is first.
import type {
	InteractionRequestedEvent,
	InteractionRespondParams,
	InteractionRespondResult,
} from "./protocol-types.ts";

type Interaction = InteractionRequestedEvent["interaction"];
export type ApprovalInteraction = Extract<Interaction, { kind: "approval" }>;
export type QuestionInteraction = Extract<Interaction, { kind: "question" }>;

/** Whether this answer counted; false when somebody else had answered before, or nobody waited any more. */
export interface Settled {
	readonly settled: boolean;
	readonly by: InteractionRespondResult["by"];
}

type Respond = (answer: InteractionRespondParams["answer"]) => Promise<Settled>;

/** A tool call that needs a decision. It stays open until somebody answers, whatever becomes of this client. */
export class Approval {
	readonly kind = "approval";
	readonly id: string;
	readonly callId: string;
	/** The tool, such as `Shell`. */
	readonly tool: string;
	/** What the call would do, for people. */
	readonly description: string;
	/** The same as blocks: commands, diffs, texts. */
	readonly display: ApprovalInteraction["display"];
	/** The rule or doubt because of which it is asked; null when it is asked by default. */
	readonly reason: string | null;
	/** What `forSession` would allow from then on, as patterns of rules; empty when only `once` is possible. */
	readonly grants: readonly string[];
	/** The subagent that asks; null for the session's own agent. */
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

	/** Allows this call and what `grants` names, for the rest of the session. */
	forSession(): Promise<Settled> {
		return this.#respond({ kind: "approval", decision: "approve_for_session", feedback: "" });
	}

	/** Refuses it; the model reads the reason. */
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

	/** Answers by the text of each question: the label of an option, or free text. */
	answer(answers: Readonly<Record<string, string>>): Promise<Settled> {
		return this.#respond({ kind: "question", answers });
	}

	/** Answers nothing; the model goes on without. */
	dismiss(): Promise<Settled> {
		return this.answer({});
	}
}

export type Ask = Approval | Question;
