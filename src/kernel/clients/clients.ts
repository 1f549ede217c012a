// The clients attached to a session: their tools, hooks and capabilities, and the feeds that deliver events to them.
import type { AgentEvent } from "../../events/event.ts";
import type { ClientHook } from "../../hooks/hook.ts";
import type { ClientCapability, Tool } from "../../tools/tool.ts";
import type { HookClients } from "../turn/hook-runner.ts";
import type { Emitter } from "./emitter.ts";
import { EventFeed } from "./event-feed.ts";

/** What a client provides when it attaches. */
export interface AttachOptions {
	readonly client: { readonly name: string; readonly version: string | null } | null;
	/** Its tools, as the session's `checkTools` returned them. */
	readonly tools: ReadonlyMap<string, Tool>;
	readonly capabilities: readonly ClientCapability[];
	/** Whether the client answers approvals; absent means that it does. */
	readonly approves?: boolean;
	/** The hooks it subscribes to; null for a client whose handshake did not mention hooks. */
	readonly hooks: readonly ClientHook[] | null;
}

/** A client's attachment to a session. It begins with the open interactions, delivered again. */
export interface Attachment {
	/** Batches of events, so that one write can serve many. Ends after `close` and when the session closes. */
	readonly events: AsyncIterable<readonly AgentEvent[]>;
	/** Resolves once the reader has consumed all events delivered so far. */
	drained(): Promise<void>;
	/** Detaches the client. */
	close(): void;
}

export class Clients {
	readonly #emitter: Emitter;
	readonly #onLastGone: () => void;
	readonly #feeds = new Map<EventFeed, AttachOptions>();
	#isOver = false;

	/** `onLastGone` is called when the last client detaches. */
	constructor(emitter: Emitter, onLastGone: () => void) {
		this.#emitter = emitter;
		this.#onLastGone = onLastGone;
	}

	get any(): boolean {
		return this.#feeds.size > 0;
	}

	/** Whether any client answers approvals. */
	get canApprove(): boolean {
		return this.attached().some(({ approves }) => approves !== false);
	}

	/** The options of the attached clients, in the order in which they attached. */
	attached(): readonly AttachOptions[] {
		return [...this.#feeds.values()];
	}

	can(capability: ClientCapability): boolean {
		return this.attached().some(({ capabilities }) => capabilities.includes(capability));
	}

	hooks(): HookClients {
		const declared = this.attached().flatMap(({ hooks }) => (hooks === null ? [] : [hooks]));
		return { hooks: declared.flat(), areAnnounced: declared.length > 0 };
	}

	/** Name and version of the client that attached last, for requests that name the client. */
	name(): string | null {
		const client = this.attached().at(-1)?.client ?? null;
		if (client === null) return null;
		return client.version === null ? client.name : `${client.name} ${client.version}`;
	}

	/** `earlier` is delivered to the client before anything else. */
	attach(options: AttachOptions, earlier: readonly AgentEvent[]): Attachment {
		const feed = new EventFeed();
		this.#feeds.set(feed, options);
		this.#emitter.add(feed);
		for (const event of earlier) feed.push(event);
		if (this.#isOver) feed.end();
		return { events: feed, drained: () => feed.drained(), close: () => this.#detach(feed) };
	}

	/** Ends every client's feed after the events already delivered; clients that attach later get no new events. */
	end(): void {
		this.#isOver = true;
		for (const feed of this.#feeds.keys()) feed.end();
	}

	#detach(feed: EventFeed): void {
		feed.end();
		this.#emitter.remove(feed);
		if (this.#feeds.delete(feed) && !this.any) this.#onLastGone();
	}
}
