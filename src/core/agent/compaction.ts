import { type ContentPart, textPart } from "../../api/values/content.ts";
import type { ContextRow, HistoryEntry } from "../../api/values/conversation.ts";
import { createFailure, type Model } from "../models/model.ts";
import { estimateTokens, messageRow } from "./context.ts";
import type { CompactionTrigger, TurnDependencies } from "./dependencies.ts";
import { systemText } from "./marked-text.ts";
import { type StepFailure, toStepFailure } from "./retries.ts";
import { resultSizeOf, shortenedParts, shortestRoom, textSizeOf, withShortenedResults } from "./shortening.ts";
import { askSilently, incompleteText, type SilentAnswer } from "./silent-call.ts";

export type CompactionOutcome =
	| { readonly kind: "done" }
	/** The context is unchanged. */
	| StepFailure
	| { readonly kind: "cancelled" };

type Dependencies = Pick<
	TurnDependencies,
	"context" | "compaction" | "emit" | "commit" | "limits" | "clock" | "random" | "cacheKey"
>;

const preservedMessages = 2;

/** Characters per token for filling the window; deliberately below average. */
const charactersPerToken = 3;

/** Maximum number of times to halve an oversized request. */
const halvings = 4;

/** Maximum share of the window for the summary request, to leave room for the answer. */
const fullestRequest = 0.9;

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
	"The conversation before this point was summarized to make room. What follows is the summary; go on from it.",
);

export function isCompactionDue(model: Model, { context, compaction }: Dependencies): boolean {
	const tokens = context.expectedTokenCount;
	const { triggerRatio, reservedTokens } = compaction;
	return tokens >= model.maxContextSize * triggerRatio || tokens + reservedTokens >= model.maxContextSize;
}

/** `focus` is what the user wants to preserve. Emits begin and end, also on failure. Rejects only on storage failures. */
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
	const { context, compaction } = dependencies;
	const { older, preserved } = split(context.messages);
	const summary = older.length === 0 ? noSummary : await summarize(model, older, focus, dependencies, signal);
	if (summary.kind !== "done") return summary;
	const notes = (await compaction.notes()).map((text): HistoryEntry => ({ role: "user", content: [textPart(text)] }));
	const appended = [...preserved, ...notes];
	const room = model.maxContextSize - summary.tokens;
	const fitting =
		estimateTokens(appended) < room ? appended : withShortenedResults(appended, (room * charactersPerToken) / 2);
	const rows: readonly ContextRow[] = [
		{ type: "checkpoint", id: 0 },
		...[...summary.messages, ...fitting].map(messageRow),
		{ type: "usage", tokenCount: summary.tokens + estimateTokens(fitting) },
	];
	return await replaceUnlessCancelled(rows, dependencies, signal);
}

async function replaceUnlessCancelled(
	rows: readonly ContextRow[],
	{ context, commit }: Pick<Dependencies, "context" | "commit">,
	signal: AbortSignal,
): Promise<CompactionOutcome> {
	if (signal.aborted) return { kind: "cancelled" };
	const before = context.rows.filter(({ type }) => type !== "system-prompt");
	await context.replace(rows);
	await commit();
	if (!signal.aborted) return { kind: "done" };
	await context.replace(before);
	await commit();
	return { kind: "cancelled" };
}

/** Halves tool results in a context that is too long even after compaction; null if there is nothing to shorten. */
export function shortenResults(
	model: Model,
	dependencies: Pick<Dependencies, "context" | "commit" | "emit">,
	signal: AbortSignal,
): (() => Promise<CompactionOutcome>) | null {
	const { context, emit } = dependencies;
	const size = resultSizeOf(context.messages);
	if (size < shortestRoom) return null;
	return async () => {
		await emit({ type: "compaction.started" });
		const messages = withShortenedResults(
			context.messages,
			Math.min(size, model.maxContextSize * charactersPerToken) / 2,
		);
		const rows: readonly ContextRow[] = [
			{ type: "checkpoint", id: 0 },
			...messages.map(messageRow),
			{ type: "usage", tokenCount: estimateTokens(messages) },
		];
		const outcome = await replaceUnlessCancelled(rows, dependencies, signal);
		await emit({ type: "compaction.ended" });
		return outcome;
	};
}

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

async function summarize(
	model: Model,
	older: readonly HistoryEntry[],
	focus: string,
	dependencies: Dependencies,
	signal: AbortSignal,
): Promise<Summary | Exclude<CompactionOutcome, { kind: "done" }>> {
	const { context, cacheKey } = dependencies;
	const history = toMaterial(older);
	const size = textSizeOf(history);
	const ask = (room: number) => {
		const isWhole = size <= room;
		// The context's token count does not apply to a part of it, and a full window would leave no room for the answer.
		const isMeaningful =
			isWhole && context.tokenCount > 0 && context.tokenCount < model.maxContextSize * fullestRequest;
		const content = [...(isWhole ? history : shortenedParts(history, room)), toInstruction(focus)];
		const request = {
			systemPrompt,
			messages: [{ role: "user", content } as const],
			cacheKey,
			...(isMeaningful ? { knownTokens: context.tokenCount } : {}),
		};
		return askSilently(model, request, dependencies, signal);
	};
	let room = Math.floor(model.maxContextSize * charactersPerToken * fullestRequest);
	let answer = await ask(room);
	// The history may exceed the window; a summary of a part is better than a stuck session.
	for (let count = 0; count < halvings && isOverflow(answer); count += 1) {
		room = Math.floor(Math.min(size, room) / 2);
		if (room < shortestRoom) break;
		answer = await ask(room);
	}
	if (answer.kind === "cancelled") return answer;
	if (answer.kind === "failed") return toStepFailure(answer.failure);
	if (answer.end !== null) {
		const reason = `The summary is incomplete, so the conversation stays as it is. ${incompleteText(answer.end)}`;
		return toStepFailure(createFailure("provider", reason));
	}
	const message: HistoryEntry = { role: "user", content: [textPart(prefix), ...answer.content] };
	return { kind: "done", messages: [message], tokens: answer.usage?.output ?? estimateTokens([message]) };
}

const isOverflow = (answer: SilentAnswer) => answer.kind === "failed" && answer.failure.kind === "overflow";

/** The history as text, each message with a header. */
function toMaterial(older: readonly HistoryEntry[]): readonly ContentPart[] {
	return older.flatMap(({ role, content }, index) => [
		textPart(`## Message ${index + 1}\nRole: ${role}\n`),
		...content.filter((part) => part.type === "text"),
	]);
}

function toInstruction(focus: string): ContentPart {
	const wish =
		focus === "" ? "" : `\n\nThe person asks that the summary keep this above all, in full detail:\n${focus}`;
	return textPart(`${instruction}${wish}`);
}
