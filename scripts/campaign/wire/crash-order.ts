// The order of writing, syncing and delivering in a life that was not stopped: what is delivered was appended before, and at
// commit points it was synced in between.
import { isRecord } from "../../../src/base/json.ts";
import type { Happening } from "../frame/memory-life.ts";
import { parseDelivered } from "./crash-client.ts";
import { sessionId } from "./crash-server.ts";

/** What must be on stable storage before each commit point: the log's name, and what its last line says. */
const commits: Readonly<Record<string, readonly string[]>> = {
	TurnBegin: ["wire.jsonl"],
	StepBegin: ["context.jsonl"],
	step_begin: ["context.jsonl"],
	SteerInput: ["wire.jsonl", "context.jsonl"],
	ApprovalResponse: ["calls.jsonl"],
	TurnEnd: ["wire.jsonl", "context.jsonl"],
};
const persistedTypes: ReadonlySet<string> = new Set([
	"TurnBegin",
	"TurnEnd",
	"StepBegin",
	"StepRetry",
	"StepInterrupted",
	"StatusUpdate",
	"ToolResult",
	"SteerInput",
	"ToolCallRequest",
]);

/** Faults of the recording, as texts. */
export function checkOrder(happenings: readonly Happening[], sessions: number): string[] {
	return Array.from({ length: sessions }, (_, index) => checkSession(happenings, index)).flat();
}

function checkSession(happenings: readonly Happening[], session: number): string[] {
	const faults: string[] = [];
	const unsynced = new Set<string>();
	let events = "";
	let calls = "";
	for (const happening of happenings) {
		if (happening.kind === "effect") {
			const { effect, text } = happening;
			if (!effect.path.includes(sessionId(session))) continue;
			const name = effect.path.slice(effect.path.lastIndexOf("/") + 1);
			if (effect.kind === "append") unsynced.add(name);
			if (effect.kind === "sync") unsynced.delete(name);
			if (effect.kind === "append" && name === "wire.jsonl") events += text;
			if (effect.kind === "append" && name === "calls.jsonl") calls += text;
			continue;
		}
		if (happening.kind === "struck") continue;
		if (happening.kind === "ran") {
			if (happening.sessionId !== sessionId(session)) continue;
			if (!calls.includes(JSON.stringify(JSON.stringify(happening.command)).slice(1, -1))) {
				faults.push(`ran before its start was recorded: ${happening.command}`);
			}
			if (unsynced.has("calls.jsonl")) faults.push(`ran before its start was synced: ${happening.command}`);
		} else {
			if (happening.part !== session) continue;
			const { params } = parseDelivered(happening.line);
			if (params === null) continue;
			if (persistedTypes.has(params.type) && !takeRecord(params))
				faults.push(`delivered before it was appended: ${happening.line}`);
			for (const name of commits[params.type] ?? []) {
				// The event itself may follow the commit; what it commits may not.
				const isOwn = name === "wire.jsonl" && params.type === "StepBegin";
				if (unsynced.has(name) && !isOwn) faults.push(`${params.type} delivered before ${name} was synced`);
			}
		}
	}
	return faults;

	function takeRecord({ type, payload }: { type: string; payload: unknown }): boolean {
		const rest: string[] = [];
		let found = false;
		for (const line of events.split("\n")) {
			const value: unknown = line === "" ? null : JSON.parse(line);
			const message = isRecord(value) ? value["message"] : null;
			const isIt =
				isRecord(message) && message["type"] === type && JSON.stringify(message["payload"]) === JSON.stringify(payload);
			if (isIt && !found) found = true;
			else rest.push(line);
		}
		events = rest.join("\n");
		return found;
	}
}
