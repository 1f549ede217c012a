import type { Attachment } from "../../api/kernel.ts";
import type { AttachOptions, ClientCapability } from "../../api/session-options.ts";
import type { AttachedClient, SessionSnapshot } from "../../api/session-state.ts";
import type { Cursor, EventBody } from "../../api/values/event.ts";
import type { ClientHook } from "../../api/values/hooks/hook.ts";
import type { Interaction } from "../../api/values/interaction.ts";
import type { Tool } from "../../core/tools/tool.ts";
import type { StoredSession } from "../../ports/store/session-store.ts";
import type { HookClients } from "../turn/hook-runner.ts";
import type { ToolClient } from "../turn/tool-box.ts";
import type { CheckedTools } from "./client-tools.ts";
import { type Emitter, outsideTurns } from "./emitter.ts";
import { EventFeed, type FeedSource } from "./event-feed.ts";

export interface Client {
	readonly options: AttachOptions;
	readonly tools: ReadonlyMap<string, Tool>;
	readonly hooks: readonly ClientHook[] | null;
	readonly feed: EventFeed;
}

export class Clients {
	readonly #emitter: Emitter;
	readonly #stored: Pick<StoredSession, "cursor">;
	readonly #source: FeedSource;
	readonly #clients = new Map<string, Client>();
	#attachments = 0;
	#isOver = false;
	#onGone = () => {};

	constructor(emitter: Emitter, stored: Pick<StoredSession, "cursor" | "events">) {
		this.#emitter = emitter;
		this.#stored = stored;
		this.#source = {
			read: (after) => stored.events(after),
			delivered: () => emitter.delivered,
			left: () => emitter.left,
		};
	}

	/** Calls the listener when a client has detached, or reattached with different capabilities. */
	onGone(listener: () => void): void {
		this.#onGone = listener;
	}

	get any(): boolean {
		return this.#clients.size > 0;
	}

	get canApprove(): boolean {
		return this.attached().some(({ approves }) => approves !== false);
	}

	/** Whether any client expects approval requests for every command. */
	get expectQuestions(): boolean {
		return this.attached().some(({ expectsQuestions }) => expectsQuestions === true);
	}

	/** Whether a client reviews plans through approvals because none answers questions. */
	get reviewsByApproval(): boolean {
		if (this.can("questions")) return false;
		return this.attached().some(
			({ approves, capabilities }) => approves !== false && capabilities.includes("plan-mode"),
		);
	}

	get wantsProgress(): boolean {
		for (const { options } of this.#clients.values()) if (options.wantsProgress === true) return true;
		return false;
	}

	attached(): readonly AttachOptions[] {
		return [...this.#clients.values()].map(({ options }) => options);
	}

	/** What attached clients provide to tools, in order of attachment. */
	toolClients(): readonly ToolClient[] {
		return [...this.#clients.values()].map(({ options, tools }) => ({ tools, capabilities: options.capabilities }));
	}

	can(capability: ClientCapability): boolean {
		return this.attached().some(({ capabilities }) => capabilities.includes(capability));
	}

	hooks(): HookClients {
		const declared = [...this.#clients.values()].flatMap(({ hooks }) => (hooks === null ? [] : [hooks]));
		return { hooks: declared.flat(), areAnnounced: declared.length > 0 };
	}

	name(): string | null {
		const client = this.attached().at(-1)?.client ?? null;
		if (client === null) return null;
		return client.version === null ? client.name : `${client.name} ${client.version}`;
	}

	nameOf(clientId: string | null): string | null {
		return clientId === null ? null : (this.#clients.get(clientId)?.options.client?.name ?? null);
	}

	present(): readonly AttachedClient[] {
		return [...this.#clients].map(([clientId, { options }]) => toPresence(clientId, options));
	}

	ableToAnswer(interaction: Interaction): readonly string[] {
		return [...this.#clients].filter(([id, client]) => isAble(id, client, interaction)).map(([id]) => id);
	}

	attach(options: AttachOptions, { tools, rejected }: CheckedTools, snapshot: SessionSnapshot): Attachment {
		const earlier = options.replaces === undefined ? undefined : this.#clients.get(options.replaces);
		const id = (earlier === undefined ? undefined : options.replaces) ?? this.#nextId();
		const now = this.#emitter.delivered;
		const wanted = this.#toNumber(options.after, now);
		const { flow = "blocking", wantsProgress = false } = options;
		const feed = new EventFeed({ flow, after: wanted ?? 0, source: this.#source, wantsProgress });
		const presence = toPresence(id, options);
		if (earlier === undefined) this.#announce({ type: "client.attached", ...presence });
		else this.#dropFeed(earlier);
		const hooks = options.hooks?.map((hook) => ({ ...hook, clientId: id })) ?? null;
		this.#clients.set(id, { options, tools, hooks, feed });
		// The client may have lost the capability to answer pending interactions.
		if (earlier !== undefined) this.#onGone();
		this.#emitter.add(feed);
		if (wanted === null) feed.announce(this.#emitter.stamp(outsideTurns, { type: "session.reset" }));
		if (this.#isOver) feed.end();
		return {
			id,
			snapshot,
			tools: { accepted: [...tools.keys()], rejected },
			events: feed,
			drained: () => feed.drained(),
			close: () => this.#detach(id, feed),
		};
	}

	/** Ends every client feed after the events already delivered. Clients that attach later get no new events. */
	end(): void {
		this.#isOver = true;
		for (const { feed } of this.#clients.values()) feed.end();
	}

	/** Returns the event number to continue after, or null for a cursor from another history. */
	#toNumber(after: Cursor | undefined, now: number): number | null {
		if (after === undefined) return now;
		return after.epoch === this.#stored.cursor().epoch && after.seq <= now ? after.seq : null;
	}

	#nextId(): string {
		this.#attachments += 1;
		return `client-${this.#attachments}`;
	}

	/** The feed still delivers its queued events. */
	#dropFeed({ feed }: Client): void {
		feed.end();
		this.#emitter.remove(feed);
	}

	#detach(id: string, feed: EventFeed): void {
		const client = this.#clients.get(id);
		// The same client may have attached again.
		if (client?.feed !== feed) return;
		this.#dropFeed(client);
		this.#clients.delete(id);
		this.#announce({ type: "client.detached", ...toPresence(id, client.options) });
		this.#onGone();
	}

	/** Clients may come and go without limit: a client that does not read gets a snapshot instead. */
	#announce(body: EventBody): void {
		if (!this.any) return;
		const event = this.#emitter.stamp(outsideTurns, body);
		for (const { feed } of this.#clients.values()) if (!feed.isFull()) feed.push(event);
	}
}

function toPresence(clientId: string, { client }: AttachOptions): AttachedClient {
	return { clientId, name: client?.name ?? null, version: client?.version ?? null };
}

function isAble(clientId: string, { options, tools }: Client, interaction: Interaction): boolean {
	switch (interaction.kind) {
		case "approval":
			return options.approves !== false;
		case "client-tool":
			return tools.has(interaction.name);
		case "question":
			return options.capabilities.includes("questions");
		case "hook":
			return interaction.clientId === clientId;
	}
}
