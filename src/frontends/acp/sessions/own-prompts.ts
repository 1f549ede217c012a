import type { SessionApi, SessionHandle } from "../../../api/kernel.ts";
import type { UserInput } from "../../../api/values/content.ts";
import type { TurnOutcome } from "../../../api/values/event.ts";
import { createDeferred, type Deferred } from "../../../base/deferred.ts";
import type { EventPump } from "../../shared/event-pump.ts";

export interface StartedTurn {
	/** Names the prompt among the session's messages. */
	readonly messageId: string;
	/** Resolves when the turn's beginning is about to be sent. */
	readonly begun: Promise<void>;
	/** Resolves once all its updates are in the outbox. */
	readonly ended: Promise<TurnOutcome>;
}

interface AskedQuestion {
	readonly messageId: string;
	readonly ended: Promise<void>;
	dismiss(): Promise<void>;
}

export class OwnPrompts {
	readonly #session: SessionApi;
	readonly #pump: EventPump;
	readonly #turns = new Set<string>();
	readonly #beginnings = new Map<string, Deferred<void>>();
	readonly #dismissed = new Set<string>();
	#starting = 0;

	constructor(session: SessionApi, pump: EventPump) {
		this.#session = session;
		this.#pump = pump;
	}

	async start(handle: SessionHandle, input: UserInput): Promise<StartedTurn> {
		this.#starting += 1;
		try {
			const { turnId, ended: outcome } = await this.#pump.follow(async () => (await handle.startTurn(input)).turnId);
			const begun = this.#beginningOf(turnId);
			const ended = outcome.finally(() => {
				this.#turns.delete(turnId);
				this.#beginnings.delete(turnId);
			});
			this.#turns.add(turnId);
			return { messageId: `${turnId}-u`, begun: begun.promise, ended };
		} finally {
			this.#starting -= 1;
		}
	}

	/** Its answer is in the outbox when `ended` resolves, unless it was dismissed, which stops its model request. */
	async ask(question: string): Promise<AskedQuestion> {
		const { id } = await this.#session.send({ type: "side-question.start", question });
		const dismiss = async () => {
			this.#dismissed.add(id);
			await this.#session.send({ type: "side-question.cancel", id });
		};
		return { messageId: `${id}-u`, ended: this.#pump.sideQuestionEnded(id), dismiss };
	}

	isTurn(turnId: string | null): boolean {
		return this.#starting > 0 || (turnId !== null && this.#turns.has(turnId));
	}

	noteBeginning(turnId: string | null): void {
		if (turnId !== null && this.isTurn(turnId)) this.#beginningOf(turnId).resolve();
	}

	takeDismissed(id: string): boolean {
		return this.#dismissed.delete(id);
	}

	#beginningOf(turnId: string): Deferred<void> {
		const beginning = this.#beginnings.get(turnId) ?? createDeferred<void>();
		this.#beginnings.set(turnId, beginning);
		return beginning;
	}
}
