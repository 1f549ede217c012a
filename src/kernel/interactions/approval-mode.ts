// yolo approves everything, afk means unattended; flags last for this run, commands are persisted.
import { KernelError } from "../../base/errors.ts";
import type { SessionState, StoredSession } from "../../ports/store/session-store.ts";
import type { ApprovalState } from "./approval-state.ts";

export function forbiddenMode(mode: "auto" | "yolo", file: string): KernelError {
	return new KernelError("invalid-input", `The mode "${mode}" is forbidden by ${file}: choose another one.`);
}

export interface ApprovalModeSettings {
	readonly stored: Pick<StoredSession, "commit">;
	readonly state: ApprovalState;
	readonly yolo: boolean;
	readonly afk: boolean;
	/** Modes that never approve anything, each with the file that forbids it. */
	readonly forbiddenModes: ReadonlyMap<"auto" | "yolo", string>;
}

export class ApprovalMode {
	readonly #stored: ApprovalModeSettings["stored"];
	readonly #state: ApprovalState;
	readonly #forbidden: ApprovalModeSettings["forbiddenModes"];
	#onSwitched = () => {};
	#yolo: boolean;
	#afk: boolean;

	constructor({ stored, state, yolo, afk, forbiddenModes }: ApprovalModeSettings) {
		this.#stored = stored;
		this.#state = state;
		this.#forbidden = forbiddenModes;
		this.#yolo = yolo;
		this.#afk = afk;
	}

	onSwitched(listener: () => void): void {
		this.#onSwitched = listener;
	}

	get isYolo(): boolean {
		return !this.#forbidden.has("yolo") && (this.#yolo || this.#state.fields.yolo);
	}

	get isAway(): boolean {
		return this.#afk || this.isWithheld;
	}

	/** Whether unattended calls without a matching rule are approved. */
	get approvesWhileAway(): boolean {
		return !this.#forbidden.has("auto");
	}

	/** Whether afk is set in the session state. A run with the flag needs no reminder of it. */
	get isWithheld(): boolean {
		return this.#state.fields.afk;
	}

	whoForbids(mode: "auto" | "yolo"): string | null {
		return this.#forbidden.get(mode) ?? null;
	}

	setYolo(enabled: boolean): Promise<void> {
		return this.set({ yolo: enabled });
	}

	setAway(enabled: boolean): Promise<void> {
		return this.set({ afk: enabled });
	}

	/** Changes and persists the given modes, even when a flag had enabled them. */
	async set(switches: { readonly yolo?: boolean; readonly afk?: boolean }): Promise<void> {
		await this.#change(switches);
		if (switches.yolo === false) this.#yolo = false;
		if (switches.afk === false) this.#afk = false;
		this.#onSwitched();
	}

	async #change(fields: Partial<SessionState["approval"]>): Promise<void> {
		await this.#state.change(
			() => fields,
			(state) => this.#stored.commit({ state }, { sync: true }),
		);
	}
}
