// The session's own agent: its context is restored or created on first use, and what a crash left in it is repaired.

import { Context, type ContextLog } from "../../agent/context.ts";
import type { HistoryEntry } from "../../events/conversation.ts";
import type { EventBody } from "../../events/event.ts";
import type { Model } from "../../models/model.ts";
import type { StoredSession } from "../../store/session-store.ts";
import type { MessageHistory } from "../api.ts";
import type { AgentNotice } from "../background/notifications.ts";
import type { OpenMailbox } from "./mailbox.ts";
import { type CrashNotice, createRecovery } from "./recovery.ts";
import type { Reminders } from "./reminders.ts";
import type { Agent } from "./turn-dependencies.ts";

export interface MainAgentSettings {
	readonly stored: StoredSession;
	readonly model: Model | null;
	readonly unsetModelAlias: string | null;
	/** Its tools, and its mailbox if it has the tool that sends messages to its past. */
	equip(): Promise<Pick<Agent, "tools"> & { readonly mailbox: OpenMailbox | null }>;
	/** Renders the system prompt of a session that has none yet. */
	systemPrompt(): Promise<string>;
	readonly reminders: Reminders;
	/** Emits an event of this agent, within the turn if one runs. */
	emit(body: EventBody): Promise<void> | undefined;
	notices(messages: readonly HistoryEntry[]): Promise<readonly AgentNotice[]>;
	compactionNotes(): Promise<readonly string[]>;
	persisted<T>(work: Promise<T>): Promise<T>;
}

export class MainAgent {
	readonly #settings: MainAgentSettings;
	#agent: Agent | null = null;
	#loading: Promise<Agent> | null = null;
	#recovery: ReturnType<typeof createRecovery> | null = null;
	#notice: CrashNotice | null = null;

	constructor(settings: MainAgentSettings) {
		this.#settings = settings;
	}

	/** The agent, ready for a turn. Concurrent callers share one attempt; after a failure the next call retries. */
	load(): Promise<Agent> {
		this.#loading ??= this.#make().catch((thrown: unknown) => {
			this.#loading = null;
			throw thrown;
		});
		return this.#loading;
	}

	/** The message history so far: that of the agent if it is loaded, else the stored one. */
	conversation(): MessageHistory {
		if (this.#agent !== null) {
			const { systemPrompt, messages } = this.#agent.context;
			return { systemPrompt, messages };
		}
		const rows = this.#settings.stored.contextRows;
		const prompt = rows.findLast((row) => row.type === "system-prompt");
		return {
			systemPrompt: prompt?.content ?? null,
			messages: rows.flatMap((row) => (row.type === "message" ? [row.message] : [])),
		};
	}

	/** The report of an earlier crash for the person; returned once. */
	takeNotice(): CrashNotice | null {
		const notice = this.#notice;
		this.#notice = null;
		return notice;
	}

	async #make(): Promise<Agent> {
		this.#agent ??= await this.#open();
		this.#notice = await this.#recover(this.#agent);
		return this.#agent;
	}

	#recover({ context }: Agent): Promise<CrashNotice | null> {
		const { stored, emit, persisted } = this.#settings;
		this.#recovery ??= createRecovery(stored, context, emit);
		return persisted(this.#recovery());
	}

	/** A session's system prompt is written once and stored. */
	async #open(): Promise<Agent> {
		const { stored, systemPrompt, persisted } = this.#settings;
		// Before any write: what was written must not be written again by the next attempt.
		const equipment = await this.#settings.equip();
		const hasPrompt = stored.contextRows.some((row) => row.type === "system-prompt");
		const content = hasPrompt ? "" : await systemPrompt();
		if (!hasPrompt) await stored.commit({ context: { kind: "append", rows: [{ type: "system-prompt", content }] } });
		const log: ContextLog = {
			change: (context) => persisted(stored.commit({ context })),
		};
		const context = new Context(log, stored.contextRows, content);
		equipment.mailbox?.open(() => context.checkpointCount);
		const { model, unsetModelAlias, reminders, compactionNotes } = this.#settings;
		const notices = () => this.#settings.notices(context.messages);
		return { path: [], model, unsetModelAlias, context, ...equipment, reminders, notices, compactionNotes };
	}
}
