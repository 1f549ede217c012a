import { isDeepStrictEqual } from "node:util";
import type { ModelChoice } from "../../api/models.ts";
import { KernelError } from "../../base/errors.ts";
import { createKeyedQueue } from "../../base/keyed-queue.ts";
import type { Model } from "../../core/models/model.ts";
import type { StoredSession } from "../../ports/store/session-store.ts";

export interface ChosenModel {
	/** Null when none is configured; `unsetModelAlias` is then the requested alias. */
	readonly model: Model | null;
	readonly unsetModelAlias: string | null;
	readonly choice: ModelChoice | null;
	readonly sentName: string;
}

export interface ModelChange {
	readonly model: string | null;
	readonly thinking: boolean | null;
}

export interface PreparedChange {
	readonly chosen: ChosenModel & { readonly choice: ModelChoice };
	/** The session's creation options with this choice, as stored in its state. */
	readonly creationOptions: object;
	/** Later changes build on this choice. Call it once the choice is stored. */
	take(): void;
}

export interface SessionModelSettings {
	readonly stored: Pick<StoredSession, "commit">;
	readonly initial: ChosenModel;
	prepare(change: ModelChange): Promise<PreparedChange>;
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

	/** The model of the next turn. The same object until the model changes. */
	get current(): ChosenModel {
		return this.#current;
	}

	/** Runs work between model changes, such as another change of the creation options. */
	between<T>(work: () => Promise<T>): Promise<T> {
		return this.#changes.run("", work);
	}

	/** Stores the choice for future turns. Without a loaded context, the reopened session starts afresh and forgets it. */
	set(change: ModelChange, loadContext: () => Promise<unknown>): Promise<ModelChoice> {
		return this.#changes.run("", async () => {
			const { stored, prepare, changed } = this.#settings;
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
