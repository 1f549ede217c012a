// Who decides instead of the person: yolo approves everything, afk means that nobody is at the keyboard. Flags and
// settings switch either on for this run; commands persist it in the session's state. Settings can forbid both.
import { KernelError } from "../../base/errors.ts";
import type { SessionState, StoredSession } from "../../ports/store/session-store.ts";
import type { ApprovalState } from "./approval-state.ts";

/** The error for a choice of a mode that the file forbids. */
export function forbiddenMode(mode: "auto" | "yolo", file: string): KernelError {
	return new KernelError("invalid-input", `The mode "${mode}" is forbidden by ${file}: choose another one.`);
}

export interface ApprovalModeSettings {
	readonly stored: Pick<StoredSession, "commit">;
	readonly state: ApprovalState;
	/** On for this run, whatever the state says. */
	readonly yolo: boolean;
	readonly afk: boolean;
	/** The modes that approve nothing, whatever is on, each with the file that says so. */
	readonly forbiddenModes: ReadonlyMap<"auto" | "yolo", string>;
	/** Called after every switch. */
	onSwitched?(): void;
}

export class ApprovalMode {
	readonly #stored: ApprovalModeSettings["stored"];
	readonly #state: ApprovalState;
	readonly #forbidden: ApprovalModeSettings["forbiddenModes"];
	readonly #onSwitched: () => void;
	#yolo: boolean;
	#afk: boolean;

	constructor({ stored, state, yolo, afk, forbiddenModes, onSwitched }: ApprovalModeSettings) {
		this.#stored = stored;
		this.#state = state;
		this.#forbidden = forbiddenModes;
		this.#yolo = yolo;
		this.#afk = afk;
		this.#onSwitched = () => onSwitched?.();
	}

	/** Whether everything is approved without a request. */
	get isYolo(): boolean {
		return !this.#forbidden.has("yolo") && (this.#yolo || this.#state.fields.yolo);
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
		return this.#state.fields.afk;
	}

	/** The file that forbids the mode; null when nothing does. */
	whoForbids(mode: "auto" | "yolo"): string | null {
		return this.#forbidden.get(mode) ?? null;
	}

	setYolo(enabled: boolean): Promise<void> {
		return this.set({ yolo: enabled });
	}

	setAway(enabled: boolean): Promise<void> {
		return this.set({ afk: enabled });
	}

	/** Switches and persists what is given, even when a flag had switched it on. */
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
