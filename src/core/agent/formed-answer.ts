// Asks again if the last answer has the wrong form; these requests do not enter the conversation.
import { joinTexts, type TokenUsage, textPart } from "../../api/values/content.ts";
import type { HistoryEntry } from "../../api/values/conversation.ts";
import type { TurnError } from "../../api/values/event.ts";
import type { AnswerForm, FormedAnswer } from "../../api/values/turn-options.ts";
import { type CompiledSchema, compileJsonSchema } from "../tools/json-schema.ts";
import { lastText } from "./context.ts";
import type { TurnDependencies } from "./dependencies.ts";
import { requestBasis, requestMessages } from "./request-basis.ts";
import { toTurnError } from "./retries.ts";
import { askSilently } from "./silent-call.ts";

export type FormOutcome =
	| { readonly kind: "formed"; readonly answer: FormedAnswer }
	| { readonly kind: "failed"; readonly error: TurnError }
	| { readonly kind: "cancelled" };

type Reading = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string };

type Usable = Extract<CompiledSchema, { ok: true }>;

export async function formAnswer(
	{ schema, retries }: AnswerForm,
	dependencies: TurnDependencies,
	signal: AbortSignal,
): Promise<FormOutcome> {
	const { model, context, budget } = dependencies;
	const compiled = await compileJsonSchema(schema, "answer");
	let answer = lastText(context);
	const usage: TokenUsage[] = [];
	const exchange: HistoryEntry[] = [];
	const unformed = (reason: string): FormOutcome => ({
		kind: "formed",
		answer: { kind: "unformed", lastAnswer: answer, reason, attempts: usage.length, usage },
	});
	if (!compiled.ok) return unformed(`The schema cannot be used: ${compiled.reason}`);
	if (model === null) return unformed("There is no model.");
	for (;;) {
		const reading = await readAnswer(answer, compiled);
		if (reading.ok)
			return { kind: "formed", answer: { kind: "formed", value: reading.value, attempts: usage.length, usage } };
		if (usage.length > retries) return unformed(reading.reason);
		const spent = budget.exhausted();
		if (spent !== null) return { kind: "failed", error: spent };
		exchange.push(demand(schema, reading.reason));
		const request = { ...requestBasis(dependencies), messages: [...requestMessages(dependencies), ...exchange] };
		const asked = await askSilently(model, request, dependencies, signal);
		if (asked.kind === "cancelled") return asked;
		if (asked.kind === "failed") return { kind: "failed", error: toTurnError(asked.failure) };
		usage.push(asked.usage ?? unknownUsage);
		answer = joinTexts(asked.content, "").trim();
		exchange.push({ role: "assistant", content: [textPart(answer)] });
	}
}

const unknownUsage: TokenUsage = { input_other: 0, output: 0, input_cache_read: 0, input_cache_creation: 0 };

async function readAnswer(answer: string, { check }: Usable): Promise<Reading> {
	let value: unknown;
	try {
		value = JSON.parse(withoutFence(answer));
	} catch (thrown) {
		return { ok: false, reason: `Invalid JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}` };
	}
	const fault = await check(value);
	return fault === null ? { ok: true, value } : { ok: false, reason: fault };
}

/** Many models wrap the answer in a code block. */
function withoutFence(answer: string): string {
	if (!answer.startsWith("```") || !answer.endsWith("```")) return answer;
	const begin = answer.indexOf("\n");
	return begin === -1 ? answer : answer.slice(begin + 1, -3);
}

function demand(schema: AnswerForm["schema"], reason: string): HistoryEntry {
	const text = `Give your last answer as one JSON value that matches this JSON Schema, and nothing else: no explanation, no code block.\n\n${JSON.stringify(schema)}\n\nWhat you have given does not match. ${reason}`;
	return { role: "user", content: [textPart(text)] };
}
