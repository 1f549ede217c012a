import { type ToolReturn, toolError, toolSuccess } from "../../api/values/content.ts";
import type { TurnOutcome } from "../../api/values/event.ts";
import { changedChunks } from "../../core/models/chunk-streams.ts";
import type { Model } from "../../core/models/model.ts";
import type { AgentRequest } from "../../core/tools/operations.ts";

export interface ReportedAgent {
	readonly id: string;
	readonly typeName: string;
	readonly isResumed: boolean;
}

export interface EndedRun {
	readonly outcome: TurnOutcome;
	readonly report: string;
	/** Why a hook blocked its prompt, possibly empty. Null when not blocked. */
	readonly blockedFor: string | null;
	readonly isTimedOut: boolean;
	readonly statusCode: number | null;
}

export function toResult(request: AgentRequest, agent: ReportedAgent, run: EndedRun): ToolReturn {
	const { id, typeName, isResumed } = agent;
	const { outcome, report } = run;
	switch (outcome.status) {
		case "cancelled":
			if (!run.isTimedOut) return cutOff();
			return toolError(
				`The subagent ${id} ran out of its ${request.timeout} s. Resume it to let it go on.`,
				`Agent timed out (${request.timeout}s)`,
			);
		case "max-steps":
			return toolError(
				`The subagent ${id} reached the limit of ${outcome.steps} steps. Resume it to let it go on.`,
				"Max steps reached",
			);
		case "failed":
			return toolError(`The subagent ${id} failed: ${outcome.error.message}`, failureBrief(outcome.error.code, run));
		case "truncated":
		case "finished":
			break;
	}
	if (run.blockedFor !== null) {
		const reason = run.blockedFor === "" ? "." : `: ${run.blockedFor}`;
		return toolError(`A hook blocked the prompt of the subagent ${id}, which was not run${reason}`, "Hook blocked");
	}
	if (outcome.status === "truncated" && report === "")
		return toolError(`The subagent ${id} has no report. ${cutReport(id, outcome.reason)}`, "Truncated answer");
	if (report === "") return toolError(`The subagent ${id} ended without a report.`, "Empty agent output");
	const lines = [
		`agent_id: ${id}`,
		`resumed: ${isResumed}`,
		...(isResumed && request.type !== typeName ? [`requested_subagent_type: ${request.type}`] : []),
		`actual_subagent_type: ${typeName}`,
		`status: ${outcome.status === "truncated" ? "truncated" : "completed"}`,
		"",
		"[summary]",
		report,
		...(outcome.status === "truncated" ? ["", cutReport(id, outcome.reason)] : []),
	];
	return toolSuccess({ output: lines.join("\n") });
}

function cutReport(id: string, reason: string): string {
	return `[The last answer of the subagent reached a token limit (${reason}) and is incomplete. Resume ${id} to let it go on.]`;
}

function failureBrief(code: string, { statusCode }: EndedRun): string {
	if (code !== "provider-failed" && code !== "login-expired") return "Agent run error";
	return statusCode === null ? "LLM provider error" : `API error (${statusCode})`;
}

/** The result of a run ended from outside, which no caller receives. */
export function cutOff(): ToolReturn {
	return toolError("The subagent was stopped.", "Agent failed");
}

/** Wraps the model to record the status code of its last failure. */
export function createFailureNote(model: Model | null): { readonly model: Model | null; statusCode(): number | null } {
	if (model === null) return { model, statusCode: () => null };
	let statusCode: number | null = null;
	const inner = model;
	const stream: Model["stream"] = (request, signal) =>
		changedChunks(inner.stream(request, signal), (chunk) => {
			if (chunk.type === "failed") statusCode = chunk.failure.statusCode;
			return chunk;
		});
	return { model: { ...model, stream }, statusCode: () => statusCode };
}
