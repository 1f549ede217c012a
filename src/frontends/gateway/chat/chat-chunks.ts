// Converts the events of one turn to AI SDK UI message stream chunks, version 1, from which `useChat` builds a message.
import type { Cursor } from "../../../api/values/event.ts";
import type { PublicEvent } from "../../shared/public-event.ts";

export type ChatChunk = { readonly type: string } & Readonly<Record<string, unknown>>;

const previewLimit = 16_000;

const finishReasons = {
	finished: "stop",
	truncated: "length",
	"max-steps": "length",
	failed: "error",
} as const;

type Kind = "text" | "reasoning";

export interface MessageState {
	/** Events up to here are included. */
	readonly from: Cursor;
	readonly shown: readonly string[];
	readonly denied: readonly string[];
}

export class ChatChunks {
	readonly #write: (chunk: ChatChunk) => void;
	readonly #turnId: string;
	/** Calls that are parts of the message, and running calls. */
	readonly #shown: Set<string>;
	readonly #running = new Set<string>();
	readonly #previews = new Map<string, string>();
	readonly #approvals = new Map<string, string>();
	readonly #denied: Set<string>;
	readonly #calls = new Map<string, { readonly name: string; readonly arguments: string | null }>();
	#open: { readonly kind: Kind; readonly id: string; length: number } | null = null;
	#count = 0;
	#isInStep: boolean;
	readonly #from: number;
	#cursor: Cursor;
	#isOver = false;

	constructor(turnId: string, { from, shown, denied }: MessageState, write: (chunk: ChatChunk) => void) {
		this.#write = write;
		this.#turnId = turnId;
		this.#cursor = from;
		this.#from = from.seq;
		this.#shown = new Set(shown);
		this.#denied = new Set(denied);
		this.#isInStep = shown.length > 0;
		write({ type: "start", messageId: turnId, messageMetadata: { turnId } });
	}

	get isOver(): boolean {
		return this.#isOver;
	}

	/** Whether the turn is blocked on approvals. The browser sends its decision after this stream has ended. */
	get awaitsApproval(): boolean {
		return this.#approvals.size > 0 && this.#running.size === 0;
	}

	pause(): void {
		this.#end([{ type: "finish", finishReason: "tool-calls", messageMetadata: this.#metadata() }]);
	}

	take(event: PublicEvent): void {
		if (event.type === "tool.requested") this.#calls.set(event.call.id, event.call.function);
		if (event.seq !== undefined && event.seq <= this.#from) return;
		if (event.seq !== undefined && event.epoch !== undefined) this.#cursor = { epoch: event.epoch, seq: event.seq };
		if (event.turnId !== this.#turnId || this.#isOver) return;
		const isOwn = event.agentPath.length === 0;
		switch (event.type) {
			case "step.started":
				if (isOwn) this.#startStep();
				break;
			case "content.delta":
				if (isOwn) this.#takePiece(event.part, event.offset);
				break;
			case "content.completed":
				if (isOwn) this.#completePart(event.part);
				break;
			case "tool.started":
				this.#showCall(event.toolCallId);
				this.#running.add(event.toolCallId);
				break;
			case "tool.progress":
				this.#preview(event.toolCallId, event.text);
				break;
			case "tool.result":
				this.#showResult(event.toolCallId, event.result);
				break;
			case "interaction.requested":
				this.#takeRequest(event.interaction);
				break;
			case "interaction.resolved":
				this.#takeAnswer(event.interactionId, event.answer);
				break;
			case "turn.ended":
				if (isOwn) this.#takeEnd(event.outcome);
				break;
			default:
		}
	}

	#startStep(): void {
		if (this.#isInStep) this.#write({ type: "finish-step" });
		this.#isInStep = true;
		this.#write({ type: "start-step" });
	}

	#takePiece(part: { readonly type: string }, offset: number | undefined): void {
		const piece = toText(part);
		if (piece === null) return;
		const open = this.#opened(piece.kind);
		// After a gap, the rest comes with the complete text.
		if ((offset ?? open.length) !== open.length) return;
		this.#add(open, piece.text);
	}

	#completePart(part: { readonly type: string }): void {
		const whole = toText(part);
		if (whole === null) return;
		const open = this.#opened(whole.kind);
		this.#add(open, whole.text.slice(open.length));
		this.#close();
	}

	#opened(kind: Kind): { readonly kind: Kind; readonly id: string; length: number } {
		if (this.#open?.kind === kind) return this.#open;
		this.#close();
		this.#count += 1;
		const open = { kind, id: `${kind}-${this.#count}`, length: 0 };
		this.#open = open;
		this.#write({ type: `${kind}-start`, id: open.id });
		return open;
	}

