import type { SessionHandle } from "../../../api/kernel.ts";
import { inputText, type UserInput } from "../../../api/values/content.ts";
import type { TurnOutcome } from "../../../api/values/event.ts";
import { readSideQuestion } from "../../../api/values/slash-command.ts";
import { toThrown } from "../../shared/error-numbers.ts";
import { toInput } from "../content.ts";
import { withAdvice } from "../errors.ts";
import { stopReasonOf } from "../stop-reason.ts";
import type { PromptParams, PromptResult, StopReason } from "../wire.ts";
import type { AttachedSession } from "./attached-session.ts";
import type { ClientSide } from "./client-side.ts";
import type { StartedTurn } from "./own-prompts.ts";
import { type Prompt, Prompts } from "./prompts.ts";
import type { SessionAccess } from "./session-access.ts";

const cancelled: PromptResult = { stopReason: "cancelled" };

type Begun = (messageId: string) => void;

interface RunningTurn extends StartedTurn {
	readonly handle: SessionHandle;
	readonly attached: AttachedSession;
}

/** Prompts of one session run one after another; side questions run concurrently. */
export class PromptRequests {
	readonly #side: ClientSide;
	readonly #sessions: SessionAccess;
	readonly #prompts = new Map<string, Prompts>();

	constructor(side: ClientSide, sessions: SessionAccess) {
		this.#side = side;
		this.#sessions = sessions;
	}

	async prompt(
		{ sessionId, prompt: blocks }: PromptParams,
		signal: AbortSignal,
		begun: Begun = () => {},
	): Promise<PromptResult> {
		const input = toInput(blocks);
		if (this.#side.gone.aborted) return cancelled;
		const prompts = this.#promptsOf(sessionId);
		const watch = (prompt: Prompt) => {
			const withdraw = () => {
				prompts.withdraw(prompt);
				if (prompt.isRunning) void this.#interrupt(sessionId);
			};
			if (signal.aborted) withdraw();
			else signal.addEventListener("abort", withdraw, { once: true });
		};
		// Other prompts are queued at once, so that a following cancellation reaches them.
		const question = prompts.isBusy ? readSideQuestion(inputText(input)) : null;
		const running =
			question === null
				? prompts.run((prompt) => this.#runTurn(sessionId, input, prompt, begun), watch)
				: prompts.runConcurrently((prompt) => this.#askSideQuestion(sessionId, question, prompt, begun), watch);
		const result = await running.finally(() => {
			if (prompts.isEmpty && this.#prompts.get(sessionId) === prompts) this.#prompts.delete(sessionId);
		});
		return result ?? cancelled;
	}

	async cancel(id: string): Promise<void> {
		const prompts = this.#prompts.get(id);
		// Without a prompt, nothing of this client runs in the session.
		if (prompts === undefined) return;
		prompts.cancel();
		if (prompts.isBusy) await this.#interrupt(id);
	}

	/** Runs `work` once all earlier prompts of the session are canceled and about to be answered; later ones wait for it. */
	async end(id: string, work: () => Promise<unknown>): Promise<void> {
		const prompts = this.#prompts.get(id);
		prompts?.cancel();
		const ended = prompts?.ended();
		await this.#sessions.inOrder(id, async () => {
			if (prompts?.isBusy === true) await this.#interruptNow(id);
			await ended;
			await work();
		});
	}

	withdrawWaiting(): void {
		for (const prompts of this.#prompts.values()) prompts.withdrawWaiting();
	}

	async #runTurn(id: string, input: UserInput, prompt: Prompt, begun: Begun): Promise<PromptResult | null> {
		const turn = await this.#sessions.inOrder(id, () => this.#start(id, input, prompt));
		if (turn === null) return null;
		const { handle, attached, messageId, ended } = turn;
		void turn.begun.then(() => begun(messageId));
		try {
			// A cancellation may have come while the turn began.
			if (prompt.isCancelled) void this.#interrupt(id);
			const outcome = await ended;
			const { title } = await handle.session.snapshot();
			attached.view.sendTitle(title);
			return { stopReason: toStopReason(outcome, prompt, attached) };
		} finally {
			handle.release();
		}
	}

	async #start(id: string, input: UserInput, prompt: Prompt): Promise<RunningTurn | null> {
		const handle = await this.#sessions.acquire(id);
		try {
			const attached = await this.#sessions.attached.to(handle);
			if (!prompt.isCancelled) return { handle, attached, ...(await attached.prompts.start(handle, input)) };
			handle.release();
			return null;
		} catch (thrown) {
			handle.release();
			throw thrown;
		}
	}

	async #askSideQuestion(id: string, question: string, prompt: Prompt, begun: Begun): Promise<PromptResult> {
		const asked = await this.#sessions.using(id, ({ prompts }) => prompts.ask(question));
		const { messageId, ended, dismiss } = asked;
		begun(messageId);
		void prompt.withdrawn.promise.then(dismiss).catch((thrown: unknown) => {
			this.#side.kernelApi.log.debug("A side question was not cancelled.", { session: id, error: thrown });
		});
		await ended;
		return { stopReason: "end_turn" };
	}

	#interrupt(id: string): Promise<void> {
		return this.#sessions.inOrder(id, () => this.#interruptNow(id));
	}

	async #interruptNow(id: string): Promise<void> {
		const { sessions, log } = this.#side.kernelApi;
		try {
			await sessions.interrupt(id);
		} catch (thrown) {
			// It may have ended by itself.
			log.debug("A turn was not cancelled.", { session: id, error: thrown });
		}
	}

	#promptsOf(id: string): Prompts {
		const prompts = this.#prompts.get(id) ?? new Prompts();
		this.#prompts.set(id, prompts);
		return prompts;
	}
}

function toStopReason(outcome: TurnOutcome, { isCancelled }: Prompt, attached: AttachedSession): StopReason {
	const reason = stopReasonOf(outcome);
	if (outcome.status !== "failed") return reason ?? "end_turn";
	// A cancellation is never answered as an error.
	if (isCancelled) return "cancelled";
	if (reason === null) throw withAdvice(toThrown(outcome.error));
	const title = reason === "refusal" ? "The provider refused to answer" : "The budget is used up";
	attached.view.sendReport(title, outcome.error.message);
	return reason;
}
