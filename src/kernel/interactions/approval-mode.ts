// Who decides in the person's place: yolo approves everything, afk says that nobody is at the keyboard. Each is on for
// this run alone, by flags and settings, or kept in the session's state, by commands.
import type { StoredSession } from "../../store/session-store.ts";

export interface ApprovalModeSettings {
	readonly stored: StoredSession;
	/** On for this run, whatever the state says. */
	readonly yolo: boolean;
	readonly afk: boolean;
}

export class ApprovalMode {
	readonly #stored: StoredSession;
	#yolo: boolean;
	#afk: boolean;

	constructor({ stored, yolo, afk }: ApprovalModeSettings) {
		this.#stored = stored;
		this.#yolo = yolo;
		this.#afk = afk;
	}

	/** Whether everything is approved without asking. */
	get isYolo(): boolean {
		return this.#yolo || this.#stored.state().approval.yolo;
	}

	/** Whether nobody is at the keyboard. */
	get isAway(): boolean {
		return this.#afk || this.isWithheld;
	}

	/** The same as far as the session's state says so: a run of its own kind needs no telling. */
	get isWithheld(): boolean {
		return this.#stored.state().approval.afk;
	}

	/** Switches and keeps it, also when a flag had turned it on. */
	async setYolo(enabled: boolean): Promise<void> {
		await this.#stored.updateState({ approval: { ...this.#stored.state().approval, yolo: enabled } });
		if (!enabled) this.#yolo = false;
	}

	async setAway(enabled: boolean): Promise<void> {
		await this.#stored.updateState({ approval: { ...this.#stored.state().approval, afk: enabled } });
		if (!enabled) this.#afk = false;
	}
}
