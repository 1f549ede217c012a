import type { MessageHistory } from "../../api/session-state.ts";
import type { ContextRow, HistoryEntry } from "../../api/values/conversation.ts";
import type { EventBody } from "../../api/values/event.ts";
import { Context, type ContextLog } from "../../core/agent/context.ts";
import type { StoredSession } from "../../ports/store/session-store.ts";
import type { AgentNotice } from "../background/notifications.ts";
import type { ChosenModel } from "../session/session-model.ts";
import type { OpenMailbox } from "./mailbox.ts";
import { type CrashNotice, createRecovery } from "./recovery.ts";
import type { Reminders } from "./reminders.ts";
import type { Agent } from "./turn-dependencies.ts";

export interface MainAgentSettings {
	readonly stored: StoredSession;
	chosen(): ChosenModel;
	equip(chosen: ChosenModel): Promise<Pick<Agent, "tools"> & { readonly mailbox: OpenMailbox | null }>;
	systemPrompt(): Promise<string>;
	readonly reminders: Reminders;
	emit(body: EventBody): Promise<void> | undefined;
	notices(messages: readonly HistoryEntry[]): Promise<readonly AgentNotice[]>;
	compactionNotes(): Promise<readonly string[]>;
	persisted<T>(work: Promise<T>): Promise<T>;
}

export class MainAgent {
	readonly #settings: MainAgentSettings;
	#agent: Agent | null = null;
	#openedWith: ChosenModel | null = null;
	#loading: Promise<Agent> | null = null;
	#recovery: ReturnType<typeof createRecovery> | null = null;
	#notice: CrashNotice | null = null;

	constructor(settings: MainAgentSettings) {
		this.#settings = settings;
	}

	/** Concurrent callers share one attempt; after a failure the next call retries. */
	load(chosen: ChosenModel = this.#settings.chosen()): Promise<Agent> {
		this.#loading ??= this.#make(chosen).catch((thrown: unknown) => {
			this.#loading = null;
			throw thrown;
		});
		return chosen === this.#openedWith ? this.#loading : this.#loading.then((agent) => this.#withModel(agent, chosen));
	}

	async #withModel(agent: Agent, chosen: ChosenModel): Promise<Agent> {
		const { model, unsetModelAlias } = chosen;
		return { ...agent, model, unsetModelAlias, ...(await this.#settings.equip(chosen)) };
	}

	forget(): void {
		this.#agent = null;
		this.#openedWith = null;
		this.#loading = null;
		this.#recovery = null;
		this.#notice = null;
	}

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

	rows(): readonly ContextRow[] {
		if (this.#agent === null) return this.#settings.stored.contextRows;
		const { rows, systemPrompt } = this.#agent.context;
		// A new session's prompt was stored before its rows.
		const hasPrompt = rows.some((row) => row.type === "system-prompt");
		return hasPrompt ? rows : [{ type: "system-prompt", content: systemPrompt }, ...rows];
	}

	/** The crash report for the user; returned once. */
	takeNotice(): CrashNotice | null {
		const notice = this.#notice;
		this.#notice = null;
		return notice;
	}

	async #make(chosen: ChosenModel): Promise<Agent> {
		if (this.#agent === null) {
			this.#openedWith = chosen;
			this.#agent = await this.#open(chosen);
		}
		this.#notice = await this.#recover(this.#agent);
		return this.#agent;
	}

	#recover({ context }: Agent): Promise<CrashNotice | null> {
		const { stored, emit, persisted } = this.#settings;
		this.#recovery ??= createRecovery(stored, context, emit);
		return persisted(this.#recovery());
	}

	async #open(chosen: ChosenModel): Promise<Agent> {
		const { stored, systemPrompt, persisted } = this.#settings;
		// Before any write, because the next attempt must not repeat writes.
		const equipment = await this.#settings.equip(chosen);
		const hasPrompt = stored.contextRows.some((row) => row.type === "system-prompt");
		const content = hasPrompt ? "" : await systemPrompt();
		if (!hasPrompt) await stored.commit({ context: { kind: "append", rows: [{ type: "system-prompt", content }] } });
		const log: ContextLog = {
			change: (context, options) => persisted(stored.commit({ context }, options)),
		};
		const context = new Context(log, stored.contextRows, content);
		equipment.mailbox?.open(() => context.checkpointCount);
		const { reminders, compactionNotes } = this.#settings;
		const { model, unsetModelAlias } = chosen;
		const notices = () => this.#settings.notices(context.messages);
		return { path: [], model, unsetModelAlias, context, ...equipment, reminders, notices, compactionNotes };
	}
}
