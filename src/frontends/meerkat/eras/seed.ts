import type { SessionInfo } from "../../../api/session-state.ts";
import { toResultUsage } from "../projection/usage.ts";
import type { MeerkatEvent, SeedEvent } from "../wire/wire-events.ts";
import type { SessionState } from "../wire.ts";
import type { EraCodec } from "./codec.ts";

export const seedCodec = {
	era: "seed",
	event: toSeedEvent,
	isContract: false,
	located: (id) => ({ session_id: id }),
	runResult: (result, { facts: { usage } }) => ({ ...result, usage: toResultUsage(usage) }),
	interrupt: () => ({ interrupted: true }),
	sessionList: (sessions) => ({ sessions: sessions.map(({ info }) => toState(info)) }),
	sessionRead: ({ info }) => toState(info),
	config: (config) => config,
	configSet: () => ({ ok: true }),
} satisfies EraCodec;

/** The event without later members; null if the seed era lacks it. */
function toSeedEvent(event: MeerkatEvent): SeedEvent | null {
	switch (event.type) {
		case "reasoning_delta":
		case "reasoning_complete":
		case "extraction_succeeded":
		case "extraction_failed":
		case "skills_resolved":
		case "tool_config_changed":
		case "skill_resolution_failed":
			return null;
		case "run_started": {
			const { input: _, identity: _identity, ...seed } = event;
			return seed;
		}
		case "turn_started":
		case "text_delta":
		case "text_complete": {
			const { assistant_message_id: _, ...seed } = event;
			return seed;
		}
		case "turn_completed": {
			const { assistant_message_id: _, usage: counted, ...seed } = event;
			const { accounting: _accounting, ...usage } = counted;
			return { ...seed, usage };
		}
		case "hook_failed": {
			const { reason: _, ...seed } = event;
			return seed;
		}
		case "retrying": {
			const { retry: _, assistant_message_id: _answer, ...seed } = event;
			return seed;
		}
		case "run_completed": {
			const { extraction_required: _, identity: _identity, assistant_message_id: _answer, ...seed } = event;
			return seed;
		}
		case "tool_execution_completed":
		case "tool_result_received": {
			const { content: _, ...seed } = event;
			return seed;
		}
		case "run_failed": {
			const {
				error_class: _,
				error_report: _report,
				terminal_cause_kind: _cause,
				identity: _identity,
				...seed
			} = event;
			return seed;
		}
		default:
			return event;
	}
}

function toState({ id, isRunning }: SessionInfo): SessionState {
	return { session_id: id, state: isRunning ? "running" : "idle" };
}
