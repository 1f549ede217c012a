// A stream of events that is measured. While the answers come it only notes what arrived when: what it means is read afterwards,
// so that reading does not delay what is measured.
import { type IncomingMessage, request } from "node:http";
import { monotonicTime } from "./process.ts";

/** Of the deltas, with their number and the time at which they were written. */
export const deltaMark = /(\d+)@([\d.]+) /g;

interface Carried {
	/** The number of the last stored event. */
	seq: number;
	/** What was streamed, and what was complete in the end. */
	streamed: string;
	whole: string;
	hasEnded: boolean;
}

/** One stream of events, its clock and its oracle. */
export class MeasuredStream {
	readonly times: number[] = [];
	readonly #response: IncomingMessage;
	readonly #sessions: Map<string, Carried>;
	readonly #faults: string[] = [];
	/** What arrived and is not read yet; null once it is decoded on arrival. */
	#noted: { readonly text: string; readonly at: number }[] | null = [];
	readonly #unmeasured: number;
	#rest = "";
	#left: number;
	#onEnd = () => {};

	constructor(response: IncomingMessage, ids: readonly string[], unmeasured: number) {
		this.#unmeasured = unmeasured;
		this.#response = response;
		this.#sessions = new Map(ids.map((id) => [id, { seq: 0, streamed: "", whole: "", hasEnded: false }]));
		this.#left = ids.length;
		response.setEncoding("utf8");
		response.on("data", (text: string) => {
			if (this.#noted === null) this.#take(text, monotonicTime());
			else this.#noted.push({ text, at: monotonicTime() });
		});
		response.on("close", () => this.#onEnd());
	}

	pause(): void {
		this.#response.pause();
	}

	resume(): void {
		this.#response.resume();
	}

	/** Reads what was noted, and from now on what arrives; resolves when every session's turn has ended, or the connection did. */
	async ended(): Promise<void> {
		for (const { text, at } of this.#noted ?? []) this.#take(text, at);
		this.#noted = null;
		if (this.#left === 0 || this.#response.destroyed) return;
		await new Promise<void>((resolve) => {
			this.#onEnd = resolve;
		});
	}

	/** What is not as it has to be; a stream that read has every delta too. */
	faults(count: number, hasRead: boolean): readonly string[] {
		const found = [...this.#faults];
		for (const [id, { streamed, whole, hasEnded }] of this.#sessions) {
			if (!hasEnded) found.push(`${id}: the turn has no end`);
			const numbers = [...whole.matchAll(deltaMark)].map(([, number]) => Number(number));
			if (numbers.length !== count || numbers.some((number, index) => number !== index)) {
				found.push(`${id}: the answer has ${numbers.length} of ${count} deltas`);
			}
			if (hasRead && streamed !== whole) found.push(`${id}: the pieces are not the answer`);
		}
		return found;
	}

	#take(text: string, at: number): void {
		const blocks = (this.#rest + text).split("\n\n");
		this.#rest = blocks.pop() ?? "";
		for (const block of blocks) {
			const start = block.indexOf("data: ");
			if (start !== -1) this.#takeEvent(JSON.parse(block.slice(start + 6)), at);
		}
	}

	#takeEvent(data: Record<string, unknown>, at: number): void {
		const carried = this.#sessions.get(String(data["sessionId"]));
		if (carried === undefined) return;
		const { type, seq, part } = data as { type?: string; seq?: number; part?: { type: string; text?: string } };
		if (seq !== undefined) {
			if (seq !== carried.seq + 1) this.#faults.push(`event ${seq} follows event ${carried.seq}`);
			carried.seq = seq;
		}
		if (type === "content.delta" && part?.text !== undefined) {
			carried.streamed += part.text;
			for (const [, number, time] of part.text.matchAll(deltaMark)) {
				if (Number(number) >= this.#unmeasured) this.times.push(at - Number(time));
			}
		}
		if (type === "content.completed" && part?.text !== undefined) carried.whole += part.text;
		if (type !== "turn.ended" || carried.hasEnded) return;
		carried.hasEnded = true;
		this.#left -= 1;
		if (this.#left === 0) this.#onEnd();
	}
}

/** Where a server listens, and what allows to read there. */
export interface StreamSource {
	readonly port: number;
	readonly token: string;
}

/** Opens a stream of these sessions; deltas with a number below `unmeasured` are not timed. */
export function openStream(
	{ port, token }: StreamSource,
	ids: readonly string[],
	unmeasured: number,
): Promise<MeasuredStream> {
	return new Promise((resolve, reject) => {
		const sending = request(
			{
				host: "127.0.0.1",
				port,
				agent: false,
				path: `/events?sessions=${ids.map(encodeURIComponent).join()}&role=observe`,
				headers: { authorization: `Bearer ${token}` },
			},
			(response) => {
				if (response.statusCode === 200) resolve(new MeasuredStream(response, ids, unmeasured));
				else reject(new Error(`A stream was refused with ${response.statusCode}.`));
			},
		);
		sending.on("error", reject);
		sending.end();
	});
}
