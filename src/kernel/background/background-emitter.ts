// Emits the events of a background subagent: they are persisted in its own log and delivered to no client, but its
// interactions are requested of clients like any other, whether or not a turn runs.
import type { Clock } from "../../base/clock.ts";
import type { AgentEvent } from "../../events/event.ts";
import type { Interaction } from "../../events/interaction.ts";
import type { StoredSession } from "../../store/session-store.ts";
import { Emitter } from "../clients/emitter.ts";
import type { AgentServices } from "../turn/turn-dependencies.ts";

export interface BackgroundEmitterSettings {
	readonly stored: StoredSession;
	/** The emitter of the session. */
	readonly emitter: AgentServices["emitter"];
	readonly clock: Clock;
	/** Receives the persisted events, in order. */
	note(events: readonly AgentEvent[]): Promise<void>;
	/** Called before an interaction is delivered, and once it is settled. */
	asked(interaction: Interaction): Promise<void>;
	answered(interactionId: string): Promise<void>;
}

export function createBackgroundEmitter(settings: BackgroundEmitterSettings): AgentServices["emitter"] {
	const { stored, emitter, clock } = settings;
	// The session's own log stores none of these events.
	const own = new Emitter({ ...stored, appendEvents: async () => {} }, clock);
	return {
		async emit(where, body, persistence, signal) {
			const outsideTurns = { turnId: null, agentPath: where.agentPath };
			if (body.type === "interaction.requested") {
				await settings.asked(body.interaction);
				return await emitter.emit(outsideTurns, body, persistence, signal);
			}
			if (body.type === "interaction.resolved") {
				await emitter.emit(outsideTurns, body, persistence, signal);
				return await settings.answered(body.interactionId);
			}
			return await own.emit(where, body, persistence, signal);
		},
		deliverVolatile: () => {},
		addAgent: (agentId, log) =>
			own.addAgent(agentId, {
				async appendEvents(events) {
					await log.appendEvents(events);
					await settings.note(events);
				},
			}),
		removeAgent: (agentId) => own.removeAgent(agentId),
	};
}
