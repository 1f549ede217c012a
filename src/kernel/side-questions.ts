// Questions beside the conversation: answered from what the model has been told, while a turn runs or not, and left out
// of the context.
import { setMaxListeners } from "node:events";
import { emptyAnswer } from "../agent/retries.ts";
import { askSilently } from "../agent/silent-call.ts";
import { errorText } from "../base/errors.ts";
import type { Identifiers } from "../base/ids.ts";
import { textPart } from "../events/content.ts";
import type { ConversationMessage } from "../events/conversation.ts";
import type { EventBody } from "../events/event.ts";
import type { Model } from "../models/model.ts";
import type { AgentBudget } from "./budgets.ts";
import type { Agent } from "./turn-dependencies.ts";

export interface SideQuestionSettings {
	readonly identifiers: Identifiers;
	readonly cacheKey: string;
	agent(): Promise<Agent>;
	readonly budget: AgentBudget;
	/** What waits for a slow client waits no longer than the signal. */
	emit(body: EventBody, signal: AbortSignal): Promise<void>;
	/** Tells what could not be kept: whoever asked must hear of the end. */
	tellUnkept(body: EventBody): void;
}

const introduction =
	"This is a question beside the task. Answer it shortly from what you know of this conversation; you cannot use tools for it, and the task goes on untouched.";

type Answer = { readonly response: string; readonly error: null } | { readonly response: null; readonly error: string };

export class SideQuestions {
	readonly #settings: SideQuestionSettings;
	readonly #open = new Set<Promise<void>>();
	readonly #stopping = new AbortController();

	constructor(settings: SideQuestionSettings) {
		this.#settings = settings;
		// Every open question may wait for a slow client.
		setMaxListeners(0, this.#stopping.signal);
	}

	/** Starts answering; the id is that of the events. */
	start(question: string): { readonly id: string } {
		const id = this.#settings.identifiers.hex(12);
		const run = this.#run(id, question).finally(() => this.#open.delete(run));
		this.#open.add(run);
		return { id };
	}

	/** Ends what is open and waits for it. */
	async stop(): Promise<void> {
		this.#stopping.abort();
		await Promise.allSettled(this.#open);
	}

	async #run(id: string, question: string): Promise<void> {
		const { emit, tellUnkept } = this.#settings;
		try {
			await emit({ type: "side-question.started", id, question }, this.#stopping.signal);
			const answer = await this.#answer(question);
			await emit({ type: "side-question.ended", id, ...answer }, this.#stopping.signal);
		} catch (thrown) {
			tellUnkept({ type: "side-question.ended", id, ...failed(errorText(thrown)) });
		}
	}

	async #answer(question: string): Promise<Answer> {
		if (question === "") return failed("There is no question: write it behind /btw.");
		try {
			const agent = await this.#settings.agent();
			if (agent.model === null) return failed("LLM is not set");
			const { budget } = this.#settings;
			const spent = budget.exhausted();
			if (spent !== null) return failed(spent.message);
			const answer = await this.#ask(budget.counted(agent.model), agent, question);
			await budget.keep();
			return answer;
		} catch (thrown) {
			return failed(errorText(thrown));
		}
	}

	async #ask(model: Model, { context }: Agent, question: string): Promise<Answer> {
		const asked: ConversationMessage = { role: "user", content: [textPart(`${introduction}\n\n${question}`)] };
		const request = {
			systemPrompt: context.systemPrompt,
			messages: [...answeredMessages(context.requestMessages()), asked],
			cacheKey: this.#settings.cacheKey,
		};
		const answer = await askSilently(model, request, this.#stopping.signal);
		if (answer.kind === "cancelled") return failed("The question was stopped.");
		if (answer.kind === "failed") return failed(answer.failure.message);
		const texts = answer.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
		const response = texts.join("").trim();
		return response === "" ? failed(emptyAnswer.message) : { response, error: null };
	}
}

function failed(error: string): Answer {
	return { response: null, error };
}

/** The history up to the last message that needs no answer: a user message at its end would run into the question. */
function answeredMessages(messages: readonly ConversationMessage[]): readonly ConversationMessage[] {
	const end = messages.findLastIndex(({ role }) => role !== "user");
	return messages.slice(0, end + 1);
}
