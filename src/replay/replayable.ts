import { decodeArguments } from "../api/values/call-arguments.ts";
import { inputText } from "../api/values/content.ts";
import type { AgentEvent, EventBody } from "../api/values/event.ts";
import { parseSlashCommand } from "../api/values/slash-command.ts";
import { isRecord } from "../base/json.ts";
import { isPlayedBudget } from "./played-budgets.ts";

const playedFailures: ReadonlySet<string> = new Set(["provider-failed", "login-expired", "internal"]);

/** A sentence; null for a session that can be run again. */
export function whyNotReplayable(events: readonly AgentEvent[]): string | null {
	const [first] = events;
	if (first === undefined) return "Nothing has happened in the session.";
	if ((first.seq ?? 1) !== 1) return `The log is damaged: its first ${(first.seq ?? 1) - 1} events are missing.`;
	for (const [index, { seq = 0 }] of events.entries()) {
		const before = events[index - 1]?.seq ?? seq - 1;
		if (seq !== before + 1) return `The log is damaged: event ${before + 1} cannot be read.`;
	}
	const own = events.filter(({ agentPath }) => agentPath.length === 0);
	const hasEnds = own.some(({ body }) => body.type === "turn.ended");
	if (!hasEnds && own.some(({ isFromLog }) => isFromLog === true))
		return "The log is of an early version of Kimi, which did not store where turns end.";
	const hasSteps = own.some(({ body }) => body.type === "step.started");
	let openTurn: AgentEvent | null = null;
	let steps = 0;
	for (const event of own) {
		const { body, seq = 0 } = event;
		if (body.type === "turn.started") {
			if (openTurn !== null)
				return `The program ended in the middle of the turn of event ${openTurn.seq}, and what it was doing then is not recorded.`;
			openTurn = event;
			steps = 0;
		}
		const why = whyNot(body, hasSteps, events);
		if (why !== null) return `Event ${seq}: ${why}`;
		if (body.type === "step.started") {
			if (body.n <= steps) return `Event ${seq}: a hook or a flow continued the turn, and which is not recorded.`;
			steps = body.n;
		}
		if (body.type === "turn.ended") {
			if (openTurn === null) return `The log is damaged: the turn that ends with event ${seq} has no beginning.`;
			if (body.outcome === null && event.isFromLog !== true)
				return `Event ${seq}: the turn was cut off when the session was copied.`;
			openTurn = null;
		}
	}
	const changed = whyChanged(events);
	if (changed !== null) return changed;
	const lost = events.find(
		({ agentPath, body }) => agentPath.length > 0 && body.type === "step.interrupted" && body.reason === "error",
	);
	return lost === undefined
		? null
		: `Event ${lost.seq}: the model of a subagent failed, and its error is not recorded.`;
}

function whyNot(body: EventBody, hasSteps: boolean, events: readonly AgentEvent[]): string | null {
	switch (body.type) {
		case "turn.started": {
			const command = parseSlashCommand(inputText(body.input));
			if (command === null) return null;
			if (command.name === "init") return "/init ran a turn within its turn.";
			return command.name.startsWith("flow:") ? `the flow of /${command.name} is not recorded.` : null;
		}
		case "turn.ended": {
			const { outcome } = body;
			if (outcome?.status === "finished" && outcome.formed !== undefined)
				return "the form that the answer had to have is not recorded.";
			if (outcome?.status === "max-steps" && outcome.limit !== "steps") return "the flow of the turn is not recorded.";
			if (outcome?.status === "failed" && isPlayedBudget(outcome.error, events)) return null;
			if (outcome?.status !== "failed" || playedFailures.has(outcome.error.code)) return null;
			if (outcome.error.code === "model-not-set" && !hasSteps) return null;
			return `the turn failed for a reason outside of the recording: ${outcome.error.message}`;
		}
		case "tool.outcome-unknown":
		case "recovery.reported":
			return "the program had ended while a tool ran, and its outcome is unknown.";
		case "hook.triggered":
			return body.event === "UserPromptSubmit" && parseSlashCommand(body.target)?.name === "btw"
				? "a hook saw a side question."
				: null;
		case "side-question.ended":
			if (body.error === "The question was stopped.") return "a side question was stopped, and when is not recorded.";
			return body.response?.includes("\n\n[The answer is incomplete") === true
				? "the answer to a side question was incomplete, and what it lacks is not recorded."
				: null;
		case "session-hook.started":
			return "the session was created with hooks, which a replay does not run.";
		case "interaction.resolved":
			return body.by?.kind === "client-gone" ? "a client left before it answered." : null;
		default:
			return null;
	}
}

/** Things begun or changed without an event. */
function whyChanged(events: readonly AgentEvent[]): string | null {
	const agents = new Set<string>();
	let turns = 0;
	let hookedTurns = 0;
	for (const { agentPath, body, seq } of events) {
		if (agentPath.length === 0 && body.type === "turn.started") turns += 1;
		if (agentPath.length === 0 && body.type === "hook.triggered" && body.event === "UserPromptSubmit") hookedTurns += 1;
		if (body.type === "tool.requested" && body.call.function.name === "Agent") {
			const decoded = decodeArguments(body.call.function.arguments);
			const resumed = decoded.ok && isRecord(decoded.value) ? decoded.value["resume"] : null;
			if (typeof resumed === "string" && !agents.has(resumed))
				return `Event ${seq}: the subagent ${resumed} was begun outside of the recording.`;
		}
		for (const { agentId } of agentPath) if (agentId !== null) agents.add(agentId);
	}
	if (hookedTurns === 0 || hookedTurns === turns) return null;
	return "Which hooks there were changed while the session ran, and when is not recorded.";
}
