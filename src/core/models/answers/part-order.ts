// Orders streamed pieces as a model's parts require: pieces of one tool call are consecutive, whatever order the server
// sent them in. Early pieces wait until the call before is complete.
import type { ContentPart, ToolCall } from "../../../api/values/content.ts";
import type { Identifiers } from "../../../base/ids.ts";
import { isRecord } from "../../../base/json.ts";
import { requestFailure } from "../http/request-failure.ts";
import type { ModelPart } from "../model.ts";

/** What a server says of a call at once. Null for what it leaves out. */
export interface CallPiece {
	readonly id: string | null;
	readonly name: string | null;
	readonly argumentsPiece: string | null;
	/** Stored with the call; ignored once the call was emitted. */
	readonly extras?: ToolCall["extras"];
}

export interface CallDraft {
	id: string | null;
	name: string | null;
	/** Null before the first piece. */
	arguments: string | null;
	extras: ToolCall["extras"];
	state: "waiting" | "open" | "announced" | "closed";
	/** Nothing more comes, whatever the arguments are. */
	isEnded: boolean;
	/** Characters of the arguments that were emitted. */
	emitted: number;
}

export interface PartOrder {
	addContent(part: ContentPart): void;
	beginCall(piece: CallPiece): CallDraft;
	/** Throws RequestFailure when the call had ended. */
	extendCall(call: CallDraft, piece: CallPiece): void;
	endCall(call: CallDraft): void;
	/** The parts that can be emitted now. */
	take(): ModelPart[];
	/**
	 * The answer is complete, or was cut off at its maximal length: releases all waiting parts. Throws RequestFailure for a call
	 * without a name.
	 */
	end(isCutOff: boolean): void;
	/** Whether there has been nothing but reasoning. */
	isEmpty(): boolean;
}

type Waiting =
	| { readonly kind: "content"; readonly part: ContentPart }
	| { readonly kind: "call"; readonly call: CallDraft };

export function createPartOrder(identifiers: Identifiers): PartOrder {
	const waiting: Waiting[] = [];
	let current: CallDraft | null = null;
	let last: CallDraft | null = null;
	let ready: ModelPart[] = [];
	let isEmpty = true;

	/** Emits what is known of the open call. `{}` waits for its end: some servers send it before the real arguments. */
	const emit = (call: CallDraft) => {
		const isOver = call.isEnded || call.state === "closed";
		const given = call.arguments ?? "";
		if (!isOver && isPlaceholder(call)) return;
		if (call.state === "announced" || call.state === "closed") {
			const piece = given.slice(call.emitted);
			if (piece !== "") ready.push({ type: "tool_call_part", arguments_part: piece });
		} else {
			if (call.name === null) return;
			call.state = "announced";
			ready.push({
				type: "function",
				// Not stored in the draft: an id there is one that the server gave.
				id: call.id ?? `call_${identifiers.hex(24)}`,
				function: { name: call.name, arguments: call.arguments },
				extras: call.extras,
			});
		}
		call.emitted = given.length;
	};

	const close = (call: CallDraft) => {
		if (call.name === null) throw requestFailure("provider", "The provider sent a tool call without a name.");
		call.isEnded = true;
		emit(call);
		call.state = "closed";
	};

	const release = (isEnded: boolean) => {
		while (waiting.length > 0 || isEnded) {
			if (current !== null) {
				if (!isEnded && !current.isEnded && !hasArguments(current)) return;
				close(current);
				current = null;
			}
			const next = waiting.shift();
			if (next === undefined) return;
			if (next.kind === "content") ready.push(next.part);
			else {
				current = next.call;
				current.state = "open";
				emit(current);
			}
		}
	};

	/** Whether nothing came after the call. */
	const isLast = (call: CallDraft): boolean => {
		const latest = waiting.at(-1);
		return latest === undefined ? current === call : latest.kind === "call" && latest.call === call;
	};

	return {
		addContent(part) {
			if (part.type !== "think") isEmpty = false;
			waiting.push({ kind: "content", part });
			release(false);
		},
		beginCall({ id, name, argumentsPiece, extras = null }) {
			isEmpty = false;
			const state = "waiting";
			const call: CallDraft = { id, name, extras, arguments: argumentsPiece, state, isEnded: false, emitted: 0 };
			last = call;
			waiting.push({ kind: "call", call });
			release(false);
			return call;
		},
		extendCall(call, { id, name, argumentsPiece, extras = null }) {
			if (call.state === "closed") {
				if ((argumentsPiece ?? "").trim() === "") return;
				throw requestFailure("provider", "The provider continued a tool call that had ended.");
			}
			call.id ??= id;
			call.name ??= name;
			call.extras ??= extras;
			if (argumentsPiece !== null) {
				const isFirst = isPlaceholder(call) && /^\s*\{/.test(argumentsPiece);
				call.arguments = (isFirst ? "" : (call.arguments ?? "")) + argumentsPiece;
			}
			if (call.state !== "waiting") emit(call);
			release(false);
		},
		endCall(call) {
			call.isEnded = true;
			if (call.state === "open" || call.state === "announced") emit(call);
			release(false);
		},
		take() {
			const parts = ready;
			ready = [];
			return parts;
		},
		end(isCutOff) {
			// Cut off before its arguments: they are left unparsable, because it must not run without any.
			if (isCutOff && last !== null && isLast(last) && last.emitted === 0 && !hasArguments(last)) {
				last.arguments = "{";
			}
			release(true);
		},
		isEmpty: () => isEmpty,
	};
}

function hasArguments(call: CallDraft): boolean {
	return isComplete(call) && !isPlaceholder(call);
}

/** Whether the arguments are an empty object that others may follow. */
export function isPlaceholder(call: CallDraft): boolean {
	return call.emitted === 0 && call.arguments?.trim() === "{}";
}

/** Whether the call has a name and a whole object as its arguments. */
export function isComplete(call: CallDraft): boolean {
	const text = call.arguments?.trimEnd() ?? "";
	if (call.name === null || !text.endsWith("}")) return false;
	try {
		return isRecord(JSON.parse(text));
	} catch {
		return false;
	}
}
