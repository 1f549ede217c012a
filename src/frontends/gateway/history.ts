// Pages through a session's stored events from the end, for what a client shows before its stream.

import type { SessionApi } from "../../api/kernel.ts";
import type { AgentEvent, Cursor } from "../../api/values/event.ts";
import { eachOf } from "../../base/collections.ts";
import { textSize } from "../../base/json.ts";
import { type PublicEvent, toPublicEvent } from "../shared/public-event.ts";
import type { PageRequest } from "./requests.ts";

/** Maximum characters of a page; a single event may exceed it. */
const pageSize = 8 * 1024 * 1024;

export interface HistoryPage {
	readonly sessionId: string;
	readonly cursor: Cursor;
	readonly events: readonly PublicEvent[];
	/** The `before` of the preceding page; null at the beginning. */
	readonly before: number | null;
}

export async function readHistory(session: SessionApi, { before, limit }: PageRequest): Promise<HistoryPage> {
	const { cursor } = await session.snapshot();
	const end = Math.min(before ?? cursor.seq + 1, cursor.seq + 1);
	const start = Math.max(0, end - 1 - limit);
	const page: AgentEvent[] = [];
	let size = 0;
	for await (const event of eachOf(session.events({ epoch: cursor.epoch, seq: start }))) {
		if ((event.seq ?? 0) >= end) break;
		page.push(event);
		size += textSize(event.body);
		// Keeps the events nearest to the end.
		while (size > pageSize && page.length > 1) {
			const [oldest] = page.splice(0, 1);
			size -= textSize(oldest?.body);
		}
	}
	const first = page[0]?.seq ?? 1;
	return { sessionId: session.id, cursor, events: page.map(toPublicEvent), before: first > 1 ? first : null };
}
