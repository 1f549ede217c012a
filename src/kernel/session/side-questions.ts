// Answered concurrently with a turn, without effect on it; see commands/side-question.ts for no turn.
import { setMaxListeners } from "node:events";
import type { EventBody } from "../../api/values/event.ts";
import { toSideQuestion } from "../../api/values/slash-command.ts";
import { toKernelError } from "../../base/errors.ts";
import type { Identifiers } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { Retrying } from "../../core/agent/silent-call.ts";
import type { AgentBudget } from "../budgets/budgets.ts";
import { type Emitter, outsideTurns } from "../clients/emitter.ts";
import type { HookRunner } from "../turn/hook-runner.ts";
import { showPrompt } from "../turn/prompt-hooks.ts";
import { answerSideQuestion, type SideAnswer, toEnd } from "../turn/side-question-answer.ts";
import type { Agent } from "../turn/turn-dependencies.ts";

export interface SideQuestionSettings {
	readonly identifiers: Identifiers;
	readonly cacheKey: string;
	readonly log: Log;
	/** Prompt hooks guard side questions too. */
	readonly hooks: Pick<HookRunner, "run">;
	agent(): Promise<Agent>;
	readonly budget: AgentBudget;
	readonly retries: Omit<Retrying, "emit">;
	readonly emitter: Pick<Emitter, "emit" | "deliverVolatile">;
}

export class SideQuestions {
	readonly #settings: SideQuestionSettings;
	readonly #open = new Set<Promise<void>>();
	readonly #cancellations = new Map<string, AbortController>();
	readonly #stopping = new AbortController();

	constructor(settings: SideQuestionSettings) {
		this.#settings = settings;
		// Every open question may wait for a slow client.
		setMaxListeners(0, this.#stopping.signal);
	}

	/** Starts answering. The events carry this id. */
	start(question: string): { readonly id: string } {
		const id = this.#settings.identifiers.hex(12);
		const cancellation = new AbortController();
		this.#cancellations.set(id, cancellation);
		const signal = AbortSignal.any([this.#stopping.signal, cancellation.signal]);
		const run = this.#run(id, question, signal).finally(() => {
			this.#open.delete(run);
			this.#cancellations.delete(id);
		});
		this.#open.add(run);
		return { id };
	}

	/** Cancels a question; its end event follows. Does nothing when it is not open. */
	cancel(id: string): null {
		this.#cancellations.get(id)?.abort();
		return null;
	}

	async stop(): Promise<void> {
		this.#stopping.abort();
		await Promise.allSettled(this.#open);
	}

	/** `signal` stops the answer; its end is still emitted. */
	async #run(id: string, question: string, signal: AbortSignal): Promise<void> {
		try {
			const refusal = await this.#refusal(question, signal);
			await this.#emit({ type: "side-question.started", id, question });
			const end = refusal === null ? toEnd(await this.#answer(question, signal)) : { response: null, error: refusal };
			await this.#emit({ type: "side-question.ended", id, ...end });
		} catch (thrown) {
			const body: EventBody = {
				type: "side-question.ended",
				id,
				response: null,
				error: this.#describe(thrown).message,
			};
			// The client must receive the end even if it could not be persisted.
			this.#settings.emitter.deliverVolatile(outsideTurns, body);
		}
	}

	/** Waits for slow clients until the session stops. */
	async #emit(body: EventBody): Promise<void> {
		await this.#settings.emitter.emit(outsideTurns, body, {}, this.#stopping.signal);
	}

	async #refusal(question: string, signal: AbortSignal): Promise<string | null> {
		const emit = (body: EventBody) => this.#emit(body);
		const blocked = await showPrompt(toSideQuestion(question), this.#settings.hooks, emit, signal);
		return blocked?.text ?? null;
	}

	async #answer(question: string, signal: AbortSignal): Promise<SideAnswer> {
		const { budget, cacheKey } = this.#settings;
		try {
			const { model, ...agent } = await this.#settings.agent();
			const counted = model === null ? null : budget.counted(model);
			const exhausted = () => budget.exhausted();
			const retrying = { ...this.#settings.retries, emit: (body: EventBody) => this.#emit(body) };
			const who = { ...agent, model: counted, cacheKey, exhausted, retrying };
			const answer = await answerSideQuestion(question, who, signal);
			const used = budget.toPersist();
			if (used !== null) await this.#emit(used);
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
