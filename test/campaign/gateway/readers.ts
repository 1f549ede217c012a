// The oracle of streams: what a reader was sent, over all its connections, is the history, each event once and in order.
import { isDeepStrictEqual } from "node:util";
import type { CampaignClient, Fields, OpenStream } from "./client.ts";

export class Reader {
	readonly events: Fields[] = [];
	#cursor: string | null = null;
	#stream: OpenStream | null = null;
	#onEvent = () => {};

	/** Connects where it was. */
	async connect(client: CampaignClient, sessionId: string): Promise<void> {
		this.#stream = await client.stream(sessionId, this.#cursor, (event, id) => {
			this.events.push(event);
			this.#cursor = id;
			this.#onEvent();
		});
		const cursor = await this.#stream.begun;
		this.#cursor ??= cursor;
	}

	/** What a cut connection still holds is not read. */
	cut(): void {
		this.#stream?.cut();
	}

	pause(): void {
		this.#stream?.pause();
	}

	resume(): void {
		this.#stream?.resume();
	}

	/** Resolves when it has an event that fits, or did not get one in time. */
	until(fits: (event: Fields) => boolean, milliseconds: number): Promise<boolean> {
		if (this.events.some(fits)) return Promise.resolve(true);
		return new Promise((resolve) => {
			const timer = setTimeout(() => resolve(false), milliseconds);
			this.#onEvent = () => {
				if (!this.events.some(fits)) return;
				clearTimeout(timer);
				resolve(true);
			};
		});
	}

	/** How what it has differs from the history; null for not at all. */
	differs(history: readonly Fields[]): string | null {
		for (const [index, event] of history.entries()) {
			const own = this.events[index];
			if (own === undefined) return `event ${index + 1} of ${history.length} is missing`;
			if (!isDeepStrictEqual(own, event))
				return `event ${index + 1} is ${JSON.stringify(own)}, not ${JSON.stringify(event)}`;
		}
		const more = this.events.length - history.length;
		return more === 0 ? null : `there are ${more} events more than in the history`;
	}
}
