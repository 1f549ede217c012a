// Goal mode: while a thread's goal is active, each turn is followed by the next.
import * as v from "valibot";
import type { ClientToolDeclaration } from "../../api/session-options.ts";
import { decodeArguments } from "../../api/values/call-arguments.ts";
import type { TokenUsage, ToolReturn } from "../../api/values/content.ts";
import type { AgentEvent, TurnOutcome } from "../../api/values/event.ts";
import type { TurnStartOptions } from "../../api/values/turn-options.ts";
import { KernelError } from "../../base/errors.ts";
import type { Goal, GoalChange, GoalStatus } from "./wire.ts";
import type { Notification } from "./wire-updates.ts";

/** Consecutive turns without a tool call after which a goal is blocked. The first may be a plan. */
const mostIdleTurns = 2;

const reportSchema = v.object({ status: v.picklist(["complete", "blocked"]) });

export const goalTool: ClientToolDeclaration = {
	name: "UpdateGoal",
	description: "Ends the work on the user's goal: when it is reached, or when only the user can remove an obstacle.",
	parameters: {
		type: "object",
		properties: {
			status: {
				type: "string",
				enum: ["complete", "blocked"],
				description: "`complete`: everything is done and checked. `blocked`: you cannot continue without the user.",
			},
		},
		required: ["status"],
		additionalProperties: false,
	},
};

/** The goal of one thread, kept as long as the client's connection. */
export class ThreadGoal {
	readonly #threadId: string;
	#goal: Goal | null = null;
	#turnId: string | null = null;
	/** Until when the running turn's time is counted; null while it does not count. */
	#countedTo: number | null = null;
	#milliseconds = 0;
	#calls = 0;
	#idleTurns = 0;
	/** The objective that the conversation contains. */
	#told: string | null = null;

	constructor(threadId: string) {
		this.#threadId = threadId;
	}

	get current(): Goal | null {
		return this.#goal;
	}

	/** Fails `invalid-input` without a goal or an objective. */
	set({ objective, status, tokenBudget }: GoalChange, at: number) {
		if (this.#goal === null) {
			if (objective === null)
				throw new KernelError("invalid-input", "The thread has no goal. Set one with an objective.");
			this.#milliseconds = 0;
			this.#told = null;
			const times = { timeUsedSeconds: 0, createdAt: toSeconds(at), updatedAt: toSeconds(at) };
			const threadId = this.#threadId;
			this.#goal = { threadId, objective, status: "active", tokenBudget: null, tokensUsed: 0, ...times };
		}
		this.#idleTurns = 0;
		const change = {
			...(objective === null ? {} : { objective }),
			...(status === null ? {} : { status }),
			...(tokenBudget === undefined ? {} : { tokenBudget }),
		};
		return this.#update(this.#goal, change, at);
	}

