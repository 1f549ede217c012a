// The codec of the first protocol, used until a client requests capabilities.
import type { SessionInfo } from "../../kernel/api.ts";
import type { EraCodec } from "./codec.ts";
import type { SessionState } from "./wire.ts";
import type { MeerkatEvent, SeedEvent } from "./wire-events.ts";

export const seedCodec = {
	era: "seed",
	event: toSeedEvent,
	runUsage: (usage) => usage,
	sessionList: (sessions) => ({ sessions: sessions.map(toState) }),
	sessionRead: toState,
	config: (config) => config,
	configSet: () => ({ ok: true }),
} satisfies EraCodec;

/** The event without later members; null where the seed era has no such event. */
function toSeedEvent(event: MeerkatEvent): SeedEvent | null {
	switch (event.type) {
		case "reasoning_delta":
			return null;
		case "tool_execution_completed":
		case "tool_result_received": {
			const { content: _, ...seed } = event;
			return seed;
		}
		case "run_failed": {
			const { error_class: _, error_report: _report, ...seed } = event;
			return seed;
		}
		default:
			return event;
	}
}

function toState({ id, isRunning }: SessionInfo): SessionState {
	return { session_id: id, state: isRunning ? "running" : "idle" };
}
