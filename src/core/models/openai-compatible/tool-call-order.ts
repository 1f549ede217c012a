// Orders streamed pieces as a model's parts require: pieces of one tool call are consecutive, whatever order the server
// sent them in. Early pieces wait until the call before is complete.

import type { ContentPart } from "../../../api/values/content.ts";
import type { Identifiers } from "../../../base/ids.ts";
import { isRecord } from "../../../base/json.ts";
import { requestFailure } from "../http/request-failure.ts";
import type { ModelPart } from "../model.ts";

/** One element of `tool_calls` in a delta; null and empty are alike. */
export interface ToolCallDelta {
	readonly index: number | null;
	readonly id: string | null;
	readonly name: string | null;
	readonly argumentsPiece: string;
}

export interface PartOrder {
	addContent(part: ContentPart): void;
	/** Throws RequestFailure when a call is continued after it had ended. */
	addToolCall(delta: ToolCallDelta): void;
	/** The parts that can be emitted now. */
	take(): ModelPart[];
	/**
	 * The answer is complete, or was cut off at its maximal length: releases all waiting parts. Throws RequestFailure for a call
	 * without a name.
	 */
	end(isCutOff: boolean): void;
}

interface CallDraft {
	readonly index: number | null;
	id: string | null;
	name: string | null;
	arguments: string;
	state: "waiting" | "open" | "announced" | "closed";
}

type Waiting =
	| { readonly kind: "content"; readonly part: ContentPart }
	| { readonly kind: "call"; readonly call: CallDraft };

export function createPartOrder(identifiers: Identifiers): PartOrder {
	const calls: CallDraft[] = [];
	const waiting: Waiting[] = [];
	let current: CallDraft | null = null;
	let ready: ModelPart[] = [];

	const announce = (call: CallDraft) => {
		if (call.name === null) return;
		call.state = "announced";
		ready.push({
			type: "function",
			// Not stored in the draft: an id there is one that the server gave.
			id: call.id ?? `call_${identifiers.hex(24)}`,
			function: { name: call.name, arguments: call.arguments === "" ? null : call.arguments },
			extras: null,
		});
	};

	const release = (isEnded: boolean) => {
		while (waiting.length > 0 || isEnded) {
			if (current !== null) {
				if (!isEnded && !isComplete(current)) return;
				if (current.name === null) throw requestFailure("provider", "The provider sent a tool call without a name.");
				current.state = "closed";
				current = null;
			}
			const next = waiting.shift();
			if (next === undefined) return;
			if (next.kind === "content") ready.push(next.part);
			else {
				current = next.call;
				current.state = "open";
				announce(current);
			}
		}
	};

	const extend = (call: CallDraft, delta: ToolCallDelta) => {
		if (call.state === "closed") {
			if (delta.argumentsPiece.trim() === "") return;
			throw requestFailure("provider", "The provider continued a tool call that had ended.");
		}
		call.id ??= delta.id;
		call.name ??= delta.name;
		call.arguments += delta.argumentsPiece;
		if (call.state === "open") announce(call);
		else if (call.state === "announced" && delta.argumentsPiece !== "") {
			ready.push({ type: "tool_call_part", arguments_part: delta.argumentsPiece });
		}
		release(false);
	};

	/** Whether nothing came after the call. */
	const endsWith = (call: CallDraft): boolean => {
		const last = waiting.at(-1);
		return last === undefined ? current === call : last.kind === "call" && last.call === call;
	};

	return {
		addContent(part) {
			waiting.push({ kind: "content", part });
			release(false);
		},
		addToolCall(delta) {
			const known = findCall(calls, delta);
			if (known !== null) {
				extend(known, delta);
				return;
			}
			const { index, id, name, argumentsPiece } = delta;
			const call: CallDraft = { index, id, name, arguments: argumentsPiece, state: "waiting" };
			calls.push(call);
			waiting.push({ kind: "call", call });
			release(false);
		},
		take() {
			const parts = ready;
			ready = [];
			return parts;
		},
		end(isCutOff) {
			const last = calls.at(-1);
			// Cut off before its arguments began: they are left unparsable, because it must not run without any.
			if (isCutOff && last?.arguments.trim() === "" && endsWith(last))
				extend(last, { ...nothing, argumentsPiece: "{" });
			release(true);
		},
	};
}

const nothing: ToolCallDelta = { index: null, id: null, name: null, argumentsPiece: "" };

/** The call that a delta continues, or null when it begins one. Servers repeat, omit and reuse both ids and indexes. */
function findCall(calls: readonly CallDraft[], delta: ToolCallDelta): CallDraft | null {
	const sameId = delta.id === null ? [] : calls.filter((call) => call.id === delta.id);
	if (sameId.length > 0) return sameId.findLast((call) => !isAnother(call, delta)) ?? null;
	const candidate = delta.index === null ? calls.at(-1) : calls.findLast((call) => call.index === delta.index);
	if (candidate === undefined) return null;
	if (delta.id !== null && candidate.id !== null) return null;
	if (delta.name === null || candidate.name === null) return candidate;
	return delta.name !== candidate.name || isComplete(candidate) ? null : candidate;
}

/** Whether a delta with the id of the call begins another one, because the server gives one id to all of them. */
function isAnother(call: CallDraft, { index, name, argumentsPiece }: ToolCallDelta): boolean {
	if (index !== null && call.index !== null && index !== call.index) return true;
	if (name === null || call.name === null) return false;
	return name !== call.name || (argumentsPiece.trim() !== "" && isComplete(call));
}

function isComplete(call: CallDraft): boolean {
	const text = call.arguments.trimEnd();
	if (call.name === null || !text.endsWith("}")) return false;
	try {
		return isRecord(JSON.parse(text));
	} catch {
		return false;
	}
}
