// Copies a session between stores, and compares copies. Order and content stay; event numbers start at 1, as in every new session.
import { isDeepStrictEqual } from "node:util";
import type { AgentEvent } from "../../api/values/event.ts";
import type { SessionState, SessionStore, StoredSession } from "./session-store.ts";

/** The fields that must be equal in both stores. */
type Comparable = Pick<AgentEvent, "turnId" | "agentPath" | "at" | "body">;

function toComparable({ turnId, agentPath, at, body }: AgentEvent): Comparable {
	return { turnId, agentPath, at, body };
}

/** Copies the session and `more` of it atomically. Fails `busy` if the target has a session with this id. Returns the event count. */
export async function copySession(
	source: StoredSession,
	store: SessionStore,
	more?: (target: StoredSession) => Promise<void>,
): Promise<number> {
	let count = 0;
	await store.create(source.workDir, source.id, async (target) => {
		const agentIds = new Set<string>();
		const copyContext = () => target.commit({ context: { kind: "replace", rows: source.contextRows } });
		// An interrupted step's output is not in the context: a later context would seem to include it.
		if (source.summary.isInStep) await copyContext();
		for await (const events of source.events()) {
			if (events.length === 0) continue;
			await target.commit({ events: events.map(({ seq: _, epoch: __, ...event }) => event) });
			count += events.length;
			for (const { agentPath } of events)
				for (const { agentId } of agentPath) if (agentId !== null) agentIds.add(agentId);
		}
		if (!source.summary.isInStep) await copyContext();
		await target.commit({ state: source.state() });
		await copyTasks(source, target, agentIds);
		for (const id of agentIds) await copyAgent(id, source, target);
		await more?.(target);
	});
	return count;
}

async function copyTasks(source: StoredSession, target: StoredSession, agentIds: Set<string>): Promise<void> {
	for (const task of await source.tasks.list()) {
		if (task.spec.agent !== null) agentIds.add(task.spec.agent.agentId);
		const copy = await target.tasks.create(task.spec);
		const { size } = await task.outputTail(0);
		const { bytes } = await task.outputTail(size);
		await copy.appendOutput(bytes.toString("utf8"));
		await copy.setControl(await task.control());
		await copy.setRuntime(await task.runtime());
	}
	for (const notification of await source.notifications.list()) await target.notifications.add(notification);
}

async function copyAgent(id: string, source: StoredSession, target: StoredSession): Promise<void> {
	const agent = await source.openAgent(id);
	if (agent === null) return;
	const copy = await target.createAgent(agent.description);
	await copy.begin("");
	if (agent.contextRows.length > 0) await copy.changeContext({ kind: "append", rows: agent.contextRows });
	const events: AgentEvent[] = [];
	for await (const batch of source.events()) {
		events.push(...batch.filter(({ agentPath }) => agentPath[0]?.agentId === id));
		if (events.length >= 500) await copy.appendEvents(events.splice(0));
	}
	if (events.length > 0) await copy.appendEvents(events);
	await copy.setStatus("idle");
}

/** A database column cannot hold the NUL character. */
function withStorableTitle(state: SessionState): SessionState {
	return { ...state, customTitle: state.customTitle?.replaceAll("\0", "\ufffd") ?? null };
}

/** Returns the differences between a copy and its source, one sentence each; empty if equal. */
export async function compareSessions(source: StoredSession, copy: StoredSession): Promise<readonly string[]> {
	const differences: string[] = [];
	const [left, right] = [source.events()[Symbol.asyncIterator](), copy.events()[Symbol.asyncIterator]()];
	const [one, other] = [createReader(left), createReader(right)];
	try {
		for (let n = 1; ; n += 1) {
			const [first, second] = [await one(), await other()];
			if (first === null && second === null) break;
			if (first === null || second === null) {
				differences.push(`One has fewer events: it ends before number ${n}.`);
				break;
			}
			if (!isDeepStrictEqual(toComparable(first), toComparable(second))) {
				differences.push(`Event ${n} differs.`);
				break;
			}
		}
	} finally {
		// After a difference, neither is read to its end.
		await Promise.all([left.return?.(), right.return?.()]);
	}
	if (!isDeepStrictEqual(source.contextRows, copy.contextRows)) differences.push("The context differs.");
	if (!isDeepStrictEqual(withStorableTitle(source.state()), withStorableTitle(copy.state())))
		differences.push("The state differs.");
	if (!isDeepStrictEqual(source.summary.unfinishedCalls, copy.summary.unfinishedCalls))
		differences.push("The calls without an end differ.");
	if (!isDeepStrictEqual(source.summary.used, copy.summary.used)) differences.push("What was consumed differs.");
	return differences;
}

function createReader(pages: AsyncIterator<readonly AgentEvent[]>): () => Promise<AgentEvent | null> {
	let page: readonly AgentEvent[] = [];
	let index = 0;
	return async () => {
		while (index >= page.length) {
			const { done, value } = await pages.next();
			if (done === true) return null;
			[page, index] = [value, 0];
		}
		const event = page[index];
		index += 1;
		return event ?? null;
	};
}
