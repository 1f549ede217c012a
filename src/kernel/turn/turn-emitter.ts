import type { AgentPathEntry, EventBody } from "../../api/values/event.ts";
import type { Emitter, Persistence } from "../clients/emitter.ts";

export type EmitInTurn = (body: EventBody, persistence?: Persistence) => Promise<void> | undefined;

export function createTurnEmit(
	{ emitter }: { readonly emitter: Pick<Emitter, "emit"> },
	path: readonly AgentPathEntry[],
	turnId: string,
	signal: AbortSignal,
): EmitInTurn {
	const where = { turnId, agentPath: path };
	return (body, persistence = {}) => emitter.emit(where, body, persistence, signal);
}
