// Ids are numbered as they appear; times and durations are ignored.
import { isDeepStrictEqual } from "node:util";
import type { AgentEvent } from "../api/values/event.ts";
import { isRecord } from "../base/json.ts";
import { isRecorded } from "../formats/record.ts";

export interface Difference {
	/** The number of the recorded event; null if the replay has more. */
	readonly seq: number | null;
	/** Empty for the whole event. */
	readonly place: string;
	readonly recorded: string;
	readonly replayed: string;
}

/** Why an event is not compared: replays do not reproduce its cause. Null if it is. */
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

/** Times, names of detached clients, and random ids. */
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

export function toComparable(value: unknown, name = ""): unknown {
	if (typeof value === "string") return value.includes("/plans/") ? withoutPlanFiles(value) : value;
	if (Array.isArray(value)) return value.map((item) => toComparable(item));
	if (!isRecord(value)) return value;
	const isNew = (key: string) => ignored.has(key) || (name === "interaction" && key === "id");
	const entries = Object.entries(value).filter(([key]) => !isNew(key));
	return Object.fromEntries(entries.map(([key, inner]) => [key, toComparable(inner, key)]));
}

/** Plan names are random. */
function withoutPlanFiles(text: string): string {
	const words = text.split(" ");
	return words.map((word) => (/\/plans\/[a-z-]+\.md/.test(word) ? "<plan>" : word)).join(" ");
}

/** Kimi Wire logs lack some journal fields, so only their own fields are compared. */
export function findDifference(
	recorded: unknown,
	replayed: unknown,
	isFromLog: boolean,
	place = "",
): Pick<Difference, "place" | "recorded" | "replayed"> | null {
	if (isDeepStrictEqual(recorded, replayed)) return null;
	// Early logs have the used share of the window, not its size.
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
