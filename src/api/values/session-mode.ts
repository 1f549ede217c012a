// The mode of a session as one word: what its switches (plan mode, yolo, afk) come to together.

export const sessionModes = ["default", "plan", "auto", "yolo"] as const;
/**
 * `plan`: only the plan is written. `auto`: nobody is at the keyboard, so that questions are left to the agent. `yolo`:
 * everything is approved. `default`: somebody is asked.
 */
export type SessionMode = (typeof sessionModes)[number];

/** The switches of a session's mode, as its snapshot has them. */
export interface ModeSwitches {
	readonly planMode: boolean;
	/** Whether everything is approved without asking. */
	readonly approvesEverything: boolean;
	/** Whether nobody is at the keyboard. */
	readonly isAway: boolean;
}

/** Of several switches that are on, plan mode counts first, then yolo. */
export function toSessionMode({ planMode, approvesEverything, isAway }: ModeSwitches): SessionMode {
	if (planMode) return "plan";
	if (approvesEverything) return "yolo";
	return isAway ? "auto" : "default";
}
