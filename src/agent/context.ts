// The conversation a model sees, and the log that keeps it. Holds no file: rows go to the ContextLog.
import { toParts, type UserInput } from "../events/content.ts";
import type { ContextRow, ConversationMessage } from "../events/conversation.ts";

/** Where the rows of a context are kept. Rows are on disk when the promise resolves. */
export interface ContextLog {
	appendContext(rows: readonly ContextRow[]): Promise<void>;
}

export class Context {
	readonly systemPrompt: string;
	readonly #log: ContextLog;
	readonly #messages: ConversationMessage[] = [];
	#tokenCount = 0;
	#nextCheckpoint = 0;

	/** Restores a context from its rows. `systemPrompt` is used when no row has one. */
	constructor(log: ContextLog, rows: readonly ContextRow[], systemPrompt: string) {
		this.#log = log;
		let restored: string | null = null;
		for (const row of rows) {
			if (row.type === "system-prompt") restored = row.content;
			else this.#take(row);
		}
		this.systemPrompt = restored ?? systemPrompt;
	}

	/** Tokens of the context as last reported by the provider, kept over restarts. */
	get tokenCount(): number {
		return this.#tokenCount;
	}

	get messages(): readonly ConversationMessage[] {
		return this.#messages;
	}

	async append(rows: readonly ContextRow[]): Promise<void> {
		await this.#log.appendContext(rows);
		for (const row of rows) this.#take(row);
	}

	/** Appends a mark to which the context could be reverted. */
	checkpoint(): Promise<void> {
		return this.append([this.checkpointRow()]);
	}

	checkpointRow(): ContextRow {
		return { type: "checkpoint", id: this.#nextCheckpoint };
	}

	/** The history for a request: adjacent user messages are merged, notifications never. */
	requestMessages(): ConversationMessage[] {
		const merged: ConversationMessage[] = [];
		for (const message of this.#messages) {
			const last = merged.at(-1);
			if (last !== undefined && isMergeable(last) && isMergeable(message)) {
				merged[merged.length - 1] = { ...last, content: [...last.content, ...message.content] };
			} else merged.push(message);
		}
		return merged;
	}

	#take(row: ContextRow): void {
		switch (row.type) {
			case "system-prompt":
				return;
			case "checkpoint":
				this.#nextCheckpoint = row.id + 1;
				return;
			case "usage":
				this.#tokenCount = row.tokenCount;
				return;
			case "message":
				this.#messages.push(row.message);
				return;
		}
	}
}

function isMergeable(message: ConversationMessage): boolean {
	const first = message.content[0];
	return message.role === "user" && !(first?.type === "text" && first.text.startsWith("<notification "));
}

export function userRow(input: UserInput): ContextRow {
	return { type: "message", message: { role: "user", content: toParts(input) } };
}

export function messageRow(message: ConversationMessage): ContextRow {
	return { type: "message", message };
}
