// What holds of the runs of a session of Meerkat RPC: they are turns, and their events come in the documented order
// (meerkat-rpc §3, docs/guides/meerkat.md).
import { isRecord } from "../../../src/base/json.ts";
import type { Sent } from "../frame/actor.ts";
import { findTurns, type PlacedFact, type Turn, type TurnFact } from "../frame/turn-rules.ts";
import { type DeliveredEvent, type HostedActor, promptOf } from "./liveness-client.ts";

export type Run = Turn<DeliveredEvent>;

/** `result`, or the name of the error; null while there is no response. */
export function outcomeOf({ response }: Sent): string | null {
	if (response === null) return null;
	const { error } = response.message;
	if (!isRecord(error)) return "result";
	return isRecord(error["data"]) ? String(error["data"]["code"]) : "an error without a name";
}

/** Outcomes of a request to run that never came to a run. */
export const refusals: ReadonlySet<string> = new Set(["SESSION_BUSY", "SESSION_NOT_FOUND", "OVERLOADED"]);

const ends: ReadonlySet<string> = new Set(["run_completed", "run_failed"]);

function toFact({ type, event }: DeliveredEvent): TurnFact {
	// The prompt of a deferred session precedes that of its first turn.
	if (type === "run_started") return { kind: "begin", name: String(event["prompt"]).split("\n\n").at(-1) ?? "" };
	return { kind: ends.has(type) ? "end" : "inside", what: type };
}

/** The responses to requests that were to run; after the end of the input they may be answered before they ran. */
export function answersOf(client: HostedActor): readonly PlacedFact<DeliveredEvent>[] {
	return client.sent.flatMap((sent) => {
		const { response } = sent;
		const session = client.sessionOf(sent);
		const outcome = outcomeOf(sent) ?? "";
		if (promptOf(sent) === null || response === null || session === null || refusals.has(outcome)) return [];
		const mayLackTurn = outcome === "REQUEST_CANCELLED" && response.at >= client.endsAt;
		return [{ session, at: response.at, fact: { kind: "answered", mayLackTurn }, content: null }];
	});
}

/** The runs in the order of their begins, and what is wrong with them. */
export function findRuns(
	events: readonly DeliveredEvent[],
	answers: readonly PlacedFact<DeliveredEvent>[],
	isComplete: boolean,
): { readonly runs: readonly Run[]; readonly faults: readonly string[] } {
	const facts = events.map((each): PlacedFact<DeliveredEvent> => {
		return { session: each.sessionId, at: each.at, fact: toFact(each), content: each };
	});
	const ordered = [...facts, ...answers].sort((one, other) => one.at - other.at);
	const { turns: runs, faults } = findTurns(ordered, isComplete);
	const named = runs.flatMap((run) => checkOrder(run).map((fault) => `run "${run.name}" of ${run.session}: ${fault}`));
	return { runs, faults: [...faults, ...named] };
}

/** What a model call has said and asked for so far. */
interface ModelCall {
	text: string;
	isDelivered: boolean;
	requested: string[];
	started: string[];
	completed: string[];
	received: string[];
	isOver: boolean;
}

function beginCall(): ModelCall {
	return { text: "", isDelivered: false, requested: [], started: [], completed: [], received: [], isOver: false };
}

/** Whether the events of a run come in the documented order (meerkat-rpc §3, docs/guides/meerkat.md). */
function checkOrder({ contents, end }: Turn<DeliveredEvent>): readonly string[] {
	const faults: string[] = [];
	let calls = 0;
	let call = beginCall();
	const finishCall = (): void => {
		if (calls === 0) return;
		const names = (list: readonly string[]) => list.join(",");
		// A call that was refused never starts.
		const isRequested = call.started.every((id) => call.requested.includes(id));
		if (!isRequested || new Set(call.started).size < call.started.length)
			faults.push("a call started unasked, or twice");
		if (names(call.requested) !== names(call.completed)) faults.push("a call has no result, or one out of order");
		if (names(call.completed) !== names(call.received)) faults.push("results are not delivered in pairs");
	};
	for (const { type, event } of contents) {
		const id = String(event["id"]);
		switch (type) {
			case "turn_started":
				finishCall();
				if (calls > 0 && !call.isOver) faults.push("a model call begins before the end of the one before");
				if (event["turn_number"] !== calls) faults.push(`model call ${calls} has the number ${event["turn_number"]}`);
				calls += 1;
				call = beginCall();
				break;
			case "text_delta":
				if (call.isDelivered || call.requested.length > 0) faults.push("text after the end of the text");
				call.text += String(event["delta"]);
				break;
			case "retrying":
				call = beginCall();
				break;
			case "text_complete":
				if (event["content"] !== call.text) faults.push("the whole text is not what was delivered of it");
				call.isDelivered = true;
				break;
			case "tool_call_requested":
				if (call.text !== "" && !call.isDelivered) faults.push("a call before the whole text");
				call.requested.push(id);
				break;
			case "tool_execution_started":
				call.started.push(id);
				break;
			case "tool_execution_completed":
				call.completed.push(id);
				break;
			case "tool_result_received":
				if (call.completed.at(-1) !== id) faults.push("a result is not delivered in a pair");
				call.received.push(id);
				break;
			case "turn_completed": {
				const reason = call.requested.length > 0 ? "tool_use" : "end_turn";
				if (event["stop_reason"] !== reason) faults.push(`a model call ends for ${event["stop_reason"]}`);
				call.isOver = true;
				break;
			}
			case "run_completed":
				if (!call.isOver) faults.push("it is completed before its last model call");
				break;
			default:
				break;
		}
	}
	if (end !== null) finishCall();
	return faults;
}
