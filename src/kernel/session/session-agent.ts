// The main agent of a session and its tools: built-in ones, and those of clients and MCP servers.

import { OnFirstUse } from "../../base/on-first-use.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { activeViews } from "../background/task-operations.ts";
import { toCompactionNotes } from "../background/task-view.ts";
import { createMailbox, mailboxOf } from "../turn/mailbox.ts";
import { MainAgent, type MainAgentSettings } from "../turn/main-agent.ts";
import { createAwayReminders, joinReminders, noReminders } from "../turn/reminders.ts";
import { createToolBox, type ToolClient } from "../turn/tool-box.ts";
import { toMediaOperations } from "./operations.ts";
import type { SessionDecisions } from "./session-decisions.ts";
import type { SessionEvents } from "./session-events.ts";
import type { ChosenModel } from "./session-model.ts";
import type { SessionParts } from "./session-parts.ts";
import type { SessionWork } from "./session-work.ts";
import { type SetLoader, ToolServers } from "./tool-servers.ts";

/** What a future client can do for the tools. */
const awaitedClient: ToolClient = { tools: new Map(), capabilities: ["questions", "plan-mode"] };

export class SessionAgent {
	readonly servers: ToolServers | null;
	readonly main: MainAgent;
	readonly #parts: Pick<SessionParts, "createTools">;
	readonly #events: SessionEvents;
	readonly #operations: SessionWork["operations"];
	readonly #mailbox = createMailbox();
	/** Media tools and their descriptions depend on the model. */
	readonly #tools = new WeakMap<ChosenModel, OnFirstUse<readonly Tool[]>>();

	constructor(
		parts: SessionParts,
		events: SessionEvents,
		{ mode, plan, modes }: SessionDecisions,
		{ notifications, background, operations }: SessionWork,
	) {
		const { stored, systemPrompt, remindsOfAbsence, loadServers, mcpServers, clock, log } = parts;
		const { turn, model } = events;
		this.#parts = parts;
		this.#events = events;
		this.#operations = operations;
		this.servers =
			loadServers === null ? null : new ToolServers(this.#serverLoader(loadServers), mcpServers, clock, log);
		this.main = new MainAgent({
			stored,
			chosen: () => model.current,
			equip: (chosen) => this.#equip(chosen),
			systemPrompt: () => systemPrompt(null),
			reminders: joinReminders([plan, modes, remindsOfAbsence ? createAwayReminders(mode) : noReminders]),
			emit: (body) => events.emit(body),
			notices: (messages) => notifications.notices(messages, turn.running?.options.events === undefined),
			compactionNotes: async () => toCompactionNotes(await activeViews(background)),
			persisted: events.persisted,
		});
	}

	tools(chosen: ChosenModel = this.#events.model.current): Promise<readonly Tool[]> {
		const operations = { ...this.#operations, mail: this.#mailbox, media: toMediaOperations(chosen.model) };
		const created = this.#tools.get(chosen) ?? new OnFirstUse(() => this.#parts.createTools(operations));
		this.#tools.set(chosen, created);
		return created.get();
	}

	async #equip(chosen: ChosenModel): ReturnType<MainAgentSettings["equip"]> {
		const builtin = await this.tools(chosen);
		const { clients, isWaiting } = this.#events;
		const tools = createToolBox(
			builtin,
			() => (isWaiting ? [...clients.toolClients(), awaitedClient] : clients.toolClients()),
			() => this.servers?.tools() ?? [],
		);
		return { tools, mailbox: mailboxOf(builtin, this.#mailbox) };
	}

	/** A server's tool replaces no tool of another origin. */
	#serverLoader(load: NonNullable<SessionParts["loadServers"]>): SetLoader {
		return async (settings) => {
			const builtin = await this.tools();
			const isTaken = (name: string) =>
				builtin.some((tool) => tool.name === name) ||
				this.#events.clients.toolClients().some(({ tools }) => tools.has(name));
			return await load({ questions: this.#operations.questions, isTaken }, settings);
		};
	}
}
