// What every client of an interleaving keeps: the transcript of both directions, and whether it reads.
import type { MemoryClient } from "../../../src/transports/memory.ts";

export interface Entry {
	readonly from: "client" | "server" | "note";
	readonly message: Readonly<Record<string, unknown>>;
	readonly text: string;
}

export class LivenessWitness {
	readonly transcript: Entry[] = [];
	received = 0;
	/** Whether everything that could happen had happened when the last action was over. */
	atRest = true;
	protected readonly wire: MemoryClient;
	#isPaused = false;

	constructor(wire: MemoryClient) {
		this.wire = wire;
	}

	get isPaused(): boolean {
		return this.#isPaused;
	}

	note(text: string): void {
		this.transcript.push({ from: "note", message: {}, text });
	}

	pause(): void {
		this.note("the client stops reading");
		this.#isPaused = true;
		this.wire.pause();
	}

	resume(): void {
		this.note("the client reads again");
		this.#isPaused = false;
		this.wire.resume();
	}

	/** Whether the server is at rest and nothing of what it said is unread. */
	protected get isQuiet(): boolean {
		return this.atRest && !this.#isPaused;
	}
}
