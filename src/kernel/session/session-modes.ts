// The mode of a session: sets all its switches at once, and reports every change of it, whatever switched it.

import { type SessionMode, sessionModes, toSessionMode } from "../../api/values/session-mode.ts";
import type { KernelError } from "../../base/errors.ts";
import { createKeyedQueue } from "../../base/keyed-queue.ts";
import { userRow } from "../../core/agent/context.ts";
import { reminderText } from "../../core/agent/marked-text.ts";
import { backReminder } from "../../core/definitions/away-reminders.ts";
import { type ApprovalMode, forbiddenMode } from "../interactions/approval-mode.ts";
import type { PlanMode } from "../plan/plan-mode.ts";
import type { MainAgent } from "../turn/main-agent.ts";
import type { Reminders } from "../turn/reminders.ts";

export interface SessionModesSettings {
	readonly plan: PlanMode;
	readonly approval: ApprovalMode;
	/** The session's own agent, which learns that the person is back. */
	agent(): Pick<MainAgent, "load">;
	/** Whether a turn runs. */
	isInTurn(): boolean;
	/** Emits that the mode is another one. */
	changed(mode: SessionMode): void;
	/** Emits whether plan mode is on. */
	emitPlanMode(enabled: boolean): Promise<void> | undefined;
}

export class SessionModes implements Reminders {
	readonly #settings: SessionModesSettings;
	readonly #changes = createKeyedQueue();
	/** The mode that was last reported. */
	#reported: SessionMode;
	/** While all switches are set at once, those in between are not reported. */
	#isSetting = false;
	/** Whether the agent is to learn at its next step that the person is back. */
	#owesReturn = false;

	constructor(settings: SessionModesSettings) {
		this.#settings = settings;
		this.#reported = this.current;
	}

	get current(): SessionMode {
		const { plan, approval } = this.#settings;
		return toSessionMode({ planMode: plan.isOn, approvesEverything: approval.isYolo, isAway: approval.isAway });
	}

	/** The modes that can be set. */
	get choosable(): readonly SessionMode[] {
		return sessionModes.filter((mode) => this.#refusal(mode) === null);
	}

	/** The mode in which the session begins is no change. */
	begin(): void {
		this.#reported = this.current;
	}

	/** Reports the mode if it is another one. Called after every change of a switch. */
	note(): void {
		if (this.#isSetting) return;
		const { current } = this;
		if (current === this.#reported) return;
		this.#reported = current;
		this.#settings.changed(current);
	}

	/**
	 * Sets and persists all switches, so that this is the mode and no other one is below it. Requests that wait for an
	 * answer keep waiting. Fails `invalid-input` for a mode that settings forbid, `unsupported` for plan mode with an agent
	 * without the tools for it.
	 */
	set(mode: SessionMode): Promise<{ readonly mode: SessionMode }> {
		return this.#changes.run("", async () => {
			const refusal = this.#refusal(mode);
			if (refusal !== null) throw refusal;
			const { plan, approval } = this.#settings;
			// A session without a context starts afresh when it is opened again, and would forget the change.
			const { context } = await this.#settings.agent().load();
			const wasAway = approval.isWithheld;
			this.#isSetting = true;
			try {
				await this.#setPlan(plan.isOn, mode === "plan");
				await approval.set({ yolo: mode === "yolo", afk: mode === "auto" });
			} finally {
				this.#isSetting = false;
				this.note();
			}
			if (wasAway && !approval.isAway) {
				// Between a call and its result there is no place for another message.
				if (this.#settings.isInTurn()) this.#owesReturn = true;
				else await context.append([userRow(reminderText(backReminder))]);
			}
			return { mode };
		});
	}

	async due(): Promise<readonly string[]> {
		const isDue = this.#owesReturn && !this.#settings.approval.isAway;
		this.#owesReturn = false;
		return isDue ? [backReminder] : [];
	}

	/** What is owed was not given yet. */
	rearm(): void {}

	/** Why a mode cannot be set; null when it can. */
	#refusal(mode: SessionMode): KernelError | null {
		const { plan, approval } = this.#settings;
		if (mode === "plan") return plan.refusal(true);
		if (mode === "default") return null;
		const forbidding = approval.whoForbids(mode);
		return forbidding === null ? null : forbiddenMode(mode, forbidding);
	}

	async #setPlan(isOn: boolean, enabled: boolean): Promise<void> {
		if (isOn === enabled) return;
		let delivered: Promise<void> | undefined;
		await this.#settings.plan.set(enabled, true, () => {
			delivered = this.#settings.emitPlanMode(enabled);
		});
		await delivered;
	}
}
