// The mode of a session: sets all its switches at once, and reports every mode change regardless of the cause.

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
	/** The main agent, which is told when the user returns. */
	agent(): Pick<MainAgent, "load">;
	isInTurn(): boolean;
	changed(mode: SessionMode): void;
	emitPlanMode(enabled: boolean): Promise<void> | undefined;
}

export class SessionModes implements Reminders {
	readonly #settings: SessionModesSettings;
	readonly #changes = createKeyedQueue();
	#reported: SessionMode;
	/** Suppresses reports while several switches change at once. */
	#isSetting = false;
	/** Whether the agent must be told at its next step that the user is back. */
	#owesReturn = false;

	constructor(settings: SessionModesSettings) {
		this.#settings = settings;
		this.#reported = this.current;
	}

	get current(): SessionMode {
		const { plan, approval } = this.#settings;
		return toSessionMode({ planMode: plan.isOn, approvesEverything: approval.isYolo, isAway: approval.isAway });
	}

	get choosable(): readonly SessionMode[] {
		return sessionModes.filter((mode) => this.#refusal(mode) === null);
	}

	begin(): void {
		this.#reported = this.current;
	}

	/** Reports the mode if it changed. Called after every switch change. */
	note(): void {
		if (this.#isSetting) return;
		const { current } = this;
		if (current === this.#reported) return;
		this.#reported = current;
		this.#settings.changed(current);
	}

	/** Open requests keep waiting. Fails `invalid-input` for a forbidden mode, `unsupported` for plan mode without tools. */
	set(mode: SessionMode): Promise<{ readonly mode: SessionMode }> {
		return this.#changes.run("", async () => {
			const refusal = this.#refusal(mode);
			if (refusal !== null) throw refusal;
			const { plan, approval } = this.#settings;
			// A session without a context starts afresh when reopened, and would forget the change.
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
				// A message cannot come between a call and its result.
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

	/** The reminder stays due. */
	rearm(): void {}

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
