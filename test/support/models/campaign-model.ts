// A model that answers only what a test makes it answer, and that checks the messages of every request.
import type { HistoryEntry } from "../../../src/api/values/conversation.ts";
import { type Model, type ModelChunk, type ModelFailure, modelFailure } from "../../../src/core/models/model.ts";

/** One thing the model does next. `break` ends the stream without a last chunk. */
export type ModelMove =
	| { readonly kind: "say"; readonly text: string }
	| { readonly kind: "think"; readonly text: string }
	| { readonly kind: "call"; readonly id: string; readonly name: string; readonly arguments: string | null }
	| { readonly kind: "fragment"; readonly text: string }
	| { readonly kind: "done"; readonly counted: boolean }
	| { readonly kind: "fail"; readonly failure: ModelFailure["kind"]; readonly status: number | null }
	| { readonly kind: "break" };

export interface GatedModel {
	readonly model: Model;
	/** Queues moves for this and later requests. */
	push(moves: readonly ModelMove[]): void;
	/** Forgets what is queued and answers every request at once with one word, until closed again. */
	open(): void;
	close(): void;
	/** Counts requests and moves: a sign of life. */
	activity(): number;
	/** Whether a request waits for its answer. */
	isWaiting(): boolean;
	/** What was wrong with the conversations it was shown. */
	readonly complaints: readonly string[];
}

export function createGatedModel(): GatedModel {
	const complaints: string[] = [];
	let queue: ModelMove[] = [];
	let isOpen = false;
	let activity = 0;
	/** Who is in the middle of an answer: moves are not dealt out between the answers of several agents. */
	let speaker: symbol | null = null;
	const waiters = new Set<() => void>();
	const wake = () => {
		for (const waiter of [...waiters]) waiter();
	};
	const moved = (signal: AbortSignal) =>
		new Promise<void>((resolve) => {
			const finish = () => {
				waiters.delete(finish);
				signal.removeEventListener("abort", finish);
				resolve();
			};
			waiters.add(finish);
			signal.addEventListener("abort", finish, { once: true });
		});

	async function* stream(messages: readonly HistoryEntry[], signal: AbortSignal): AsyncGenerator<ModelChunk> {
		activity += 1;
		const complaint = whatIsIllegal(messages);
		if (complaint !== null) complaints.push(complaint);
		const self = Symbol();
		const fallSilent = () => {
			if (speaker === self) speaker = null;
			wake();
		};
		signal.addEventListener("abort", fallSilent, { once: true });
		try {
			while (!signal.aborted) {
				const move = speaker === null || speaker === self ? (queue.shift() ?? null) : null;
				if (move === null && !isOpen) {
					await moved(signal);
					continue;
				}
				activity += 1;
				if (move === null) {
					yield { type: "parts", parts: [{ type: "text", text: "Well." }] };
					if (!signal.aborted) yield { type: "done", usage: null, messageId: null };
					return;
				}
				speaker = self;
				if (move.kind === "break") return;
				const chunk = toChunk(move);
				yield chunk;
				if (chunk.type !== "parts") return;
			}
		} finally {
			signal.removeEventListener("abort", fallSilent);
			fallSilent();
		}
	}

	return {
		model: {
			name: "gated",
			maxContextSize: 100_000,
			capabilities: new Set(),
			stream: ({ messages }, signal) => stream(messages, signal),
		},
		push(moves) {
			queue.push(...moves);
			wake();
		},
		open() {
			queue = [];
			isOpen = true;
			wake();
		},
		close() {
			isOpen = false;
		},
		activity: () => activity,
		isWaiting: () => waiters.size > 0,
		complaints,
	};
}

function toChunk(move: Exclude<ModelMove, { kind: "break" }>): ModelChunk {
	switch (move.kind) {
		case "say":
			return { type: "parts", parts: [{ type: "text", text: move.text }] };
		case "think":
			return { type: "parts", parts: [{ type: "think", think: move.text, encrypted: null }] };
		case "call": {
			const call = { name: move.name, arguments: move.arguments };
			return { type: "parts", parts: [{ type: "function", id: move.id, function: call, extras: null }] };
		}
		case "fragment":
			return { type: "parts", parts: [{ type: "tool_call_part", arguments_part: move.text }] };
		case "done": {
			const usage = { input_other: 10, output: 5, input_cache_read: 0, input_cache_creation: 0 };
			return { type: "done", usage: move.counted ? usage : null, messageId: null };
		}
		case "fail":
			return modelFailure(move.failure, "told to fail", move.status);
	}
}

/** Why a provider would refuse these messages: every tool call needs one result, in order, right after it. */
export function whatIsIllegal(messages: readonly HistoryEntry[]): string | null {
	let expected: string[] = [];
	for (const [index, message] of messages.entries()) {
		if (message.role === "tool") {
			const awaited = expected.shift();
			if (message.toolCallId !== awaited) {
				return `message ${index} is the result of ${message.toolCallId}, where that of ${awaited ?? "none"} is due`;
			}
			continue;
		}
		if (expected.length > 0) return `message ${index} comes before the result of ${expected[0]}`;
		if (message.role === "assistant") expected = (message.toolCalls ?? []).map(({ id }) => id);
	}
	return expected.length > 0 ? `the result of ${expected[0]} is missing at the end` : null;
}
