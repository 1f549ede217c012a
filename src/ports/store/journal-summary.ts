// What opening needs of a history: usage, unfinished calls, interrupted output. Computed by event, so that stores can keep it current.
import type { ContextChange, ContextRow } from "../../api/values/conversation.ts";
import type { AgentEvent } from "../../api/values/event.ts";
import { digestOfInput } from "./input-digest.ts";
import type { JournalSummary, KeyedTurn, SessionUse, StartedInput, UnfinishedCall } from "./session-store.ts";
import { nothingUsed, turnKeyLimit } from "./session-store.ts";

export const emptySummary: JournalSummary = {
	used: nothingUsed,
	unfinishedCalls: [],
	unretained: [],
	isInStep: false,
	openTurn: null,
	startedInputs: [],
	waitingSteers: [],
	keyedTurns: [],
};

export class RunningSummary {
	#used: SessionUse;
	readonly #unfinishedCalls: UnfinishedCall[];
	#unretained: AgentEvent[];
	#isInStep: boolean;
	#openTurn: string | null;
	#startedInputs: readonly StartedInput[];
	#waitingSteers: readonly StartedInput[];
	#keyedTurns: readonly KeyedTurn[];

	constructor(before: JournalSummary = emptySummary) {
		this.#used = before.used;
		this.#unfinishedCalls = [...before.unfinishedCalls];
		this.#unretained = [...before.unretained];
		this.#isInStep = before.isInStep;
		this.#openTurn = before.openTurn;
		this.#startedInputs = before.startedInputs;
		this.#waitingSteers = before.waitingSteers;
		this.#keyedTurns = before.keyedTurns;
	}

	get current(): JournalSummary {
		return {
			used: this.#used,
			unfinishedCalls: [...this.#unfinishedCalls],
			unretained: [...this.#unretained],
			isInStep: this.#isInStep,
			openTurn: this.#openTurn,
			startedInputs: this.#startedInputs,
			waitingSteers: this.#waitingSteers,
			keyedTurns: this.#keyedTurns,
		};
	}

	addEvent(event: AgentEvent): void {
		this.#countUse(event);
		this.#trackCall(event);
		if (event.agentPath.length > 0) return;
		this.#trackStep(event);
		this.#trackTurn(event);
	}

	addContext(change: ContextChange): void {
		if (change.kind === "replace" || change.rows.some(isAnswer)) this.leaveStep();
	}

	/** The context now contains the whole step. */
	leaveStep(): void {
		this.#isInStep = false;
		this.#unretained = [];
	}

	#enterStep(): void {
		this.#isInStep = true;
		this.#unretained = [];
	}

	#countUse({ body }: AgentEvent): void {
		if (body.type !== "usage.counted") return;
		this.#used = { tokens: body.tokens, milliseconds: body.milliseconds, toolCalls: body.tool_calls };
	}

	/** Ids may repeat in later steps, so an end settles the oldest open call with its id. */
	#trackCall({ body }: AgentEvent): void {
		const calls = this.#unfinishedCalls;
		switch (body.type) {
			case "tool.started": {
				const { toolCallId, name, arguments: text } = body;
				if (body.has_effect) calls.push({ toolCallId, name, arguments: text, isRecovered: false });
				return;
			}
			case "tool.outcome-unknown": {
				const index = calls.findIndex(({ toolCallId, isRecovered }) => toolCallId === body.toolCallId && !isRecovered);
				const call = calls[index];
				if (call !== undefined) calls[index] = { ...call, isRecovered: true };
				return;
			}
			case "recovery.reported": {
				const others = calls.filter(({ isRecovered }) => !isRecovered);
				calls.splice(0, calls.length, ...others);
				return;
			}
			case "tool.ended":
			case "tool.result": {
				const index = calls.findIndex(({ toolCallId }) => toolCallId === body.toolCallId);
				if (index !== -1) calls.splice(index, 1);
				return;
			}
			default:
		}
	}

	#trackTurn({ turnId, body }: AgentEvent): void {
		if (turnId === null) return;
		if (body.type === "turn.started") {
			this.#openTurn = turnId;
			const { key, input, enters_context: entersContext } = body;
			if (entersContext === true) this.#startedInputs = [...this.#startedInputs, { turnId, input }];
			if (key === undefined) return;
			const keyed = { key, turnId, digest: digestOfInput(input) };
			this.#keyedTurns = [...this.#keyedTurns, keyed].slice(-turnKeyLimit);
		}
		if (body.type === "steer.accepted") this.#waitingSteers = [...this.#waitingSteers, { turnId, input: body.input }];
		// They are consumed in order.
		if (body.type === "steer.consumed") this.#waitingSteers = this.#waitingSteers.slice(1);
		if (body.type === "turn.ended") {
			this.#startedInputs = this.#startedInputs.filter((each) => each.turnId !== turnId);
			this.#waitingSteers = this.#waitingSteers.filter((each) => each.turnId !== turnId);
			// A nested turn ends without an outcome.
			if (body.outcome !== null) this.#openTurn = null;
		}
	}

	#trackStep(event: AgentEvent): void {
		switch (event.body.type) {
			case "step.started":
				// Its initial messages are already in the context.
				this.#startedInputs = [];
				this.#enterStep();
				return;
			// Discards the partial answer.
			case "step.retrying":
				this.#enterStep();
				return;
			case "step.interrupted":
			case "turn.ended":
				this.leaveStep();
				return;
			// Earlier output belonged to an earlier crash report, not to the model's answer.
			case "recovery.reported":
				this.#unretained = [];
				return;
			case "content.completed":
			case "tool.requested":
			case "tool.result":
				if (this.#isInStep) this.#unretained.push(event);
				return;
			default:
		}
	}
}

function isAnswer(row: ContextRow): boolean {
	return row.type === "message" && row.message.role === "assistant";
}
