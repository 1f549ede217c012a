// Tells the model that outcomes are unknown, tells the user once, and reruns nothing (docs/explanation/guarantees.md).

import { type ContentPart, type ToolCall, type ToolReturn, toolError } from "../../api/values/content.ts";
import type { ContextRow, HistoryEntry } from "../../api/values/conversation.ts";
import type { AgentEvent, EventBody } from "../../api/values/event.ts";
import { type Context, messageRow, userRow } from "../../core/agent/context.ts";
import { toToolMessage } from "../../core/agent/tool-results.ts";
import type { StartedInput, StoredSession, UnfinishedCall } from "../../ports/store/session-store.ts";
import type { Persistence } from "../clients/emitter.ts";

const outcomeUnknown = toolError(
	"The outcome of this call is unknown: the program ended while the call was running. It may have taken effect in part or in whole, or not at all. Look before you repeat it.",
	"Outcome unknown",
);

const resultLost = toolError(
	"The result of this call is lost: the program ended before it was stored. The call itself had ended.",
	"Result lost",
);

const neverRan = toolError(
	"The call was not run: the program ended before it began. Request it again if it is still needed.",
	"Not run",
);

/** The report for the user, and the action once it was delivered. */
export interface CrashNotice {
	readonly text: string;
	/** Records that the calls were reported. */
	settle(): Promise<void>;
}

type Emit = (body: EventBody, persistence?: Persistence) => Promise<void> | undefined;

/** Run it after opening, and again if it fails. Resolves with the user report, or null if no call was running. */
export function createRecovery(stored: StoredSession, context: Context, emit: Emit): () => Promise<CrashNotice | null> {
	let isRestored = false;
	return async () => {
		if (!isRestored) await restoreContext(stored, context);
		isRestored = true;
		return await reportCalls(stored, emit);
	};
}

async function restoreContext({ summary }: StoredSession, context: Context): Promise<void> {
	await closeLostCalls(context);
	const open = summary.unfinishedCalls.filter((call) => !call.isRecovered && !isClosed(call, context.messages));
	const interrupted = interruptedStep(summary.unretained, open);
	const requested = new Set(interrupted.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id)));
	const others = open.filter(({ toolCallId }) => !requested.has(toolCallId));
	const rows = [...interrupted.map(messageRow), ...(others.length > 0 ? closingRows(others) : [])];
	if (rows.length > 0) await context.append(rows);
	// Their turns began after the interrupted step.
	await addStartedInputs([...summary.startedInputs, ...summary.waitingSteers], context);
}

/** Adds inputs missing at the end of the context: an input is stored there with the first step of its turn. */
async function addStartedInputs(inputs: readonly StartedInput[], context: Context): Promise<void> {
	const texts = context.messages
		.slice(context.messages.findLastIndex(({ role }) => role !== "user") + 1)
		.map(({ content }) => JSON.stringify(content));
	for (const { input } of inputs) {
		const row = userRow(input);
		const index = texts.indexOf(JSON.stringify(row.message.content));
		if (index === -1) await context.append([context.checkpointRow(), row]);
		else texts.splice(0, index + 1);
	}
}

async function reportCalls(stored: StoredSession, emit: Emit): Promise<CrashNotice | null> {
	const calls = stored.summary.unfinishedCalls;
	if (calls.length === 0) return null;
	for (const { toolCallId, isRecovered } of calls) {
		if (!isRecovered) await emit({ type: "tool.outcome-unknown", toolCallId });
	}
	await stored.commit({}, { sync: true });
	const names = calls.map(({ name }) => `\`${name}\``).join(", ");
	const verb = calls.length === 1 ? "was" : "were";
	return {
		text: `The program ended unexpectedly while ${names} ${verb} running. What came of it is unknown; it has not been run again.\n\n`,
		settle: async () => emit({ type: "recovery.reported" }),
	};
}

/** Messages of an interrupted step: what the model said and requested, and how each call ended. */
function interruptedStep(events: readonly AgentEvent[], open: readonly UnfinishedCall[]): HistoryEntry[] {
	const content: ContentPart[] = [];
	const toolCalls: ToolCall[] = [];
	const results = new Map<string, ToolReturn>();
	for (const { body } of events) {
		if (body.type === "content.completed") content.push(body.part);
		if (body.type === "tool.requested") toolCalls.push(body.call);
		if (body.type === "tool.result") results.set(body.toolCallId, body.result);
	}
	// Providers reject messages with only reasoning.
	if (toolCalls.length === 0 && content.every((part) => part.type === "think")) return [];
	const running = new Set(open.map(({ toolCallId }) => toolCallId));
	const answers = toolCalls.map(({ id }) =>
		toToolMessage(id, results.get(id) ?? (running.has(id) ? outcomeUnknown : neverRan)),
	);
	const said: HistoryEntry = { role: "assistant", content, ...(toolCalls.length === 0 ? {} : { toolCalls }) };
	return [said, ...answers];
}

/** Answers calls without results at the end of a context: providers reject it otherwise. */
export async function closeLostCalls(context: Context): Promise<void> {
	const lost = callsWithoutResult(context.messages);
	if (lost.length > 0) await context.append(lost.map((id) => messageRow(toToolMessage(id, resultLost))));
}

/** Calls at the end of the context whose results were lost with the last write. */
function callsWithoutResult(messages: readonly HistoryEntry[]): string[] {
	const last = messages.findLastIndex(({ role }) => role !== "tool");
	const missing = (messages[last]?.toolCalls ?? []).map(({ id }) => id);
	for (const { toolCallId } of messages.slice(last + 1)) {
		const index = missing.indexOf(toolCallId ?? "");
		if (index !== -1) missing.splice(index, 1);
	}
	return missing;
}

/** An assistant message with the calls and their answers: a history that every provider accepts. */
function closingRows(calls: readonly UnfinishedCall[]): ContextRow[] {
	const assistant: HistoryEntry = {
		role: "assistant",
		content: [],
		toolCalls: calls.map(({ toolCallId, name, arguments: text }) => ({
			type: "function",
			id: toolCallId,
			function: { name, arguments: text },
			extras: null,
		})),
	};
	const answers = calls.map(({ toolCallId }) => toToolMessage(toolCallId, outcomeUnknown));
	return [assistant, ...answers].map(messageRow);
}

/** Whether the end of the context already reports the call's unknown outcome. */
function isClosed({ toolCallId }: UnfinishedCall, messages: readonly HistoryEntry[]): boolean {
	const answer = JSON.stringify(toToolMessage(toolCallId, outcomeUnknown).content);
	const lastTools = messages.slice(messages.findLastIndex(({ role }) => role !== "tool") + 1);
	return lastTools.some((message) => message.toolCallId === toolCallId && JSON.stringify(message.content) === answer);
}
