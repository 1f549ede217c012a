import { isRecord } from "../../../base/json.ts";
import { beginning, toWellFormed } from "../../../base/text/well-formed.ts";
import type { CanonicalRequest } from "./canonical-request.ts";
import type { Recording } from "./cassette.ts";

/** Values by JSON pointer, in request order. */
type Leaves = ReadonlyMap<string, unknown>;

/** Characters shown before and after the first difference in a text. */
const shownBefore = 30;
const shownAfter = 80;

export function describeMiss(
	request: CanonicalRequest,
	n: number,
	recordings: readonly Recording[],
	name: string,
): string {
	const what = `No recording in ${name} matches request ${n} (${request.path}).`;
	const nearest = findNearest(request, recordings);
	if (nearest === null) return `${what} It has no recordings: record it first.`;
	const { index, differences, received, recorded } = nearest;
	const [pointer = ""] = differences;
	const [expected, actual] = [recorded.get(pointer), received.get(pointer)];
	const isText = typeof expected === "string" && typeof actual === "string";
	const start = isText ? firstDifference(expected, actual) : 0;
	const more = differences.length === 1 ? "" : `, of ${differences.length}`;
	return [
		`${what} The nearest is line ${index + 1}. First difference${more}: ${pointer}${isText ? `, character ${start + 1}` : ""}`,
		`- recorded: ${shown(expected, start)}`,
		`+ received: ${shown(actual, start)}`,
		"If the change is intended, record the cassette again.",
	].join("\n");
}

function findNearest(request: CanonicalRequest, recordings: readonly Recording[]) {
	const received = toLeaves(request);
	const compared = recordings.map((recording, index) => {
		const recorded = toLeaves(recording.request);
		const pointers = [...received.keys(), ...[...recorded.keys()].filter((pointer) => !received.has(pointer))];
		const differences = pointers.filter((pointer) => received.get(pointer) !== recorded.get(pointer));
		return { index, differences, received, recorded };
	});
	const [first = null, ...others] = compared;
	return others.reduce(
		(best, other) => (best === null || other.differences.length < best.differences.length ? other : best),
		first,
	);
}

function toLeaves(value: unknown, pointer = "", found = new Map<string, unknown>()): Leaves {
	const members = Array.isArray(value) || isRecord(value) ? Object.entries(value) : [];
	// An empty list differs from an empty object, and both from nothing.
	if (members.length === 0) found.set(pointer, typeof value === "object" ? JSON.stringify(value) : value);
	for (const [name, member] of members) {
		toLeaves(member, `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, found);
	}
	return found;
}

function firstDifference(one: string, other: string): number {
	let index = 0;
	while (index < one.length && one[index] === other[index]) index += 1;
	return index;
}

function shown(value: unknown, start: number): string {
	if (value === undefined) return "(nothing)";
	if (typeof value !== "string") return JSON.stringify(value);
	const from = Math.max(0, start - shownBefore);
	const part = beginning(value.slice(from), start - from + shownAfter);
	const [before, after] = [from === 0 ? "" : "…", from + part.length < value.length ? "…" : ""];
	return JSON.stringify(toWellFormed(`${before}${part}${after}`));
}