	clear(): readonly Notification[] {
		if (this.#goal === null) return [];
		this.#goal = null;
		this.#countedTo = null;
		return [{ method: "thread/goal/cleared", params: { threadId: this.#threadId } }];
	}

	block(at: number): readonly Notification[] {
		const goal = this.#goal;
		return goal?.status === "active" ? this.#update(goal, { status: "blocked" }, at).sent : [];
	}

	/** Call it with the running turn when the client attaches again: events may have been lost. */
	resume(turnId: string | null): void {
		this.#turnId = turnId;
		if (turnId === null) this.#countedTo = null;
	}

	/** The turn to start now, if any. Call `begin` once it has started. */
	next(): { readonly input: string; readonly options: TurnStartOptions; begin(): void } | null {
		const goal = this.#goal;
		if (goal?.status !== "active" || this.#turnId !== null) return null;
		const input = this.#told === goal.objective ? "Continue with the goal." : `Goal: ${goal.objective}`;
		const begin = () => {
			this.#told = goal.objective;
		};
		return { input, options: { passingContext: toContext(goal, this.#idleTurns) }, begin };
	}

	/** Returns what to send before the event's own notifications. */
	take({ body, agentPath, turnId, at }: AgentEvent): readonly Notification[] {
		if (body.type === "status.changed" && body.token_usage !== null) return this.#count(body.token_usage, at);
		if (agentPath.length > 0) return [];
		if (body.type === "tool.requested") this.#calls += 1;
		if (body.type === "turn.started" && this.#turnId === null) {
			this.#turnId = turnId;
			this.#calls = 0;
			if (this.#goal?.status === "active") this.#countedTo = at;
		}
		return body.type === "turn.ended" && body.outcome !== null ? this.#end(body.outcome, at) : [];
	}

	report(json: string | null, at: number): { readonly result: ToolReturn; readonly sent: readonly Notification[] } {
		const decoded = decodeArguments(json);
		const read = v.safeParse(reportSchema, decoded.ok ? decoded.value : null);
		if (!read.success) return { result: toResult("The status must be `complete` or `blocked`.", true), sent: [] };
		const goal = this.#goal;
		// The turn that uses up the budget may still reach the goal.
		if (goal === null || this.#countedTo === null) return { result: toResult("No goal is active.", true), sent: [] };
		const { sent } = this.#update(goal, { status: read.output.status }, at);
		return { result: toResult("Recorded. Finish with a short summary for the user.", false), sent };
	}

	/** Cached input does not count. */
	#count(usage: TokenUsage, at: number): readonly Notification[] {
		const goal = this.#goal;
		if (goal === null || this.#countedTo === null) return [];
		const tokensUsed = goal.tokensUsed + usage.input_other + usage.input_cache_creation + usage.output;
		const counted = this.#update(goal, { tokensUsed }, at);
		return counted.goal.status === goal.status ? [] : counted.sent;
	}

	#end(outcome: TurnOutcome, at: number): readonly Notification[] {
		this.#idleTurns = this.#calls === 0 ? this.#idleTurns + 1 : 0;
		const after = statusAfter(outcome);
		const status = after === "active" && this.#idleTurns >= mostIdleTurns ? "blocked" : after;
		const goal = this.#goal;
		const counts = goal !== null && this.#countedTo !== null;
		const sent = counts ? this.#update(goal, goal.status === "active" ? { status } : {}, at).sent : [];
		this.resume(null);
		return sent;
	}

	#update(earlier: Goal, change: Partial<Goal>, at: number) {
		const goal = { ...earlier, ...change };
		const isSpent = goal.tokenBudget !== null && goal.tokensUsed >= goal.tokenBudget;
		const status = goal.status === "active" && isSpent ? "budgetLimited" : goal.status;
		const { threadId } = goal;
		this.#milliseconds += this.#countedTo === null ? 0 : Math.max(0, at - this.#countedTo);
		// The turn that uses up the budget counts to its end.
		const counts = status === "active" || (status === "budgetLimited" && this.#countedTo !== null);
		this.#countedTo = counts && this.#turnId !== null ? at : null;
		this.#goal = { ...goal, status, timeUsedSeconds: toSeconds(this.#milliseconds), updatedAt: toSeconds(at) };
		const params = { threadId, turnId: this.#turnId, goal: this.#goal };
		const sent: readonly Notification[] = [{ method: "thread/goal/updated", params }];
		return { goal: this.#goal, sent };
	}
}

const toSeconds = (milliseconds: number) => Math.floor(milliseconds / 1000);

function toResult(text: string, isError: boolean): ToolReturn {
	return { is_error: isError, output: text, message: "", display: [], extras: null };
}

function statusAfter(outcome: TurnOutcome): GoalStatus {
	switch (outcome.status) {
		case "finished":
			if (outcome.stoppedBy === undefined) return "active";
			return outcome.stoppedBy === "refusal" ? "paused" : "blocked";
		case "cancelled":
			return "paused";
		case "failed":
			return outcome.error.code === "budget-exhausted" ? "usageLimited" : "blocked";
		case "truncated":
		case "max-steps":
			return "blocked";
	}
}

function toContext({ objective, tokenBudget, tokensUsed }: Goal, idleTurns: number): string {
	const lines = [
		`The user's goal for this conversation:\n<goal>\n${objective}\n</goal>`,
		"When this turn ends, the next one starts, and nobody answers in between. Do the next part of the work instead of announcing it or asking whether to go on.",
		"When all of it is done and checked, call UpdateGoal with `complete`. If only the user can remove an obstacle, say which, and call it with `blocked`.",
	];
	if (idleTurns > 0) lines.push("Your last turn used no tool. If this one does not either, the work on the goal ends.");
	if (tokenBudget !== null) lines.push(`${tokensUsed} of ${tokenBudget} tokens are used.`);
	return lines.join("\n\n");
}
