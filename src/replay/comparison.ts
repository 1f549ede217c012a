// Compares events of a replay with the recorded ones: ids are numbered as they appear, times and durations are left out.
import { isDeepStrictEqual } from "node:util";
import type { AgentEvent } from "../api/values/event.ts";
import { isRecord } from "../base/json.ts";
import { isRecorded } from "../formats/record.ts";

/** What a person reads of the first difference. */
export interface Difference {
	/** The number of the recorded event; null when the replay has more than was recorded. */
	readonly seq: number | null;
	/** Where in the event; empty for the whole of it. */
	readonly place: string;
	/** JSON, or "nothing". */
	readonly recorded: string;
	readonly replayed: string;
}

/** Why an event is no part of the comparison: it comes from what a replay leaves alone. Null for one that is. */
export function whyNotCompared({ body, isFromLog }: AgentEvent): string | null {
	if (isFromLog === true && !isRecorded({ body })) return "approvals of another program";
	switch (body.type) {
		case "mcp.loading-started":
		case "mcp.loading-ended":
			return "the state of MCP servers";
		case "status.changed":
			return body.mcp_status !== null && body.token_usage === null ? "the state of MCP servers" : null;
		case "notification.raised":
			return "notifications";
		case "usage.counted":
		case "budget.warning":
			return "budgets";
		case "files.snapshot":
		case "files.restored":
			return "the history of files";
		default:
			return null;
	}
}

/** Times, names of clients that are gone, and ids that are new in each run. */
const ignored: ReadonlySet<string> = new Set([
	"wait_s",
	"duration_ms",
	"created_at",
	"by",
	"clientId",
	"trace",
	"interactionId",
	"sourceId",
]);

/** What of an event is the same in every run. */
export function toComparable(value: unknown, name = ""): unknown {
	if (typeof value === "string") return value.includes("/plans/") ? withoutPlanFiles(value) : value;
	if (Array.isArray(value)) return value.map((item) => toComparable(item));
	if (!isRecord(value)) return value;
	const isNew = (key: string) => ignored.has(key) || (name === "interaction" && key === "id");
	const entries = Object.entries(value).filter(([key]) => !isNew(key));
	return Object.fromEntries(entries.map(([key, inner]) => [key, toComparable(inner, key)]));
}

/** Names of plans are drawn by lot. */
function withoutPlanFiles(text: string): string {
	const words = text.split(" ");
	return words.map((word) => (/\/plans\/[a-z-]+\.md/.test(word) ? "<plan>" : word)).join(" ");
}

/** Logs of Kimi Wire lack fields that the journal has: of such an event only what it says is compared. */
export function findDifference(
	recorded: unknown,
	replayed: unknown,
	isFromLog: boolean,
	place = "",
): Pick<Difference, "place" | "recorded" | "replayed"> | null {
	if (isDeepStrictEqual(recorded, replayed)) return null;
	// Early logs say which part of the window is used, and not how large it is.
	if (isFromLog && (recorded === null || recorded === undefined || place === "context_usage")) return null;
	if (isRecord(recorded) && isRecord(replayed) && recorded["type"] === replayed["type"]) {
		for (const key of new Set([...Object.keys(recorded), ...Object.keys(replayed)])) {
			const found = findDifference(recorded[key], replayed[key], isFromLog, place === "" ? key : `${place}.${key}`);
			if (found !== null) return found;
		}
		return null;
	}
	if (Array.isArray(recorded) && Array.isArray(replayed) && recorded.length === replayed.length) {
		for (const [index, item] of recorded.entries()) {
			const found = findDifference(item, replayed[index], isFromLog, `${place}[${index}]`);
			if (found !== null) return found;
		}
		return null;
	}
	return { place, recorded: shown(recorded), replayed: shown(replayed) };
}

function shown(value: unknown): string {
	return value === undefined ? "nothing" : JSON.stringify(value);
}
