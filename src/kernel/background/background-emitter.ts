// Events go to the subagent log, not to clients; its interactions reach clients even between turns.

import type { AgentEvent, EventBody } from "../../api/values/event.ts";
import type { Interaction } from "../../api/values/interaction.ts";
import type { Clock } from "../../base/clock.ts";
import type { StoredSession } from "../../ports/store/session-store.ts";
import { Emitter } from "../clients/emitter.ts";
import type { AgentServices } from "../turn/turn-dependencies.ts";

/** Event types that also go to the session journal: token usage, and the start and end of tool calls. */
const recorded: ReadonlySet<EventBody["type"]> = new Set<EventBody["type"]>([
	"usage.counted",
	"permission.decided",
	"tool.started",
	"tool.ended",
]);

export interface BackgroundEmitterSettings {
	readonly stored: StoredSession;
	readonly emitter: AgentServices["emitter"];
	readonly observation: AgentServices["observation"];
	readonly clock: Clock;
	note(events: readonly AgentEvent[]): Promise<void>;
	/** Called before an interaction is delivered, and once it is settled. */
	asked(interaction: Interaction): Promise<void>;
	answered(interactionId: string): Promise<void>;
}

export function createBackgroundEmitter(settings: BackgroundEmitterSettings): AgentServices["emitter"] {
	const { stored, emitter, observation, clock } = settings;
	// The session journal gets only the start and end of tool calls from these events.
	const own = new Emitter({ ...stored, commit: async ({ events = [] }) => events }, clock);
	if (observation !== null) own.onDelivered(observation.take);
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
			if (recorded.has(body.type)) return await emitter.emit(outsideTurns, body, persistence, signal);
			await own.emit(where, body, persistence, signal);
			if (body.type !== "tool.result") return;
			await emitter.emit(outsideTurns, { type: "tool.ended", toolCallId: body.toolCallId }, {}, signal);
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
