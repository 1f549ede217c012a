// A client that attaches and reads: everything in order, or nothing until the test asks for it.

import type { Attachment, SessionApi } from "../../../src/api/kernel.ts";
import type { AttachOptions } from "../../../src/api/session-options.ts";
import type { AgentEvent, EventType } from "../../../src/api/values/event.ts";
import { plainAttachment } from "../sessions/session-doubles.ts";

export interface EventReader {
	readonly attachment: Attachment;
	readonly events: readonly AgentEvent[];
	/** The numbers of the durable events, in the order in which they came. */
	numbers(): readonly number[];
	types(): readonly EventType[];
	/** Resolves with the n-th event of the type that came, counted from 1. */
	event<T extends EventType>(type: T, n?: number): Promise<AgentEvent & { readonly body: { readonly type: T } }>;
	/** Resolves once everything delivered so far was read. */
	settled(): Promise<void>;
}

const name = (text: string) => ({ client: { name: text, version: null } });

/** Attaches a client of this name; with `reads: false` it takes nothing. */
export async function attachReader(
	session: Pick<SessionApi, "attach">,
	{
		called,
		reads = true,
		...options
	}: Partial<AttachOptions> & { readonly called?: string; readonly reads?: boolean } = {},
): Promise<EventReader> {
	const attachment = await session.attach({
		...plainAttachment,
		...(called === undefined ? {} : name(called)),
		...options,
	});
	const events: AgentEvent[] = [];
	const waiters = new Set<() => void>();
	const isOf = <T extends EventType>(
		event: AgentEvent,
		type: T,
	): event is AgentEvent & { readonly body: { readonly type: T } } => event.body.type === type;
	if (reads) {
		void (async () => {
			for await (const batch of attachment.events) {
				events.push(...batch);
				for (const waiter of waiters) waiter();
			}
		})();
	}
	return {
		attachment,
		events,
		numbers: () => events.flatMap(({ seq }) => seq ?? []),
		types: () => events.map(({ body }) => body.type),
		event: (type, n = 1) =>
			new Promise((resolve) => {
				const look = () => {
					const found = events.filter((event) => isOf(event, type))[n - 1];
					if (found === undefined) return;
					waiters.delete(look);
					resolve(found);
				};
				waiters.add(look);
				look();
			}),
		settled: () => attachment.drained(),
	};
}

/** The session's stored events. */
export async function readJournal(session: Pick<SessionApi, "events">): Promise<AgentEvent[]> {
	const events: AgentEvent[] = [];
	for await (const batch of session.events()) events.push(...batch);
	return events;
}
