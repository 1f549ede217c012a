// The mode of a session: sets all its switches at once, and reports every mode change regardless of the cause.

import { statusChanged } from "../../api/values/event.ts";
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
import type { SessionEvents } from "./session-events.ts";

export class SessionModes implements Reminders {
	readonly #plan: PlanMode;
	readonly #approval: ApprovalMode;
	readonly #events: SessionEvents;
	readonly #changes = createKeyedQueue();
	#reported: SessionMode;
	/** Suppresses reports while several switches change at once. */
	#isSetting = false;
	/** Whether the agent must be told at its next step that the user is back. */
	#owesReturn = false;

	constructor(plan: PlanMode, approval: ApprovalMode, events: SessionEvents) {
		this.#plan = plan;
		this.#approval = approval;
		this.#events = events;
		this.#reported = this.current;
		plan.onSwitched(() => this.#note());
		approval.onSwitched(() => this.#note());
	}

	get current(): SessionMode {
		const { isYolo, isAway } = this.#approval;
		return toSessionMode({ planMode: this.#plan.isOn, approvesEverything: isYolo, isAway });
	}

	get choosable(): readonly SessionMode[] {
		return sessionModes.filter((mode) => this.#refusal(mode) === null);
	}

	begin(): void {
		this.#reported = this.current;
	}

	#note(): void {
		if (this.#isSetting) return;
		const { current } = this;
		if (current === this.#reported) return;
		this.#reported = current;
		this.#events.report({ type: "mode.changed", mode: current });
	}

	/** Open requests keep waiting. Fails `invalid-input` for a forbidden mode, `unsupported` for plan mode without tools. */
	set(mode: SessionMode, main: Pick<MainAgent, "load">): Promise<{ readonly mode: SessionMode }> {
		return this.#changes.run("", async () => {
			const refusal = this.#refusal(mode);
			if (refusal !== null) throw refusal;
			const approval = this.#approval;
			// A session without a context starts afresh when reopened, and would forget the change.
			const { context } = await main.load();
			const wasAway = approval.isWithheld;
			this.#isSetting = true;
			try {
				if (this.#plan.isOn !== (mode === "plan")) await this.#switchPlan(mode === "plan");
				await approval.set({ yolo: mode === "yolo", afk: mode === "auto" });
			} finally {
				this.#isSetting = false;
				this.#note();
			}
			if (wasAway && !approval.isAway) {
				// A message cannot come between a call and its result.
				if (this.#events.turn.running !== null) this.#owesReturn = true;
				else await context.append([userRow(reminderText(backReminder))]);
			}
			return { mode };
		});
	}

	async setPlan(enabled: boolean, main: Pick<MainAgent, "load">): Promise<{ readonly planMode: boolean }> {
		this.#plan.check(enabled);
		// A session without a context starts afresh when reopened, and would forget the change.
		await main.load();
		await this.#switchPlan(enabled);
		return { planMode: enabled };
	}

	async due(): Promise<readonly string[]> {
		const isDue = this.#owesReturn && !this.#approval.isAway;
		this.#owesReturn = false;
		return isDue ? [backReminder] : [];
	}

	/** The reminder stays due. */
	rearm(): void {}

	#refusal(mode: SessionMode): KernelError | null {
		if (mode === "plan") return this.#plan.refusal(true);
		if (mode === "default") return null;
		const forbidding = this.#approval.whoForbids(mode);
		return forbidding === null ? null : forbiddenMode(mode, forbidding);
	}

	async #switchPlan(enabled: boolean): Promise<void> {
		let delivered: Promise<void> | undefined;
		await this.#plan.set(enabled, true, () => {
			delivered = this.#events.emitSynced(statusChanged({ plan_mode: enabled }));
		});
		await delivered;
	}
}
