import { type ContentPart, joinTexts, toParts, type UserInput } from "../../api/values/content.ts";
import type { ContextChange, ContextRow, HistoryEntry } from "../../api/values/conversation.ts";

export interface ContextLog {
	/** With `withNext`, resolves early: the change is persisted with or before the next one. */
	change(change: ContextChange, options?: { readonly withNext: boolean }): Promise<unknown>;
}

type MessageRow = Extract<ContextRow, { type: "message" }>;

const charactersPerToken = 4;

export class Context {
	readonly systemPrompt: string;
	readonly #log: ContextLog;
	#rows: ContextRow[] = [];
	#messages: HistoryEntry[] = [];
	#tokenCount = 0;
	#uncounted = 0;
	#nextCheckpoint = 0;

	/** Restores a context from its rows. `systemPrompt` is used if no row has one. */
	constructor(log: ContextLog, rows: readonly ContextRow[], systemPrompt: string) {
		this.#log = log;
		const restored = rows.findLast((row) => row.type === "system-prompt");
		this.systemPrompt = restored?.content ?? systemPrompt;
		for (const row of rows) this.#take(row);
	}

	/** The token count last reported by the provider; survives restarts. */
	get tokenCount(): number {
		return this.#tokenCount;
	}

	/** tokenCount plus an estimate of later additions. */
	get expectedTokenCount(): number {
		return this.#tokenCount + Math.floor(this.#uncounted / charactersPerToken);
	}

	get rows(): readonly ContextRow[] {
		return this.#rows;
	}

	get messages(): readonly HistoryEntry[] {
		return this.#messages;
	}

	get checkpointCount(): number {
		return this.#nextCheckpoint;
	}

	async append(rows: readonly ContextRow[]): Promise<void> {
		await this.#log.change({ kind: "append", rows });
		for (const row of rows) this.#take(row);
	}

	/** Appends rows that are persisted together with the next change; they must not be visible before that. */
	async appendWithNext(rows: readonly ContextRow[]): Promise<void> {
		await this.#log.change({ kind: "append", rows }, { withNext: true });
		for (const row of rows) this.#take(row);
	}

	/** Replaces everything except the system prompt; checkpoint ids restart at 0. */
	async replace(rows: readonly ContextRow[]): Promise<void> {
		const whole: readonly ContextRow[] = [{ type: "system-prompt", content: this.systemPrompt }, ...rows];
		await this.#log.change({ kind: "replace", rows: whole });
		this.#rows = [];
		this.#messages = [];
		this.#tokenCount = 0;
		this.#uncounted = 0;
		this.#nextCheckpoint = 0;
		for (const row of whole) this.#take(row);
	}

	/** Rewinds the context to just before an existing checkpoint. */
	async revert(checkpoint: number): Promise<void> {
		const end = this.#rows.findLastIndex((row) => row.type === "checkpoint" && row.id === checkpoint);
		const retained = this.#rows.slice(0, Math.max(end, 0));
		await this.replace(retained.filter((row) => row.type !== "system-prompt"));
	}

	checkpointRow(): ContextRow & { readonly type: "checkpoint" } {
		return { type: "checkpoint", id: this.#nextCheckpoint };
	}

	/** The history for a request: adjacent user messages are merged, except notifications. */
	requestMessages(): HistoryEntry[] {
		const merged: HistoryEntry[] = [];
		let content: ContentPart[] | null = null;
		for (const message of this.#messages) {
			const last = merged.at(-1);
			if (last === undefined || !isMergeable(last) || !isMergeable(message)) {
				merged.push(message);
				content = null;
			} else if (content === null) {
				content = [...last.content, ...message.content];
				merged[merged.length - 1] = { ...last, content };
			} else for (const part of message.content) content.push(part);
		}
		return merged;
	}

	#take(row: ContextRow): void {
		this.#rows.push(row);
		switch (row.type) {
			case "system-prompt":
				return;
			case "checkpoint":
				this.#nextCheckpoint = row.id + 1;
				return;
			case "usage":
				this.#tokenCount = row.tokenCount;
				this.#uncounted = 0;
				return;
			case "message":
				this.#messages.push(row.message);
				this.#uncounted += textLength(row.message);
				return;
		}
	}
}

function isMergeable(message: HistoryEntry): boolean {
	const first = message.content[0];
	return message.role === "user" && !(first?.type === "text" && first.text.startsWith("<notification "));
}

function textLength({ content }: HistoryEntry): number {
	return content.reduce((length, part) => length + (part.type === "text" ? part.text.length : 0), 0);
}

export function lastText({ messages }: Pick<Context, "messages">): string {
	const last = messages.findLast(({ role }) => role === "assistant");
	return joinTexts(last?.content ?? [], "").trim();
}

export function estimateTokens(messages: readonly HistoryEntry[]): number {
	const characters = messages.reduce((length, message) => length + textLength(message), 0);
	return Math.floor(characters / charactersPerToken);
}

export function userRow(input: UserInput): MessageRow {
	return { type: "message", message: { role: "user", content: toParts(input) } };
}

export function messageRow(message: HistoryEntry): MessageRow {
	return { type: "message", message };
}
