// The pieces of a tool call are consecutive: early pieces wait until the previous call is complete.
import type { ContentPart, ToolCall } from "../../../api/values/content.ts";
import type { Identifiers } from "../../../base/ids.ts";
import { isRecord } from "../../../base/json.ts";
import { requestFailure } from "../http/request-failure.ts";
import type { ModelPart } from "../model.ts";

export interface CallPiece {
	readonly id: string | null;
	readonly name: string | null;
	readonly argumentsPiece: string | null;
	/** Stored with the call; ignored after the call was emitted. */
	readonly extras?: ToolCall["extras"];
}

export interface CallDraft {
	id: string | null;
	name: string | null;
	/** Null before the first piece. */
	arguments: string | null;
	/** The pieces not emitted yet. Kept as pieces, because slicing the whole would copy it for each one. */
	unsent: string;
	isSent: boolean;
	/** Whether there were only braces and white space so far. */
	isBare: boolean;
	extras: ToolCall["extras"];
	state: "waiting" | "open" | "announced" | "closed";
	isEnded: boolean;
}

type Waiting =
	| { readonly kind: "content"; readonly part: ContentPart }
	| { readonly kind: "call"; readonly call: CallDraft };

export class PartOrder {
	readonly #identifiers: Identifiers;
	readonly #waiting: Waiting[] = [];
	#current: CallDraft | null = null;
	#last: CallDraft | null = null;
	#ready: ModelPart[] = [];
	#isEmpty = true;

	constructor(identifiers: Identifiers) {
		this.#identifiers = identifiers;
	}

	addContent(part: ContentPart): void {
		if (part.type !== "think") this.#isEmpty = false;
		this.#waiting.push({ kind: "content", part });
		this.#release(false);
	}

	beginCall({ id, name, argumentsPiece, extras = null }: CallPiece): CallDraft {
		this.#isEmpty = false;
		const call: CallDraft = {
			...{ id, name, extras, arguments: argumentsPiece, unsent: argumentsPiece ?? "" },
			...{ isSent: false, isBare: isBare(argumentsPiece ?? ""), state: "waiting", isEnded: false },
		};
		this.#last = call;
		this.#waiting.push({ kind: "call", call });
		this.#release(false);
		return call;
	}

	/** Throws RequestFailure if the call has ended. */
	extendCall(call: CallDraft, { id, name, argumentsPiece, extras = null }: CallPiece): void {
		if (call.state === "closed") {
			if ((argumentsPiece ?? "").trim() === "") return;
			throw requestFailure("provider", "The provider continued a tool call that had ended.");
		}
		call.id ??= id;
		call.name ??= name;
		call.extras ??= extras;
		if (argumentsPiece !== null) {
			const isFirst = isPlaceholder(call) && /^\s*\{/.test(argumentsPiece);
			call.isBare = (isFirst || call.isBare) && isBare(argumentsPiece);
			call.arguments = (isFirst ? "" : (call.arguments ?? "")) + argumentsPiece;
			call.unsent = (isFirst ? "" : call.unsent) + argumentsPiece;
		}
		if (call.state !== "waiting") this.#emit(call);
		this.#release(false);
	}

	endCall(call: CallDraft): void {
		call.isEnded = true;
		if (call.state === "open" || call.state === "announced") this.#emit(call);
		this.#release(false);
	}

	take(): ModelPart[] {
		const parts = this.#ready;
		this.#ready = [];
		return parts;
	}

	/** Releases waiting parts at the end. Throws RequestFailure for a call without a name. */
	end(isCutOff: boolean): void {
		const last = this.#last;
		// A call cut off before its arguments must not run without them, so make them unparsable.
		if (isCutOff && last !== null && this.#isLast(last) && !last.isSent && !hasArguments(last)) {
			last.arguments = "{";
			last.unsent = "{";
			last.isBare = true;
		}
		this.#release(true);
	}

	/** Whether there is only reasoning so far. */
	isEmpty(): boolean {
		return this.#isEmpty;
	}

	/** Emits new pieces of the open call. `{}` waits for the end, because some servers send it before the real arguments. */
	#emit(call: CallDraft): void {
		const isOver = call.isEnded || call.state === "closed";
		if (!isOver && isPlaceholder(call)) return;
		if (call.state === "announced" || call.state === "closed") {
			if (call.unsent !== "") this.#ready.push({ type: "tool_call_part", arguments_part: call.unsent });
		} else {
			if (call.name === null) return;
			call.state = "announced";
			this.#ready.push({
				type: "function",
				// Not stored in the draft, where an id is always the server's.
				id: call.id ?? `call_${this.#identifiers.hex(24)}`,
				function: { name: call.name, arguments: call.arguments },
				extras: call.extras,
			});
		}
		call.isSent ||= call.unsent !== "";
		call.unsent = "";
	}

	#close(call: CallDraft): void {
		if (call.name === null) throw requestFailure("provider", "The provider sent a tool call without a name.");
		call.isEnded = true;
		this.#emit(call);
		call.state = "closed";
	}

	#release(isEnded: boolean): void {
		while (this.#waiting.length > 0 || isEnded) {
			if (this.#current !== null) {
				if (!isEnded && !this.#current.isEnded && !hasArguments(this.#current)) return;
				this.#close(this.#current);
				this.#current = null;
			}
			const next = this.#waiting.shift();
			if (next === undefined) return;
			if (next.kind === "content") this.#ready.push(next.part);
			else {
				this.#current = next.call;
				this.#current.state = "open";
				this.#emit(this.#current);
			}
		}
	}

	#isLast(call: CallDraft): boolean {
		const latest = this.#waiting.at(-1);
		return latest === undefined ? this.#current === call : latest.kind === "call" && latest.call === call;
	}
}

function hasArguments(call: CallDraft): boolean {
	return isComplete(call) && !isPlaceholder(call);
}

/** Whether the arguments are an empty object that may be a placeholder. */
export function isPlaceholder(call: CallDraft): boolean {
	return !call.isSent && call.isBare && call.arguments?.trim() === "{}";
}

const isBare = (text: string) => /^[\s{}]*$/.test(text);

/** Whether the call has a name and a complete JSON object as arguments. */
export function isComplete(call: CallDraft): boolean {
	const text = call.arguments?.trimEnd() ?? "";
	if (call.name === null || !text.endsWith("}")) return false;
	try {
		return isRecord(JSON.parse(text));
	} catch {
		return false;
	}
}
