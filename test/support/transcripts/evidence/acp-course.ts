// The course of a transcript of the Agent Client Protocol: in what state each method was called, and which updates were sent live
// and which as a replay.
import type { Transcript } from "../../../../src/testing/transcripts/format.ts";
import { type Line, linesOf } from "./search.ts";

interface Course {
	/** As `method/state`, of those that were answered, or followed by something else where they want no answer. */
	readonly calls: ReadonlySet<string>;
	readonly updates: { readonly live: ReadonlySet<string>; readonly replay: ReadonlySet<string> };
}

export const acpCalls = (transcript: Transcript) => courseOf(transcript).calls;
export const acpUpdates = (transcript: Transcript, when: "live" | "replay") => courseOf(transcript).updates[when];

const openers: ReadonlySet<string> = new Set(["session/new", "session/load", "session/resume"]);

function courseOf(transcript: Transcript): Course {
	const lines = linesOf(transcript);
	const calls = new Set<string>();
	const updates = { live: new Set<string>(), replay: new Set<string>() };
	/** Requests that were not answered, by their ids as JSON. */
	const open = new Map<string, string>();
	let hasSession = false;
	for (const [index, line] of lines.entries()) {
		if (line.kind === "process") {
			open.clear();
			hasSession = false;
		}
		if (line.kind !== "send" && line.kind !== "receive") continue;
		const { method, id, result, update } = partsOf(line.text);
		if (line.kind === "send" && method !== null) {
			const isPrompted = [...open.values()].includes("session/prompt");
			const state = isPrompted ? "turn" : hasSession ? "idle" : "fresh";
			const later = lines.slice(index + 1);
			if (id === null ? later.some(({ kind }) => kind === "receive") : isAnswered(later, id))
				calls.add(`${method}/${state}`);
			if (id !== null) open.set(id, method);
		}
		if (line.kind !== "receive") continue;
		if (update !== null) updates[[...open.values()].includes("session/load") ? "replay" : "live"].add(update);
		if (id === null || method !== null) continue;
		if (result && openers.has(open.get(id) ?? "")) hasSession = true;
		open.delete(id);
	}
	return { calls, updates };
}

function isAnswered(lines: readonly Line[], id: string): boolean {
	return lines.some((line) => {
		if (line.kind !== "receive") return false;
		const parts = partsOf(line.text);
		return parts.method === null && parts.id === id;
	});
}

/** Placeholders are no JSON: what a line is about stands at its beginning. */
function partsOf(text: string) {
	const head =
		/^\{"jsonrpc":"2\.0"(?:,"id":("[^"]*"|-?\d+|null))?(?:,"method":"([^"]+)")?(?:,"id":("[^"]*"|-?\d+))?/.exec(text);
	const update = /"update":\{"sessionUpdate":"([^"]+)"/.exec(text);
	return {
		id: head?.[1] ?? head?.[3] ?? null,
		method: head?.[2] ?? null,
		result: /^\{"jsonrpc":"2\.0","id":[^,]+,"result"/.test(text),
		update: update?.[1] ?? null,
	};
}
