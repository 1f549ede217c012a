import { expect, it } from "vitest";
import type { SessionSummary } from "../../api/session-list.ts";
import { type Place, readPage } from "./session-page.ts";

const places = Array.from({ length: 100 }, (_, n): Place => ({ id: `s${n}`, updatedAt: (n * 37) % 50 }));
/** Every third is not listed. */
const toSummary = ({ id, updatedAt }: Place): SessionSummary | null =>
	Number(id.slice(1)) % 3 === 0 ? null : { id, updatedAt, workDir: "/work", title: id, archivedAt: null };

async function walk(limit: number | undefined): Promise<readonly string[]> {
	const ids: string[] = [];
	for (let after: string | null | undefined; after !== null; ) {
		const query = { ...(limit === undefined ? {} : { limit }), ...(after === undefined ? {} : { after }) };
		const page = await readPage(places, query, async (place) => toSummary(place));
		expect(page.sessions.length).toBeLessThanOrEqual(limit ?? places.length);
		ids.push(...page.sessions.map(({ id }) => id));
		after = page.next;
	}
	return ids;
}

it.each([1, 2, 7, 66, 67, 1000, undefined])("lists every session once, latest first, in pages of %s", async (limit) => {
	const listed = places.filter((place) => toSummary(place) !== null);
	const sorted = listed.sort((one, other) => other.updatedAt - one.updatedAt || (one.id < other.id ? -1 : 1));
	expect(await walk(limit)).toEqual(sorted.map(({ id }) => id));
});

it("reads little more than the page", async () => {
	let count = 0;
	const page = await readPage(places, { limit: 5 }, async (place) => {
		count += 1;
		return toSummary(place);
	});
	expect(page.sessions).toHaveLength(5);
	expect(count).toBeLessThanOrEqual(16);
});
