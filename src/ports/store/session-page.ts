// Splits a session list into pages, marked by their last session, so that concurrent writes neither repeat nor hide others.

import type { ListQuery, SessionPage, SessionSummary } from "../../api/session-list.ts";
import { KernelError } from "../../base/errors.ts";

/** Sorts the sessions, most recently written first, and returns the requested page. */
export function toPage(sessions: readonly SessionSummary[], { after, limit }: ListQuery): SessionPage {
	const sorted = [...sessions].sort(compare);
	const place = after === undefined ? null : toPlace(after);
	const rest = place === null ? sorted : sorted.filter((summary) => compare(place, summary) < 0);
	const page = rest.slice(0, limit);
	const last = page.at(-1);
	const next = last === undefined || page.length === rest.length ? null : `${last.updatedAt}:${last.id}`;
	return { sessions: page, next };
}

type Place = Pick<SessionSummary, "updatedAt" | "id">;

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