	#add(open: { readonly kind: Kind; readonly id: string; length: number }, text: string): void {
		if (text === "") return;
		open.length += text.length;
		this.#write({ type: `${open.kind}-delta`, id: open.id, delta: text });
	}

	#close(): void {
		if (this.#open !== null) this.#write({ type: `${this.#open.kind}-end`, id: this.#open.id });
		this.#open = null;
	}

	/** A call becomes part of the message when it starts, asks for approval, or has failed. */
	#showCall(toolCallId: string): void {
		const call = this.#calls.get(toolCallId);
		if (call === undefined || this.#shown.has(toolCallId)) return;
		this.#close();
		this.#shown.add(toolCallId);
		this.#write({ type: "tool-input-available", ...tool(toolCallId, call.name), input: toInput(call.arguments) });
	}

	#preview(toolCallId: string, text: string): void {
		const output = (this.#previews.get(toolCallId) ?? "") + text;
		if (!this.#shown.has(toolCallId) || output.length > previewLimit) return;
		this.#previews.set(toolCallId, output);
		this.#write({ type: "tool-output-available", ...ran(toolCallId), output, preliminary: true });
	}

	#showResult(
		toolCallId: string,
		result: { readonly is_error: boolean; readonly output: string | readonly object[]; readonly message: string },
	): void {
		this.#showCall(toolCallId);
		this.#running.delete(toolCallId);
		this.#previews.delete(toolCallId);
		if (this.#denied.has(toolCallId)) {
			this.#write({ type: "tool-output-denied", toolCallId });
			return;
		}
		const { is_error: isError, output, message } = result;
		const shown = output === "" || output.length === 0 ? message : output;
		if (!isError) this.#write({ type: "tool-output-available", ...ran(toolCallId), output: shown });
		else {
			const errorText = typeof shown === "string" ? shown : JSON.stringify(shown);
			this.#write({ type: "tool-output-error", ...ran(toolCallId), errorText });
		}
	}

	#takeRequest(interaction: Extract<PublicEvent, { type: "interaction.requested" }>["interaction"]): void {
		if (interaction.kind === "approval") {
			const { id, toolCallId, description } = interaction;
			this.#showCall(toolCallId);
			if (!this.#shown.has(toolCallId)) return;
			this.#approvals.set(id, toolCallId);
			this.#write({ type: "tool-approval-request", approvalId: id, toolCallId, reason: description });
		} else if (interaction.kind === "question") {
			const { id, questions } = interaction;
			this.#write({ type: "data-agentwire-question", id, data: { interactionId: id, questions } });
		}
	}

	#takeAnswer(interactionId: string, answer: Extract<PublicEvent, { type: "interaction.resolved" }>["answer"]): void {
		const toolCallId = this.#approvals.get(interactionId);
		if (toolCallId === undefined || answer.kind !== "approval") return;
		this.#approvals.delete(interactionId);
		const approved = answer.decision !== "reject";
		if (!approved) this.#denied.add(toolCallId);
		this.#write({ type: "tool-approval-response", approvalId: interactionId, approved });
	}

	#takeEnd(outcome: Extract<PublicEvent, { type: "turn.ended" }>["outcome"]): void {
		const status = outcome?.status ?? "failed";
		if (status === "cancelled") {
			this.#end([{ type: "abort" }]);
			return;
		}
		const messageMetadata = this.#metadata();
		const end = { type: "finish", finishReason: finishReasons[status], messageMetadata };
		const failure = outcome?.status === "failed" ? outcome.error.message : null;
		this.#end(failure === null ? [end] : [{ type: "error", errorText: failure }, end]);
	}

	#end(last: readonly ChatChunk[]): void {
		this.#close();
		if (this.#isInStep) this.#write({ type: "finish-step" });
		for (const chunk of last) this.#write(chunk);
		this.#isOver = true;
	}

	/** Data for later requests about this message; the browser sends it back with the message. */
	#metadata() {
		return { turnId: this.#turnId, cursor: this.#cursor };
	}
}

function tool(toolCallId: string, toolName: string) {
	return { toolCallId, toolName, dynamic: true, providerExecuted: true };
}

function ran(toolCallId: string) {
	return { toolCallId, dynamic: true, providerExecuted: true };
}

function toText(part: { readonly type: string }): { readonly kind: Kind; readonly text: string } | null {
	if (part.type === "text" && "text" in part) return { kind: "text", text: String(part.text) };
	if (part.type === "think" && "think" in part) return { kind: "reasoning", text: String(part.think) };
	return null;
}

/** The parsed arguments; invalid JSON stays text. */
function toInput(text: string | null): unknown {
	if (text === null || text.trim() === "") return {};
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}
