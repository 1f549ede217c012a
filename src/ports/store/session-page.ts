// Cuts a list of sessions into pages. The place between two pages is named by the last session of the first, so that
// sessions that are written meanwhile neither repeat nor hide others.
import { KernelError } from "../../base/errors.ts";
import type { ListQuery, SessionPage, SessionSummary } from "./session-store.ts";

/** Sorts the sessions, the last written first, and returns the page that the query asks for. */
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

/** The place that the `next` of a page names. Fails `invalid-input` for another text. */
export function toPlace(after: string): Place {
	const colon = after.indexOf(":");
	const updatedAt = Number(after.slice(0, colon));
	if (colon < 1 || !Number.isFinite(updatedAt)) {
		throw new KernelError("invalid-input", `The page "${after}" of the list of sessions is not the "next" of a page.`);
	}
	return { updatedAt, id: after.slice(colon + 1) };
}
