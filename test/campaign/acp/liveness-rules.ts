// What must hold of every interleaving of the Agent Client Protocol, checked on its transcript after the fact: written from the
// specification of the protocol and docs/guides/editors.md.
import { isRecord } from "../../../src/base/json.ts";
import type { Sent } from "../frame/actor.ts";
import type { Fields } from "../frame/life.ts";
import { type AcpActor, type DeliveredUpdate, sessionOfRequest, sessionOfSent } from "./liveness-client.ts";
import { whatIsWrongWithCall, whatIsWrongWithResponse } from "./official-schema.ts";

/** Updates that belong to a turn, or to the history that a load shows. */
const turnUpdates: ReadonlySet<string> = new Set([
	...["user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"],
	"compaction_update",
]);

/** `result`, or the number of the error, or a name for what shares its number with others; null while there is no response. */
export function outcomeOf({ response }: Sent): string | null {
	if (response === null) return null;
	const { error } = response.message;
	if (!isRecord(error)) return "result";
	const text = String(error["message"]);
	if (/^(?:Too many turns|Max sessions)/.test(text)) return "overloaded";
	if (/ is (?:ending|closing)\.$/.test(text)) return "ending";
	if (text.startsWith("Internal error")) return "internal";
	return String(error["code"]);
}

export function stopReasonOf({ response }: Sent): string | null {
	const result = response?.message["result"];
	return isRecord(result) && typeof result["stopReason"] === "string" ? result["stopReason"] : null;
}

/** Faults as texts; none when all is well. `isScarce`: there may be too few slots or turns. */
export function findFaults(client: AcpActor, isScarce: boolean): readonly string[] {
	const named = (sent: Sent, faults: readonly (string | null)[]): readonly string[] =>
		faults.flatMap((fault) => (fault === null ? [] : [`${sent.id}: ${fault}`]));
	return [
		...checkShapes(client),
		...client.sent.flatMap((sent) => named(sent, [checkOutcome(sent, client, isScarce), checkPrompt(sent, client)])),
		...checkPlaces(client),
		...checkCalls(client),
		...checkRequests(client),
	];
}

/** The methods of what is counted under names of its own. */
const methodOf: Readonly<Record<string, string>> = {
	mode: "session/set_mode",
	model: "session/set_config_option",
	option: "session/set_config_option",
};

/** Everything is as the official schema has it. */
function checkShapes({ transcript, sent }: AcpActor): readonly string[] {
	const calls = transcript.flatMap(({ from, message }, at) => {
		const fault = from === "server" && "method" in message ? whatIsWrongWithCall(message) : null;
		return fault === null ? [] : [`at ${at}: ${fault}`];
	});
	const responses = sent.flatMap(({ id, method, response }) => {
		if (response === null) return [];
		const name = methodOf[method] ?? method;
		const isError = response.message["error"] !== undefined;
		const fault = whatIsWrongWithResponse(isError || name.startsWith("_") ? null : name, response.message);
		return fault === null ? [] : [`${id}: ${fault}`];
	});
	return [...calls, ...responses];
}

/** Requests of a method about this session that were sent before a place. */
const earlier = (client: AcpActor, methods: readonly string[], id: string, before: number): readonly Sent[] =>
	client.sent.filter((other) => methods.includes(other.method) && sessionOfSent(other) === id && other.at < before);

/** Whether somebody cancelled a prompt before it was answered. */
export function cutsOf(sent: Sent, client: AcpActor): readonly { readonly at: number; readonly atRest: boolean }[] {
	const id = sessionOfSent(sent);
	const end = sent.response?.at ?? Infinity;
	const own = client.cancellations.filter(({ of }) =>
		"requestId" in of ? of.requestId === sent.id : of.sessionId === id,
	);
	const left = earlier(client, ["session/close", "session/delete"], id, end);
	return [...own, ...left].filter(({ at }) => at > sent.at && at < end);
}

/** What is done with a session that is not loaded. */
const needsNoRoom: ReadonlySet<string> = new Set(["session/close", "session/delete", "session/list"]);

/** Whether the outcome of a request is one that it can have. */
function checkOutcome(sent: Sent, client: AcpActor, isScarce: boolean): string | null {
	const outcome = outcomeOf(sent);
	const { response, method, params } = sent;
	if (outcome === null || response === null) return null;
	const id = sessionOfSent(sent);
	const deletes = earlier(client, ["session/delete"], id, response.at);
	const isGone = deletes.some((other) => outcomeOf(other) === "result" && (other.response?.at ?? Infinity) < sent.at);
	switch (outcome) {
		case "result":
			return isGone && method !== "session/delete" && stopReasonOf(sent) !== "cancelled"
				? "it works on a deleted session"
				: null;
		case "-32002":
			return deletes.length + earlier(client, ["session/close"], id, response.at).length > 0
				? null
				: "a session is not found";
		case "-32602":
			return ["mode", "option"].includes(method) ? null : `good params are refused: ${show(response.message)}`;
		case "-32600":
			return ["mode", "option"].includes(method) ? null : `it is refused: ${show(response.message)}`;
		case "-32800":
			return client.cancellations.some(({ of }) => "requestId" in of && of.requestId === sent.id) ||
				response.at >= client.endsAt
				? null
				: "nobody withdrew it";
		case "overloaded":
			return isScarce && !needsNoRoom.has(method) ? null : "it is refused for want of room";
		case "ending":
			return response.at >= client.endsAt ? null : "the program is not ending";
		case "-32603":
			// What fails when the cancellation comes may have failed before it.
			return method === "session/prompt" && !cutsOf(sent, client).some(({ atRest }) => atRest)
				? null
				: `it fails: ${show(response.message)}`;
		default:
			return `it ends with ${outcome}: ${show({ ...response.message, params })}`;
	}
}

