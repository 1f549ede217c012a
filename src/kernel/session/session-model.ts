// The model of a session: which one its next turn uses, and the command that chooses another one.
import { isDeepStrictEqual } from "node:util";
import { KernelError } from "../../base/errors.ts";
import { createKeyedQueue } from "../../base/keyed-queue.ts";
import type { Model } from "../../core/models/model.ts";
import type { StoredSession } from "../../ports/store/session-store.ts";
import type { ModelChoice } from "../api.ts";

/** A model, and the choice that gave it. */
export interface ChosenModel {
	/** Null when none is configured; `unsetModelAlias` then is the requested alias. */
	readonly model: Model | null;
	readonly unsetModelAlias: string | null;
	/** Null without a model. */
	readonly choice: ModelChoice | null;
	/** The name sent to the provider; empty without a model. */
	readonly sentName: string;
}

/** What of the choice is to be another one; null leaves it as it is. */
export interface ModelChange {
	readonly model: string | null;
	readonly thinking: boolean | null;
}

/** A choice that was made and is not in effect yet. */
export interface PreparedChange {
	readonly chosen: ChosenModel & { readonly choice: ModelChoice };
	/** The creation options of the session with this choice, as its state has them. */
	readonly creationOptions: object;
	/** Further changes go on from this choice. Called when it is stored. */
	take(): void;
}

export interface SessionModelSettings {
	readonly stored: Pick<StoredSession, "commit">;
	readonly initial: ChosenModel;
	/** Fails with a KernelError for what cannot be chosen. */
	prepare(change: ModelChange): Promise<PreparedChange>;
	/** Loads the context: a session without one starts afresh when it is opened again, and would forget the change. */
	loadContext(): Promise<unknown>;
	/** Emits that the choice is another one. */
	changed(choice: ModelChoice): void;
}

export class SessionModel {
	readonly #settings: SessionModelSettings;
	readonly #changes = createKeyedQueue();
	#current: ChosenModel;

	constructor(settings: SessionModelSettings) {
		this.#settings = settings;
		this.#current = settings.initial;
	}

	/** What the next turn uses. The same object until another model is chosen. */
	get current(): ChosenModel {
		return this.#current;
	}

	/** Does something between changes of the model, such as another change of the creation options. */
	between<T>(work: () => Promise<T>): Promise<T> {
		return this.#changes.run("", work);
	}

	/** Chooses the model of the next turns and stores the choice. A running turn keeps its model. */
	set(change: ModelChange): Promise<ModelChoice> {
		return this.#changes.run("", async () => {
			const { stored, prepare, loadContext, changed } = this.#settings;
			const { choice: before } = this.#current;
			if (change.model === null && change.thinking === null) return before ?? nothingChosen();
			const { chosen, creationOptions, take } = await prepare(change);
			await loadContext();
			await stored.commit({ state: { creationOptions } }, { sync: true });
			take();
			this.#current = chosen;
			if (!isDeepStrictEqual(chosen.choice, before)) changed(chosen.choice);
			return chosen.choice;
		});
	}
}

function nothingChosen(): never {
	throw new KernelError("model-not-set", "LLM is not set");
}
