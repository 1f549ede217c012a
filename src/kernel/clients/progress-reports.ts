// Live output of running calls: coalesced, bounded, not persisted, without backpressure.
import { StringDecoder } from "node:string_decoder";
import type { UnfinishedPart } from "../../api/session-state.ts";
import type { EventBodyOf } from "../../api/values/event.ts";
import type { Clock } from "../../base/clock.ts";
import { beginning } from "../../base/text/well-formed.ts";
import type { CallProgress } from "../../core/agent/dependencies.ts";
import type { Emitter, Where } from "./emitter.ts";

/** Milliseconds between two progress deliveries of a call. */
const interval = 50;
/** Maximum UTF-16 units per delivery. The rest is skipped. */
const deliveryLimit = 32 * 1024;
/** Maximum events per delivery, one per stream change. The rest is skipped. */
const eventLimit = 8;
/** UTF-16 units kept per running call, for clients that attach meanwhile. */
const retainedLimit = 64 * 1024;
/** Pieces kept per running call. */
const pieceLimit = 1024;

type Stream = EventBodyOf<"tool.progress">["stream"];

interface Piece {
	readonly stream: Stream;
	readonly text: string;
	/** UTF-16 units of all earlier progress. */
	readonly offset: number;
}

export interface ProgressReportsSettings {
	readonly emitter: Pick<Emitter, "deliverProgress">;
	readonly clock: Clock;
	isWanted(): boolean;
}

/** Progress of one call. Its end is idempotent. */
export interface SkippingProgress extends CallProgress {
	/** Counts bytes of unreported output; the next offset includes them. */
	skip(bytes: number): void;
}

export class ProgressReports {
	readonly #settings: ProgressReportsSettings;
	readonly #running = new Set<RunningProgress>();

	constructor(settings: ProgressReportsSettings) {
		this.#settings = settings;
	}

	open(where: Where, toolCallId: string, signal: AbortSignal): SkippingProgress {
		const progress = new RunningProgress(where, toolCallId, this.#settings);
		this.#running.add(progress);
		const close = () => {
			signal.removeEventListener("abort", close);
			progress.close();
			this.#running.delete(progress);
		};
		signal.addEventListener("abort", close, { once: true });
		if (signal.aborted) close();
		return {
			report: (stream, output) => progress.report(stream, output),
			skip: (bytes) => progress.skip(bytes),
			end() {
				progress.flush();
				close();
			},
		};
	}

	/** The most recent delivered output of running calls. */
	unfinished(): readonly UnfinishedPart[] {
		return [...this.#running].flatMap((progress) => progress.retained());
	}
}

class RunningProgress {
	readonly #where: Where;
	readonly #toolCallId: string;
	readonly #settings: ProgressReportsSettings;
	readonly #decoders = new Map<Stream, StringDecoder>();
	#offset = 0;
	#pending: Piece[] = [];
	#pendingLength = 0;
	#delivered: Piece[] = [];
	#deliveredLength = 0;
	#deliveredAt = Number.NEGATIVE_INFINITY;
	#withdraw: (() => void) | null = null;
	#isClosed = false;

	constructor(where: Where, toolCallId: string, settings: ProgressReportsSettings) {
		this.#where = where;
		this.#toolCallId = toolCallId;
		this.#settings = settings;
	}

	report(stream: Stream, output: string | Buffer): void {
		if (this.#isClosed) return;
		if (!this.#settings.isWanted()) {
			this.skip(output.length);
			return;
		}
		const text = typeof output === "string" ? output : this.#decode(stream, output);
		if (text === "") return;
		this.#take(stream, text);
		this.#schedule();
	}

	skip(bytes: number): void {
		this.#offset += bytes;
		this.#decoders.clear();
		if (this.#deliveredLength + this.#pendingLength > 0 && !this.#settings.isWanted()) this.#forget();
	}

	flush(): void {
		this.#withdraw?.();
		this.#withdraw = null;
		const { clock, emitter, isWanted } = this.#settings;
		const pieces = this.#pending;
		this.#pending = [];
		this.#pendingLength = 0;
		if (this.#isClosed || pieces.length === 0 || !isWanted()) return;
		this.#deliveredAt = clock.monotonic();
		for (const piece of pieces) {
			this.#retain(piece);
			emitter.deliverProgress(this.#where, this.#toBody(piece));
		}
	}

	close(): void {
		this.#isClosed = true;
		this.#withdraw?.();
		this.#withdraw = null;
		this.#forget();
	}

	retained(): readonly UnfinishedPart[] {
		return this.#delivered.map((piece) => ({ agentPath: this.#where.agentPath, body: this.#toBody(piece) }));
	}

	#decode(stream: Stream, bytes: Buffer): string {
		const decoder = this.#decoders.get(stream) ?? new StringDecoder("utf8");
		this.#decoders.set(stream, decoder);
		return decoder.write(bytes);
	}

	/** Adds as much as fits into the next delivery. */
	#take(stream: Stream, text: string): void {
		const offset = this.#offset;
		this.#offset += text.length;
		const cut = beginning(text, deliveryLimit - this.#pendingLength);
		if (cut === "") return;
		const last = this.#pending.at(-1);
		if (last !== undefined && continues(last, stream, offset)) {
			this.#pending[this.#pending.length - 1] = { ...last, text: last.text + cut };
		} else if (this.#pending.length < eventLimit) this.#pending.push({ stream, text: cut, offset });
		else return;
		this.#pendingLength += cut.length;
	}

	/** Delivers the first progress after a pause at once. */
	#schedule(): void {
		if (this.#withdraw !== null) return;
		const { clock } = this.#settings;
		const wait = Math.max(0, this.#deliveredAt + interval - clock.monotonic());
		if (wait === 0) this.flush();
		else this.#withdraw = clock.after(Math.min(wait, interval), () => this.flush(), true);
	}

	#retain(piece: Piece): void {
		const last = this.#delivered.at(-1);
		if (last !== undefined && continues(last, piece.stream, piece.offset)) {
			this.#delivered[this.#delivered.length - 1] = { ...last, text: last.text + piece.text };
		} else this.#delivered.push(piece);
		this.#deliveredLength += piece.text.length;
		while (this.#deliveredLength > retainedLimit || this.#delivered.length > pieceLimit) this.#shorten();
	}

	#shorten(): void {
		const [first] = this.#delivered;
		if (first === undefined) return;
		const excess = this.#deliveredLength - retainedLimit;
		if (excess <= 0 || excess >= first.text.length) {
			this.#delivered.shift();
			this.#deliveredLength -= first.text.length;
			return;
		}
		const cut = excess + (isHighSurrogate(first.text.charCodeAt(excess - 1)) ? 1 : 0);
		this.#delivered[0] = { ...first, text: first.text.slice(cut), offset: first.offset + cut };
		this.#deliveredLength -= cut;
	}

	#forget(): void {
		this.#pending = [];
		this.#pendingLength = 0;
		this.#delivered = [];
		this.#deliveredLength = 0;
	}

	#toBody({ stream, text, offset }: Piece): EventBodyOf<"tool.progress"> {
		return { type: "tool.progress", toolCallId: this.#toolCallId, stream, text, offset };
	}
}

function isHighSurrogate(unit: number): boolean {
	return unit >= 0xd800 && unit <= 0xdbff;
}

function continues({ stream, text, offset }: Piece, nextStream: Stream, nextOffset: number): boolean {
	return stream === nextStream && offset + text.length === nextOffset;
}
