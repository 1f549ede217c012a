// Compaction: replaces the older part of a context by a summary that the model writes (agent-kernel §5.9).
import { type ContentPart, textPart } from "../events/content.ts";
import type { HistoryEntry } from "../events/conversation.ts";
import type { Model } from "../models/model.ts";
import { estimateTokens, messageRow } from "./context.ts";
import type { CompactionTrigger, TurnDependencies } from "./dependencies.ts";
import { systemText } from "./marked-text.ts";
import { type StepFailure, toStepFailure, withRetries } from "./retries.ts";
import { askSilently } from "./silent-call.ts";

export type CompactionOutcome =
	| { readonly kind: "done" }
	/** The context is unchanged. */
	| StepFailure
	| { readonly kind: "cancelled" };

type Dependencies = Pick<
	TurnDependencies,
	"context" | "compaction" | "emit" | "commit" | "limits" | "clock" | "random" | "cacheKey"
>;

/** Messages of user and assistant to preserve at the end. */
const preservedMessages = 2;

const systemPrompt =
	"You condense the history of a coding agent's work, so that the agent can continue from your summary alone. You write nothing but the summary.";

const instruction = `\
The messages above are the history of a task up to now. They will be removed and replaced by your summary, and the \
agent that continues has nothing else of them. Write it so that nobody has to ask or look again:

1. What the person wants: the task and every requirement, preference and decision they stated, in their own words \
where the wording matters.
2. Where things stand: what is done and shown to work, what is half done, what has not been begun.
3. What was learned: files, functions, commands and settings that matter, by exact name and path; facts about the \
code; causes found; values that will be needed again.
4. What failed and why, so that it is not repeated.
5. What was going on at the very end, and the next step.

Be exact and brief. Keep code only where its text is needed to go on. Leave out greetings, what was given up, and the \
output of tools but for what it showed. Do not guess, and do not answer anything in the history.`;

const prefix = systemText(
	"The conversation before this point was summarised to make room. What follows is the summary; go on from it.",
);

/** Whether the context is so full that it must be compacted before the next request. */
export function isCompactionDue(model: Model, { context, compaction }: Dependencies): boolean {
	const tokens = context.expectedTokenCount;
	const { triggerRatio, reservedTokens } = compaction;
	return tokens >= model.maxContextSize * triggerRatio || tokens + reservedTokens >= model.maxContextSize;
}

/**
 * Compacts and emits begin and end; `focus` is what a person wants preserved above all. The end is emitted whatever the
 * outcome. Rejects only when something could not be persisted.
 */
export async function compact(
	model: Model,
	trigger: CompactionTrigger,
	focus: string,
	dependencies: Dependencies,
	signal: AbortSignal,
): Promise<CompactionOutcome> {
	const { context, compaction, emit } = dependencies;
	await compaction.before(trigger, context.tokenCount);
	if (signal.aborted) return { kind: "cancelled" };
	await emit({ type: "compaction.started" });
	let outcome: CompactionOutcome;
	try {
		outcome = await replaceOlder(model, focus, dependencies, signal);
	} catch (thrown) {
		await emit({ type: "compaction.ended" });
		throw thrown;
	}
	await emit({ type: "compaction.ended" });
	if (outcome.kind === "done") compaction.after(trigger, context.tokenCount);
	return outcome;
}

async function replaceOlder(
	model: Model,
	focus: string,
	dependencies: Dependencies,
	signal: AbortSignal,
): Promise<CompactionOutcome> {
	const { context, compaction, commit } = dependencies;
	const { older, preserved } = split(context.messages);
	const summary = older.length === 0 ? noSummary : await summarise(model, older, focus, dependencies, signal);
	if (summary.kind !== "done") return summary;
	const notes = (await compaction.notes()).map((text): HistoryEntry => ({ role: "user", content: [textPart(text)] }));
	const appended = [...preserved, ...notes];
	await context.replace([
		{ type: "checkpoint", id: 0 },
		...[...summary.messages, ...appended].map(messageRow),
		{ type: "usage", tokenCount: summary.tokens + estimateTokens(appended) },
	]);
	await commit();
	return { kind: "done" };
}

/** The messages to summarise, and those at the end to preserve. */
function split(messages: readonly HistoryEntry[]): {
	readonly older: readonly HistoryEntry[];
	readonly preserved: readonly HistoryEntry[];
} {
	let seen = 0;
	for (let index = messages.length - 1; index >= 0; index -= 1) {
		const role = messages[index]?.role;
		if (role === "user" || role === "assistant") seen += 1;
		if (seen === preservedMessages) return { older: messages.slice(0, index), preserved: messages.slice(index) };
	}
	return { older: [], preserved: messages };
}

interface Summary {
	readonly kind: "done";
	readonly messages: readonly HistoryEntry[];
	readonly tokens: number;
}

const noSummary: Summary = { kind: "done", messages: [], tokens: 0 };

async function summarise(
	model: Model,
	older: readonly HistoryEntry[],
	focus: string,
	dependencies: Dependencies,
	signal: AbortSignal,
): Promise<Summary | Exclude<CompactionOutcome, { kind: "done" }>> {
	const { context, cacheKey } = dependencies;
	const request = {
		systemPrompt,
		messages: [{ role: "user", content: toMaterial(older, focus) } as const],
		cacheKey,
		...(context.tokenCount > 0 ? { knownTokens: context.tokenCount } : {}),
	};
	const answer = await withRetries(
		() => askSilently(model, request, signal),
		dependencies,
		() => undefined,
		signal,
	);
	if (answer.kind === "cancelled") return answer;
	if (answer.kind === "failed") return toStepFailure(answer.failure);
	const message: HistoryEntry = { role: "user", content: [textPart(prefix), ...answer.content] };
	return { kind: "done", messages: [message], tokens: answer.usage?.output ?? estimateTokens([message]) };
}

/** The history as text, each message under a header, followed by the instructions. */
function toMaterial(older: readonly HistoryEntry[], focus: string): readonly ContentPart[] {
	const history = older.flatMap(({ role, content }, index) => [
		textPart(`## Message ${index + 1}\nRole: ${role}\n`),
		...content.filter((part) => part.type === "text"),
	]);
	const wish =
		focus === "" ? "" : `\n\nThe person asks that the summary keep this above all, in full detail:\n${focus}`;
	return [...history, textPart(`${instruction}${wish}`)];
}
