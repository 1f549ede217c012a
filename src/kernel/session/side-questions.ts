// Questions asked while a turn runs: answered beside it, in no turn of their own, so that it does not notice. Without a turn
// they are a slash command (commands/side-question.ts).
import { setMaxListeners } from "node:events";
import { toKernelError } from "../../base/errors.ts";
import type { Identifiers } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { EventBody } from "../../events/event.ts";
import { toSideQuestion } from "../../events/slash-command.ts";
import type { AgentBudget } from "../budgets/budgets.ts";
import type { HookRunner } from "../turn/hook-runner.ts";
import { showPrompt } from "../turn/prompt-hooks.ts";
import { answerSideQuestion, type SideAnswer, toEnd } from "../turn/side-question-answer.ts";
import type { Agent } from "../turn/turn-dependencies.ts";

export interface SideQuestionSettings {
	readonly identifiers: Identifiers;
	readonly cacheKey: string;
	readonly log: Log;
	/** What guards prompts guards these too. */
	readonly hooks: Pick<HookRunner, "run">;
	agent(): Promise<Agent>;
	readonly budget: AgentBudget;
	/** What waits for a slow client waits no longer than the signal. */
	emit(body: EventBody, signal: AbortSignal): Promise<void>;
	/** Tells what could not be kept: whoever asked must hear of the end. */
	deliverVolatile(body: EventBody): void;
}

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
		const { deliverVolatile } = this.#settings;
		const emit = (body: EventBody) => this.#settings.emit(body, this.#stopping.signal);
		try {
			const refusal = await this.#refusal(question, emit);
			await emit({ type: "side-question.started", id, question });
			const end = refusal === null ? toEnd(await this.#answer(question)) : { response: null, error: refusal };
			await emit({ type: "side-question.ended", id, ...end });
		} catch (thrown) {
			const error = this.#describe(thrown).message;
			deliverVolatile({ type: "side-question.ended", id, response: null, error });
		}
	}

	/** Why a hook lets it not be asked; null when none minds. */
	async #refusal(question: string, emit: (body: EventBody) => Promise<void>): Promise<string | null> {
		const blocked = await showPrompt(toSideQuestion(question), this.#settings.hooks, emit, this.#stopping.signal);
		return blocked?.text ?? null;
	}

	async #answer(question: string): Promise<SideAnswer> {
		const { budget, cacheKey } = this.#settings;
		try {
			const { model, ...agent } = await this.#settings.agent();
			const counted = model === null ? null : budget.counted(model);
			const exhausted = () => budget.exhausted();
			const who = { ...agent, model: counted, cacheKey, exhausted };
			const answer = await answerSideQuestion(question, who, this.#stopping.signal);
			await budget.persist();
			return answer;
		} catch (thrown) {
			const { code, message, data } = this.#describe(thrown);
			return { kind: "failed", error: { code, message, data } };
		}
	}

	#describe(thrown: unknown) {
		this.#settings.log.error("A side question failed.", { error: thrown });
		return toKernelError(thrown);
	}
}
