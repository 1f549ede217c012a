// A session's mode in one word, derived from plan mode, yolo and afk.

export const sessionModes = ["default", "plan", "auto", "yolo"] as const;
/**
 * `plan`: only the plan may be written. `auto`: nobody is at the keyboard, so the agent decides questions itself. `yolo`:
 * everything is approved. `default`: a person is asked.
 */
export type SessionMode = (typeof sessionModes)[number];

/** The mode switches in a session's snapshot. */
export interface ModeSwitches {
	readonly planMode: boolean;
	readonly approvesEverything: boolean;
	readonly isAway: boolean;
}

/** If several switches are on, plan mode wins, then yolo. */
export function toSessionMode({ planMode, approvesEverything, isAway }: ModeSwitches): SessionMode {
	if (planMode) return "plan";
	if (approvesEverything) return "yolo";
	return isAway ? "auto" : "default";
}

/**
 * `creator`: approved, because the session's creator supplied the tools and answers no approvals. `wait`: the request stays open
 * for a client that attaches later.
 */
export type WhenUnattended = "approve" | "creator" | "reject" | "wait";
