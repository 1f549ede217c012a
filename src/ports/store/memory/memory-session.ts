import type { AgentEvent } from "../../../api/values/event.ts";
import { KernelError } from "../../../base/errors.ts";
import { withoutContext } from "../disk/state-file.ts";
import type { AgentDescription, StoredAgent, StoredSession } from "../session-store.ts";
import { applyChange, isEmpty, type MemorySession, toCommit } from "./memory-data.ts";
import { type MemoryData, type Places, toSessions } from "./memory-sessions.ts";
import { openMemoryBackground, type Write } from "./memory-tasks.ts";

const batchLength = 256;

function openMemoryAgent(agents: MemorySession["agents"], description: AgentDescription, write: Write): StoredAgent {
	const agent = agents.get(description.id) ?? { description, context: [] };
	agents.set(description.id, agent);
	return {
		description,
		contextRows: agent.context,
		begin: () => write({ type: "agent", description, context: { kind: "append", rows: [] } }),
		setStatus: () => write(null),
		changeContext: (context) => write({ type: "agent", description, context }),
		appendEvents: () => write(null),
		appendOutput: () => write(null),
	};
}

interface Opening {
	readonly workDir: string;
	readonly id: string;
	readonly places: Places;
	readonly isView?: boolean;
}

export function openMemory(
	data: MemoryData,
	found: MemorySession,
	{ workDir, id, places, isView = false }: Opening,
): StoredSession {
	let persisted = found;
	if (!persisted.hasContext) persisted.state = withoutContext(persisted.state);
	let closed = isView;
	const place = `${workDir}/${id}`;
	if (!isView) data.openings.set(place, (data.openings.get(place) ?? 0) + 1);
	if (persisted.changes > 0 && !isView) toSessions(places, workDir).set(id, persisted);

	const refuseClosed = () => {
		if (closed) throw new KernelError("closed", "The session is closed.");
	};
	const write: Write = async (change) => {
		refuseClosed();
		if (change === null) return;
		toSessions(places, workDir).set(id, persisted);
		applyChange(persisted, change);
		await persisted.log?.add([change]);
	};

	return {
		id,
		workDir,
		directory: null,
		existed: persisted.hasContext,
		contextRows: persisted.context,
		summary: persisted.summary.current,
		cursor: () => ({ epoch: persisted.epoch, seq: persisted.events.length }),
		state: () => persisted.state,
		async commit(batch) {
			// Another opening may have written first.
			if (persisted.changes === 0) persisted = places.get(workDir)?.get(id) ?? persisted;
			const { change, numbered } = toCommit(persisted, batch, data.writeTime());
			await write(change);
			return numbered;
		},
		events: (after = 0) => inBatches(persisted.events.slice(after)),
		lost: persisted.log?.lost ?? new Promise(() => {}),
		createAgent: async (description) => openMemoryAgent(persisted.agents, description, write),
		async openAgent(agentId) {
			const agent = persisted.agents.get(agentId);
			return agent === undefined ? null : openMemoryAgent(persisted.agents, agent.description, write);
		},
		...openMemoryBackground(persisted.background, write),
		async markStarted() {
			refuseClosed();
			data.lastSessions.set(workDir, id);
		},
		establish: () => write({ type: "established" }),
		async close({ becomesLast = true } = {}) {
			if (closed) return;
			closed = true;
			data.openings.set(place, (data.openings.get(place) ?? 1) - 1);
			await persisted.log?.settled();
			const isUnused = isEmpty(persisted);
			if (isUnused && !persisted.isEstablished) {
				places.get(workDir)?.delete(id);
				if (data.lastSessions.get(workDir) === id) data.lastSessions.delete(workDir);
				if (persisted.changes > 0) await persisted.log?.delete();
				return;
			}
			if (becomesLast && !isUnused) data.lastSessions.set(workDir, id);
			if (data.openings.get(place) === 0) data.forget(workDir, id, persisted);
		},
	};
}

async function* inBatches(events: readonly AgentEvent[]): AsyncGenerator<readonly AgentEvent[]> {
	for (let start = 0; start < events.length; start += batchLength) yield events.slice(start, start + batchLength);
}