const show = (message: Fields): string => JSON.stringify(message).slice(0, 300);

/** Whether a prompt says `cancelled` when it was, and only then. */
function checkPrompt(sent: Sent, client: AcpActor): string | null {
	const stopReason = stopReasonOf(sent);
	const { response } = sent;
	if (sent.method !== "session/prompt" || stopReason === null || response === null) return null;
	const cuts = cutsOf(sent, client);
	if (stopReason === "cancelled") {
		return cuts.length > 0 || response.at >= client.endsAt ? null : "nobody cancelled it";
	}
	// What moves when the cancellation comes may come to its end before it.
	return cuts.some(({ atRest }) => atRest) ? `it was cancelled and ends with ${stopReason}` : null;
}

/** From a request to its response. */
interface Span {
	readonly from: number;
	readonly to: number;
}

function spansOf(client: AcpActor, methods: readonly string[], id: string): readonly Span[] {
	return client.sent
		.filter((sent) => methods.includes(sent.method) && sessionOfSent(sent) === id)
		.map(({ at, response }) => ({ from: at, to: response?.at ?? Infinity }));
}

const isWithin = (spans: readonly Span[], at: number): boolean => spans.some(({ from, to }) => from < at && at < to);

/** What belongs to a turn comes while a prompt is unanswered, or while a session is loaded. */
function checkPlaces(client: AcpActor): readonly string[] {
	return client.sessions.flatMap(({ sessionId }) => {
		const spans = spansOf(client, ["session/prompt", "session/load"], sessionId);
		return updatesOf(client, sessionId).flatMap(({ at, kind }) =>
			turnUpdates.has(kind) && !isWithin(spans, at) ? [`${kind} at ${at} outside of a prompt and a load`] : [],
		);
	});
}

const updatesOf = ({ updates }: AcpActor, id: string): readonly DeliveredUpdate[] =>
	updates.filter(({ sessionId }) => sessionId === id);

const finalStates: ReadonlySet<unknown> = new Set(["completed", "failed"]);

/** Every call begins once, ends once, and has ended when no prompt of its session is left. */
function checkCalls(client: AcpActor): readonly string[] {
	const faults: string[] = [];
	for (const { sessionId } of client.sessions) {
		const loads = spansOf(client, ["session/load"], sessionId);
		const resumes = spansOf(client, ["session/resume"], sessionId);
		const prompts = spansOf(client, ["session/prompt"], sessionId);
		const states = new Map<string, unknown>();
		const ends = prompts.filter(({ to }) => Number.isFinite(to) && to < client.endsAt);
		const steps = [
			...updatesOf(client, sessionId).map((each) => ({ at: each.at, each })),
			...ends.map(({ to }) => ({ at: to, each: null })),
		].sort((one, other) => one.at - other.at);
		for (const { at, each } of steps) {
			if (each === null) {
				// A load shows calls again, at first as they were.
				if (isWithin(prompts, at) || isWithin(loads, at)) continue;
				for (const [id, state] of states) {
					if (!finalStates.has(state)) faults.push(`${id} has no end when its prompt is answered at ${at}`);
				}
				continue;
			}
			const { kind, update } = each;
			if (kind !== "tool_call" && kind !== "tool_call_update") continue;
			const id = String(update["toolCallId"]);
			const state = states.get(id);
			// An editor that came back is told again what is under way.
			const isToldAgain = isWithin(loads, at) || resumes.some(({ to }) => to < at);
			if (kind === "tool_call" && state !== undefined && !isToldAgain) faults.push(`${id} begins again at ${at}`);
			if (kind === "tool_call_update" && state === undefined) faults.push(`${id} goes on at ${at} without a beginning`);
			if (kind === "tool_call_update" && finalStates.has(state)) faults.push(`${id} goes on at ${at} after its end`);
			if (update["status"] !== undefined) states.set(id, update["status"]);
		}
	}
	return faults;
}

/** The server requests what is of a turn, and withdraws what is still open at its end. */
function checkRequests(client: AcpActor): readonly string[] {
	return client.interactions.flatMap((interaction) => {
		const { id, type, at } = interaction;
		const sessionId = sessionOfRequest(interaction);
		const prompts = spansOf(client, ["session/prompt"], sessionId);
		if (!isWithin(prompts, at)) return [`${type} ${id} is requested outside of a prompt`];
		// A load may make it again, under its id.
		const answers = client.interactions.filter((other) => other.id === id).map((other) => other.answer?.at ?? Infinity);
		const end = Math.min(...answers, client.withdrawn.get(id) ?? Infinity, client.endsAt);
		const last = prompts.findLast(({ from }) => from < at);
		const isLeft = prompts.every(({ from, to }) => !(from < end && end < to)) && Number.isFinite(last?.to ?? Infinity);
		return isLeft && end > (last?.to ?? 0) ? [`${type} ${id} stays open after its prompt`] : [];
	});
}
