// Splits a session list into pages, marked by their last session, so that concurrent writes neither repeat nor hide others.

import type { ListQuery, SessionPage, SessionSummary } from "../../api/session-list.ts";
import { KernelError } from "../../base/errors.ts";

/** Sorts the sessions, most recently written first, and returns the requested page. */
export function toPage(sessions: readonly SessionSummary[], { after, limit }: ListQuery): SessionPage {
	const rest = inOrder(sessions, after);
	const page = rest.slice(0, limit);
	const last = page.at(-1);
	const next = last === undefined || page.length === rest.length ? null : `${last.updatedAt}:${last.id}`;
	return { sessions: page, next };
}

export type Place = Pick<SessionSummary, "updatedAt" | "id">;

const readTogether = 16;

/** The same of sessions whose summaries have to be read, no more of them than the page needs; null is not listed. */
export async function readPage<P extends Place>(
	places: readonly P[],
	{ after, limit = Number.POSITIVE_INFINITY }: ListQuery,
	read: (place: P) => Promise<SessionSummary | null>,
): Promise<SessionPage> {
	const rest = inOrder(places, after);
	const found: SessionSummary[] = [];
	for (let start = 0; start < rest.length && found.length <= limit; start += readTogether) {
		const summaries = await Promise.all(rest.slice(start, start + readTogether).map(read));
		found.push(...summaries.filter((summary) => summary !== null));
	}
	return toPage(found, { limit });
}

function inOrder<P extends Place>(places: readonly P[], after: string | undefined): readonly P[] {
	const from = after === undefined ? null : toPlace(after);
	return places.filter((place) => from === null || compare(from, place) < 0).sort(compare);
}

function compare(one: Place, other: Place): number {
	return other.updatedAt - one.updatedAt || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}

/** Parses a page's `next`. Fails `invalid-input` for other texts. */
export function toPlace(after: string): Place {
	const colon = after.indexOf(":");
	const updatedAt = Number(after.slice(0, colon));
	if (colon < 1 || !Number.isFinite(updatedAt)) {
		throw new KernelError("invalid-input", `The page "${after}" of the list of sessions is not the "next" of a page.`);
	}
	return { updatedAt, id: after.slice(colon + 1) };
}
