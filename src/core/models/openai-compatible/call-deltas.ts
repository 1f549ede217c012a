import { isRecord } from "../../../base/json.ts";
import { type Fields, toFields, toText } from "../answers/event-json.ts";
import { type CallDraft, type CallPiece, isComplete, isPlaceholder, type PartOrder } from "../answers/part-order.ts";

/** One element of `tool_calls` in a delta; null and empty are equivalent, except in the arguments. */
export interface ToolCallDelta extends CallPiece {
	readonly index: number | null;
}

export interface CallDeltas {
	/** Returns the position of the call in the answer. Throws RequestFailure if an ended call is continued. */
	add(delta: ToolCallDelta): number;
}

interface IndexedCall {
	readonly index: number | null;
	readonly call: CallDraft;
}

export function createCallDeltas(order: PartOrder): CallDeltas {
	const calls: IndexedCall[] = [];
	return {
		add(delta) {
			const known = findCall(calls, delta);
			if (known === null) return calls.push({ index: delta.index, call: order.beginCall(delta) }) - 1;
			order.extendCall(known.call, delta);
			return calls.indexOf(known);
		},
	};
}

/** The call that a delta continues; null if it begins one. */
function findCall(calls: readonly IndexedCall[], delta: ToolCallDelta): IndexedCall | null {
	const sameId = delta.id === null ? [] : calls.filter(({ call }) => call.id === delta.id);
	if (sameId.length > 0) return sameId.findLast((known) => !isAnother(known, delta)) ?? null;
	const candidate = delta.index === null ? calls.at(-1) : calls.findLast(({ index }) => index === delta.index);
	if (candidate === undefined) return null;
	const { call } = candidate;
	if (delta.id !== null && call.id !== null) return isHalfway(call) && delta.name === null ? candidate : null;
	if (delta.name === null || call.name === null) return candidate;
	if (delta.name !== call.name) return null;
	return isComplete(call) && (delta.index === null || !isPlaceholder(call)) ? null : candidate;
}

/** Whether a delta with the call's id begins another call, because the server reuses one id for all. */
function isAnother({ index: known, call }: IndexedCall, { index, name, argumentsPiece }: ToolCallDelta): boolean {
	if (index !== null && known !== null && index !== known) return true;
	if (name === null || call.name === null) return false;
	if (name !== call.name) return true;
	return (argumentsPiece ?? "").trim() !== "" && isComplete(call) && !isPlaceholder(call);
}

/** Some servers give every delta a separate id. */
function isHalfway(call: CallDraft): boolean {
	return (call.arguments ?? "").trim() !== "" && !isComplete(call);
}

export function toToolCallDelta(value: Fields, extras: CallPiece["extras"]): ToolCallDelta {
	const inner = toFields(value["function"]);
	const piece = inner["arguments"];
	const { index } = value;
	return {
		index: typeof index === "string" && /^\d+$/.test(index) ? Number(index) : typeof index === "number" ? index : null,
		id: toText(value["id"]),
		name: toText(inner["name"]),
		// Some servers send the decoded arguments.
		argumentsPiece: typeof piece === "string" ? piece : isRecord(piece) ? JSON.stringify(piece) : null,
		...(extras === undefined ? {} : { extras }),
	};
}
