// The points at which hooks run, in the order in which clients are sent them.

export const hookEvents = [
	"PreToolUse",
	"PostToolUse",
	"PostToolUseFailure",
	"UserPromptSubmit",
	"Stop",
	"StopFailure",
	"SessionStart",
	"SessionEnd",
	"SubagentStart",
	"SubagentStop",
	"PreCompact",
	"PostCompact",
	"Notification",
] as const;
export type HookEvent = (typeof hookEvents)[number];

export function isHookEvent(name: string): name is HookEvent {
	return hookEvents.some((event) => event === name);
}
