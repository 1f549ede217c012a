// The clients attached to a session: what they bring, what they can do, and the feeds that tell them of events.
import type { AgentEvent } from "../../events/event.ts";
import type { ClientHook } from "../../hooks/hook.ts";
import type { ClientCapability, Tool } from "../../tools/tool.ts";
import type { HookClients } from "../turn/hook-runner.ts";
import type { Emitter } from "./emitter.ts";
import { EventFeed } from "./event-feed.ts";

/** What a client brings when it attaches. */
export interface AttachOptions {
	readonly client: { readonly name: string; readonly version: string | null } | null;
	/** Its tools, as the session's `checkTools` gave them. */
	readonly tools: ReadonlyMap<string, Tool>;
	readonly capabilities: readonly ClientCapability[];
	/** Whether it gives approvals; absent for one that does. */
	readonly approves?: boolean;
	/** The hooks it wants to decide; null for a client that was never told of hooks. */
	readonly hooks: readonly ClientHook[] | null;
}

/** A client's hold on a session. Open asks are told again at its beginning. */
export interface Attachment {
	/** Batches of events, so that one write can serve many. Ends after `close` and when the session closes. */
	readonly events: AsyncIterable<readonly AgentEvent[]>;
	/** Resolves once the events told so far have been taken and dealt with. */
	drained(): Promise<void>;
	/** The client is gone. */
	close(): void;
}

export class Clients {
	readonly #emitter: Emitter;
	readonly #onLastGone: () => void;
	readonly #feeds = new Map<EventFeed, AttachOptions>();
	#isOver = false;

	/** `onLastGone` is called whenever the last client goes. */
	constructor(emitter: Emitter, onLastGone: () => void) {
		this.#emitter = emitter;
		this.#onLastGone = onLastGone;
	}

	get any(): boolean {
		return this.#feeds.size > 0;
	}

	/** Whether any client gives approvals. */
	get canApprove(): boolean {
		return this.attached().some(({ approves }) => approves !== false);
	}

	/** What the attached clients brought, the latest last. */
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

	/** Name and version of the client that attached last, for requests that name it. */
	name(): string | null {
		const client = this.attached().at(-1)?.client ?? null;
		if (client === null) return null;
		return client.version === null ? client.name : `${client.name} ${client.version}`;
	}

	/** `earlier` is what the client is told before anything else. */
	attach(options: AttachOptions, earlier: readonly AgentEvent[]): Attachment {
		const feed = new EventFeed();
		this.#feeds.set(feed, options);
		this.#emitter.add(feed);
		for (const event of earlier) feed.push(event);
		if (this.#isOver) feed.end();
		return { events: feed, drained: () => feed.drained(), close: () => this.#detach(feed) };
	}

	/** Ends what every client is told, after what it was told already; whoever comes later is told nothing new. */
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
