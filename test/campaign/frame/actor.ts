// The client of an interleaving, whatever the dialect: sends requests, answers those of the server, stops reading for a while,
// and has the transcript of both directions.
import { isRecord } from "../../../src/base/json.ts";
import type { MemoryClient } from "../../../src/ports/transports/memory.ts";
import type { Fields } from "./life.ts";

export interface Entry {
	readonly from: "client" | "server" | "note";
	readonly message: Fields;
	readonly text: string;
}

/** A request that the client sent. */
export interface Sent {
	readonly id: string;
	/** What the dialect's rules call it, which is the method but where one method is for several things. */
	readonly method: string;
	readonly params: Fields;
	/** Index into the transcript. */
	readonly at: number;
	/** Whether the server was at rest and nothing unread when it was sent. */
	readonly atRest: boolean;
	response: { readonly at: number; readonly message: Fields } | null;
}

/** A request of the server's, and what the client did about it. */
export interface Interaction<How extends string> {
	readonly id: string;
	/** The method, or the type where there is one method for all. */
	readonly type: string;
	readonly params: Fields;
	readonly at: number;
	/** The first answer that counts, and whether the server was at rest then. */
	answer: { readonly how: How; readonly atRest: boolean; readonly at: number } | null;
}

const marks = { client: "→", server: "←", note: "·" } as const;
/** Characters of a line that are shown. */
const shownLength = 400;

export abstract class Actor<How extends string> {
	readonly transcript: Entry[] = [];
	readonly sent: Sent[] = [];
	readonly interactions: Interaction<How>[] = [];
	/** What no protocol of requests and responses allows. */
	readonly faults: string[] = [];
	received = 0;
	/** Whether everything that could happen had happened when the last action was over. */
	atRest = true;
	isGone = false;
	/** Where in the transcript time last passed, and where the input ended. */
	timePassedAt = 0;
	endsAt = Number.POSITIVE_INFINITY;
	readonly #wire: MemoryClient;
	#isPaused = false;

	constructor(wire: MemoryClient) {
		this.#wire = wire;
		void this.#read();
	}

	/** How an answer is written; null for what cannot be answered so. */
	protected abstract toReply(interaction: Interaction<How>, how: How): Fields;
	/** Whether an answer is not usable at all and leaves the request open. */
	protected abstract isIgnored(interaction: Interaction<How>, how: How): boolean;
	/** Whether a request of the server's is open no more although nobody answered it, as far as was read. */
	protected abstract isSettled(interaction: Interaction<How>): boolean;
	/** The type and the params of a request of the server's. */
	protected abstract readInteraction(message: Fields): { readonly type: string; readonly params: Fields };
	/** Takes a response or an event: what it says of sessions and turns. */
	protected abstract take(message: Fields, at: number, sent: Sent | null): void;
	/** What is wrong with a response to no request; null for nothing. */
	protected abstract checkStray(message: Fields): string | null;

	/** Whether the server was asked to send earlier requests again. */
	protected mayRepeatRequests(): boolean {
		return false;
	}

	get isPaused(): boolean {
		return this.#isPaused;
	}

	/** Whether the server is at rest and nothing of what it said is unread. */
	protected get isQuiet(): boolean {
		return this.atRest && !this.#isPaused;
	}

	note(text: string): void {
		this.transcript.push({ from: "note", message: {}, text });
	}

	pause(): void {
		this.note("the client stops reading");
		this.#isPaused = true;
		this.#wire.pause();
	}

	resume(): void {
		this.note("the client reads again");
		this.#isPaused = false;
		this.#wire.resume();
	}

	endInput(): void {
		this.note("the input ends");
		this.endsAt = this.transcript.length;
		this.#wire.end();
	}

	disconnect(): void {
		this.note("the client is gone");
		this.isGone = true;
		this.endsAt = this.transcript.length;
		this.#wire.disconnect();
	}

	/** Sends a request, whose id begins with `name`. */
	request(method: string, params: Fields | undefined, name = method, atRest = this.isQuiet): Sent {
		const id = `${name}-${this.sent.length + 1}`;
		const at = this.transcript.length;
		const sent: Sent = { id, method: name, params: params ?? {}, at, atRest, response: null };
		this.sent.push(sent);
		this.#write({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
		return sent;
	}

	/** Sends what has no response. */
	notify(method: string, params: Fields): void {
		this.#write({ jsonrpc: "2.0", method, params });
	}

	unanswered(method: string | null = null): readonly Sent[] {
		return this.sent.filter((sent) => (method === null || sent.method === method) && sent.response === null);
	}

	openInteractions(): readonly Interaction<How>[] {
		return this.interactions.filter((one) => one.answer === null && !this.isSettled(one));
	}

	/** Answers the n-th interaction, counted round: an open one, or one that was answered or settled before. */
	answerNth(which: number, how: How, isLate: boolean): void {
		const open = this.openInteractions();
		const among = isLate ? this.interactions.filter((one) => !open.includes(one)) : open;
		const interaction = among[which % Math.max(1, among.length)];
		if (interaction !== undefined) this.answer(interaction, how);
	}

	answer(interaction: Interaction<How>, how: How): void {
		const reply = this.toReply(interaction, how);
		if (!this.isIgnored(interaction, how)) {
			interaction.answer ??= { how, atRest: this.isQuiet, at: this.transcript.length };
		}
		this.#write(reply);
	}

	/** The transcript, line by line. */
	describe(): readonly string[] {
		return this.transcript.map(({ from, text }, index) => `${String(index).padStart(3)} ${marks[from]} ${text}`);
	}

	#write(message: Fields): void {
		const text = JSON.stringify(message);
		this.transcript.push({ from: "client", message, text });
		// Depth that a text cannot show is written by hand.
		this.#wire.write(`${text.replace('"<deep>"', `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`)}\n`);
	}

	async #read(): Promise<void> {
		for (let line = await this.#wire.read(); line !== null; line = await this.#wire.read()) {
			this.received += 1;
			const message: unknown = JSON.parse(line);
			if (!isRecord(message)) {
				this.faults.push(`no message: ${line}`);
				continue;
			}
			const at = this.transcript.length;
			const text = line.length > shownLength ? `${line.slice(0, shownLength)}…` : line;
			this.transcript.push({ from: "server", message, text });
			if (!("method" in message)) this.#takeResponse(message, at);
			else if ("id" in message) this.#takeRequest(message, at);
			else this.take(message, at, null);
		}
	}

	/** One response per request; none for anything else, but for lines that were no messages. */
	#takeResponse(message: Fields, at: number): void {
		const sent = this.sent.find(({ id }) => id === message["id"]) ?? null;
		if (sent === null) {
			const fault = this.checkStray(message);
			if (fault !== null) this.faults.push(`${fault} at ${at}`);
			return;
		}
		if (sent.response !== null) this.faults.push(`a second response to ${sent.id} at ${at}`);
		sent.response ??= { at, message };
		this.take(message, at, sent);
	}

	#takeRequest(message: Fields, at: number): void {
		const { id } = message;
		const isKnown = this.interactions.some((earlier) => earlier.id === id);
		if (isKnown && !this.mayRepeatRequests()) this.faults.push(`requested twice under ${id} at ${at}`);
		this.interactions.push({ id: String(id), ...this.readInteraction(message), at, answer: null });
		this.take(message, at, null);
	}
}
