// The clients attached to a session: their tools, hooks and capabilities, and the feeds that deliver events to them.

import type { AgentEvent } from "../../events/event.ts";
import type { ClientCapability } from "../../tools/tool.ts";
import type { Attachment, AttachOptions } from "../api.ts";
import type { HookClients } from "../turn/hook-runner.ts";
import type { Emitter } from "./emitter.ts";
import { EventFeed } from "./event-feed.ts";

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
