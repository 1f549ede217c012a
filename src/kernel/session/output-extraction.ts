// Makes an answer of the session a JSON value of its output schema: outside turns, without tools, and without an effect on
// the context.
import { askSilently } from "../../agent/silent-call.ts";
import { modelNotSet } from "../../agent/turn.ts";
import { KernelError } from "../../base/errors.ts";
import { isTextNestedWithin } from "../../base/json.ts";
import type { ExtractedOutput } from "../../events/command.ts";
import { type TokenUsage, textPart } from "../../events/content.ts";
import type { HistoryEntry } from "../../events/conversation.ts";
import { type EventBody, statusChanged } from "../../events/event.ts";
import { compileJsonSchema } from "../../tools/json-schema.ts";
import type { OutputSchema } from "../api.ts";
import type { AgentBudget } from "../budgets/budgets.ts";
import type { Agent } from "../turn/turn-dependencies.ts";

export interface OutputExtractionSettings {
	readonly output: OutputSchema;
	readonly cacheKey: string;
	agent(): Promise<Agent>;
	readonly budget: AgentBudget;
	/** Waits for a slow client no longer than the signal. */
	emit(body: EventBody, signal: AbortSignal): Promise<void>;
}

/** Levels that an answer may nest. */
const answerDepth = 100;

type Read = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string };

export class OutputExtraction {
	readonly #settings: OutputExtractionSettings;
	readonly #stopping = new AbortController();

	constructor(settings: OutputExtractionSettings) {
		this.#settings = settings;
	}

	/** Ends the requests that are under way. */
	stop(): void {
		this.#stopping.abort();
	}

	async extract(text: string): Promise<ExtractedOutput> {
		const { schema, retries } = this.#settings.output;
		const compiled = await compileJsonSchema(schema, "answer");
		if (!compiled.ok) throw new KernelError("invalid-input", `The output schema cannot be used: ${compiled.reason}.`);
		const read = async (answer: string): Promise<Read> => {
			const parsed = parseAnswer(answer);
			if (!parsed.ok) return parsed;
			const fault = await compiled.check(parsed.value);
			return fault === null ? parsed : { ok: false, reason: fault };
		};
		let last = await read(text);
		if (last.ok) return { status: "extracted", value: last.value, isFinalReply: true, attempts: 0, calls: [] };
		let lastOutput = text;
		const calls: TokenUsage[] = [];
		const dialogue: HistoryEntry[] = [asked(toRequest(schema))];
		for (let attempt = 1; attempt <= retries + 1; attempt += 1) {
			const answer = await this.#ask(dialogue);
			if (answer.usage !== null) calls.push(answer.usage);
			if ("failure" in answer)
				return { status: "failed", reason: answer.failure, lastOutput, attempts: attempt, calls };
			lastOutput = answer.text;
			last = await read(lastOutput);
			if (last.ok) return { status: "extracted", value: last.value, isFinalReply: false, attempts: attempt, calls };
			dialogue.push({ role: "assistant", content: [textPart(lastOutput)] }, asked(toCorrection(last.reason)));
		}
		return { status: "failed", reason: last.reason, lastOutput, attempts: retries + 1, calls };
	}

	async #ask(dialogue: readonly HistoryEntry[]) {
		const { agent, budget, cacheKey, emit } = this.#settings;
		const { model, unsetModelAlias, context } = await agent();
		if (model === null) return { usage: null, failure: modelNotSet(unsetModelAlias).message };
		const exhausted = budget.exhausted();
		if (exhausted !== null) return { usage: null, failure: exhausted.message };
		const messages = [...context.requestMessages(), ...dialogue];
		const request = { systemPrompt: context.systemPrompt, messages, cacheKey };
		const answer = await askSilently(budget.counted(model), request, this.#stopping.signal);
		if (answer.kind === "cancelled") return { usage: null, failure: "The session was stopped." };
		if (answer.kind === "failed") return { usage: null, failure: answer.failure.message };
		const { usage, content } = answer;
		// What it consumed counts, although nothing of it is in the conversation.
		if (usage !== null) await emit(statusChanged({ token_usage: usage }), this.#stopping.signal);
		const used = budget.toPersist();
		if (used !== null) await emit(used, this.#stopping.signal);
		return {
			usage,
			text: content
				.flatMap((part) => (part.type === "text" ? [part.text] : []))
				.join("")
				.trim(),
		};
	}
}

const asked = (text: string): HistoryEntry => ({ role: "user", content: [textPart(text)] });

const toRequest = (schema: object) =>
	`Give the answer to the task once more, as one JSON value that fits the JSON Schema below: nothing before it, nothing after it, no code fence. You cannot use tools for it.\n\n${JSON.stringify(schema)}`;

const toCorrection = (reason: string) => `That does not fit: ${reason} Give one JSON value that fits the schema.`;

/** Models like to put a fence around JSON. */
const fence = /^```(?:json)?[ \t]*\n([\s\S]*)\n```$/;

function parseAnswer(text: string): Read {
	const trimmed = text.trim();
	const json = fence.exec(trimmed)?.[1] ?? trimmed;
	if (!isTextNestedWithin(json, answerDepth)) {
		return { ok: false, reason: `The JSON nests more than ${answerDepth} levels deep.` };
	}
	try {
		return { ok: true, value: JSON.parse(json) };
	} catch (thrown) {
		const why = thrown instanceof SyntaxError ? thrown.message.slice(0, 200) : "";
		return { ok: false, reason: `Invalid JSON: ${why}` };
	}
}
