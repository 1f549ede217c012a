// The events of one run of a session, and whether they come in the documented order (meerkat-rpc §3, docs/meerkat.md).
import type { DeliveredEvent } from "./liveness-client.ts";

export interface Run {
	readonly sessionId: string;
	readonly prompt: string;
	/** Index of its first event in the transcript. */
	readonly at: number;
	/** What came behind `run_started`, its end included. */
	readonly events: DeliveredEvent[];
	end: DeliveredEvent | null;
	readonly faults: string[];
}

const ends: ReadonlySet<string> = new Set(["run_completed", "run_failed"]);

/** The runs in the order of their beginnings. Events outside of a run are faults of the run before them. */
export function runsOf(events: readonly DeliveredEvent[]): readonly Run[] {
	const runs: Run[] = [];
	const current = new Map<string, Run>();
	for (const delivered of events) {
		const { sessionId, type, at, event } = delivered;
		const before = current.get(sessionId);
		if (type === "run_started") {
			const run: Run = { sessionId, prompt: String(event["prompt"]), at, events: [], end: null, faults: [] };
			if (before !== undefined && before.end === null) run.faults.push("it begins within another run");
			current.set(sessionId, run);
			runs.push(run);
		} else if (before === undefined) {
			runs.push({ sessionId, prompt: "", at, events: [], end: delivered, faults: [`${type} before any run`] });
		} else {
			if (before.end !== null) before.faults.push(`${type} behind its end`);
			before.events.push(delivered);
			if (ends.has(type)) before.end = delivered;
		}
	}
	return runs;
}

/** Faults as texts. An end may be missing only when not everything was received. */
export function findRunFaults(run: Run, isComplete: boolean): readonly string[] {
	const faults = [...run.faults, ...checkOrder(run)];
	if (run.end === null && isComplete) faults.push("it has no end");
	return faults.map((fault) => `run "${run.prompt}" of ${run.sessionId}: ${fault}`);
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

function checkOrder({ events, end }: Run): readonly string[] {
	const faults: string[] = [];
	let calls = 0;
	let call = beginCall();
	const finishCall = (): void => {
		if (calls === 0) return;
		const names = (list: readonly string[]) => list.join(",");
		if (names(call.requested) !== names(call.started)) faults.push("a call that was asked for did not start");
		if (names(call.requested) !== names(call.completed)) faults.push("a call has no result, or one out of order");
		if (names(call.completed) !== names(call.received)) faults.push("results are not told in pairs");
	};
	for (const { type, event } of events) {
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
				if (call.isDelivered || call.requested.length > 0) faults.push("text behind the end of the text");
				call.text += String(event["delta"]);
				break;
			case "retrying":
				call = beginCall();
				break;
			case "text_complete":
				if (event["content"] !== call.text) faults.push("the whole text is not what was told of it");
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
				if (call.completed.at(-1) !== id) faults.push("a result is not told in a pair");
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
