import type { SessionMode } from "../../api/values/session-mode.ts";
import type { PermissionMode } from "./wire.ts";

const sessionModes: Readonly<Record<PermissionMode, SessionMode>> = {
	default: "default",
	// These two answer approvals themselves.
	acceptEdits: "default",
	dontAsk: "default",
	plan: "plan",
	bypassPermissions: "yolo",
};

export const toSessionMode = (mode: PermissionMode): SessionMode => sessionModes[mode];

/** The client's mode after a change of the session's; a mode that still fits stays. */
export function afterModeChange(mode: PermissionMode, changed: SessionMode): PermissionMode {
	if (toSessionMode(mode) === changed) return mode;
	if (changed === "plan") return "plan";
	return changed === "yolo" ? "bypassPermissions" : "default";
}
