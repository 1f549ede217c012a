// Who decides instead of the person: yolo approves everything, afk means that nobody is at the keyboard. Flags and
// settings switch either on for this run; commands persist it in the session's state. Settings can forbid both.
import type { StoredSession } from "../../store/session-store.ts";

export interface ApprovalModeSettings {
	readonly stored: StoredSession;
	/** On for this run, whatever the state says. */
	readonly yolo: boolean;
	readonly afk: boolean;
	/** The modes that approve nothing, whatever is on, each with the file that says so. */
	readonly forbiddenModes: ReadonlyMap<"auto" | "yolo", string>;
}

export class ApprovalMode {
	readonly #stored: StoredSession;
	readonly #forbidden: ApprovalModeSettings["forbiddenModes"];
	#yolo: boolean;
	#afk: boolean;

	constructor({ stored, yolo, afk, forbiddenModes }: ApprovalModeSettings) {
		this.#stored = stored;
		this.#forbidden = forbiddenModes;
		this.#yolo = yolo;
		this.#afk = afk;
	}

	/** Whether everything is approved without a request. */
	get isYolo(): boolean {
		return !this.#forbidden.has("yolo") && (this.#yolo || this.#stored.state().approval.yolo);
	}

	/** Whether nobody is at the keyboard. */
	get isAway(): boolean {
		return this.#afk || this.isWithheld;
	}

	/** Whether what no rule speaks of is approved while nobody is at the keyboard. */
	get approvesWhileAway(): boolean {
		return !this.#forbidden.has("auto");
	}

	/** Whether the session's state says so: a run whose own flag says it needs no reminder of it. */
	get isWithheld(): boolean {
		return this.#stored.state().approval.afk;
	}

	/** The file that forbids the mode; null when nothing does. */
	whoForbids(mode: "auto" | "yolo"): string | null {
		return this.#forbidden.get(mode) ?? null;
	}

	/** Switches and persists it, even when a flag had switched it on. */
	async setYolo(enabled: boolean): Promise<void> {
		await this.#stored.commit(
			{ state: { approval: { ...this.#stored.state().approval, yolo: enabled } } },
			{ sync: true },
		);
		if (!enabled) this.#yolo = false;
	}

	async setAway(enabled: boolean): Promise<void> {
		await this.#stored.commit(
			{ state: { approval: { ...this.#stored.state().approval, afk: enabled } } },
			{ sync: true },
		);
		if (!enabled) this.#afk = false;
	}
}
