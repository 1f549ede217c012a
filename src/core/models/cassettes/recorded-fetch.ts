import { type Clock, sleep } from "../../../base/clock.ts";
import { errorText } from "../../../base/errors.ts";
import type { Fetch } from "../../../ports/network/network-settings.ts";
import { keyOf, type Replacements, toCanonicalRequest } from "./canonical-request.ts";
import {
	CassetteError,
	type CassetteFile,
	parseCassette,
	type RecordedResponse,
	type Recording,
	toBytes,
	toCassetteLine,
	toChunk,
} from "./cassette.ts";
import { describeMiss } from "./nearest-recording.ts";
import { refusal } from "./refusal.ts";

/** `replay` never asks the provider, `replay-or-record` adds missing answers, `passthrough` ignores the cassette. */
export const cassetteModes = ["record", "replay", "replay-or-record", "passthrough"] as const;
export type CassetteMode = (typeof cassetteModes)[number];

export interface CassetteSettings {
	readonly file: CassetteFile;
	readonly mode: CassetteMode;
	/** Factor for recorded times; 0 plays answers at once. */
	readonly timeScale: number;
	readonly replacements: Replacements;
	readonly forward: Fetch;
	readonly clock: Clock;
	report(text: string): void;
}

/** Milliseconds to hold back each piece, so that the answer is recorded before its last piece arrives. */
const holding = 250;

const keptHeaders = ["content-type", "retry-after", "retry-after-ms"];

export function createRecordedFetch(settings: CassetteSettings): Fetch {
	if (settings.mode === "passthrough") return settings.forward;
	const recordedFetch = new RecordedFetch(settings);
	return (input, init) => recordedFetch.fetch(input, init);
}

class RecordedFetch {
	readonly #settings: CassetteSettings;
	#requests = 0;
	#loading: Promise<readonly Recording[]> | null = null;
	/** Recordings by key. The last one of each repeats. */
	readonly #queues = new Map<string, Recording[]>();
	#writing: Promise<void> = Promise.resolve();
	#isBegun = false;

	constructor(settings: CassetteSettings) {
		this.#settings = settings;
	}

	async fetch(input: Parameters<Fetch>[0], init: Parameters<Fetch>[1] = {}): Promise<Response> {
		const { mode, replacements, forward } = this.#settings;
		init.signal?.throwIfAborted();
		this.#requests += 1;
		const n = this.#requests;
		const url = new URL(input instanceof Request ? input.url : input);
		const body = toText(init.body);
		const found = body === null ? null : toCanonicalRequest(url, body, new Headers(init.headers), replacements);
		if (found === null) {
			if (mode !== "replay") return await forward(input, init);
			return this.#refuse(`Request ${n} (${url.pathname}) has a body that is not JSON, which is never recorded.`);
		}
		const { request, redact } = found;
		if (mode !== "record") {
			try {
				const recordings = await this.#load();
				const recording = this.#next(keyOf(request));
				if (recording !== null) return this.#play(recording.response, init.signal ?? null);
				if (mode === "replay") return this.#refuse(describeMiss(request, n, recordings, this.#settings.file.name));
			} catch (thrown) {
				if (thrown instanceof CassetteError) return this.#refuse(thrown.message);
				throw thrown;
			}
		}
		const response = await forward(input, init);
		const save = (recorded: RecordedResponse) => this.#save(toCassetteLine(request, recorded));
		return this.#record(response, save, redact, init.signal ?? null);
	}

	#refuse(text: string): Response {
		this.#settings.report(text);
		return refusal(422, text);
	}

	async #load(): Promise<readonly Recording[]> {
		this.#loading ??= this.#read();
		return await this.#loading;
	}

	async #read(): Promise<readonly Recording[]> {
		const { file } = this.#settings;
		const bytes = await file.read().catch((thrown: unknown) => {
			throw new CassetteError(`The cassette ${file.name} cannot be read: ${errorText(thrown)}.`);
		});
		const recordings = bytes === null ? [] : parseCassette(bytes, file.name);
		for (const recording of recordings) {
			const key = keyOf(recording.request);
			this.#queues.set(key, [...(this.#queues.get(key) ?? []), recording]);
		}
		return recordings;
	}

	#next(key: string): Recording | null {
		const queue = this.#queues.get(key) ?? [];
		return (queue.length > 1 ? queue.shift() : queue[0]) ?? null;
	}

	#play({ status, headers, chunks, end }: RecordedResponse, signal: AbortSignal | null): Response {
		const { timeScale, clock } = this.#settings;
		const left = new AbortController();
		const leave = () => left.abort(signal?.reason);
		signal?.addEventListener("abort", leave, { once: true });
		const play = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
			for (const chunk of chunks) {
				if (chunk.dt * timeScale > 0) await sleep(clock, chunk.dt * timeScale, left.signal);
				if (left.signal.aborted) return;
				controller.enqueue(toBytes(chunk));
			}
			if (end === "complete") controller.close();
			else if (end === "cut") controller.error(new TypeError("the connection was cut, as it was recorded"));
		};
		const body = new ReadableStream<Uint8Array>({
			start(controller) {
				left.signal.addEventListener("abort", () => controller.error(left.signal.reason), { once: true });
				void play(controller);
			},
			cancel: leave,
		});
		return new Response(hasBody(status) ? body : null, { status, headers });
	}

	/** The answer, saved before its end is passed on. */
	#record(
		response: Response,
		save: (recorded: RecordedResponse) => Promise<void>,
		redact: (text: string) => string,
		signal: AbortSignal | null,
	): Response {
		const { clock } = this.#settings;
		const { status } = response;
		const headers = Object.fromEntries(
			keptHeaders.flatMap((name) => {
				const value = response.headers.get(name);
				return value === null ? [] : [[name, value]];
			}),
		);
		const pieces: { readonly dt: number; readonly bytes: Uint8Array }[] = [];
		const finish = (end: RecordedResponse["end"]) => {
			// An error may quote a key across two pieces.
			const joined = status >= 400 ? [{ dt: 0, bytes: Buffer.concat(pieces.map(({ bytes }) => bytes)) }] : pieces;
			return save({ status, headers, chunks: joined.map(({ dt, bytes }) => toChunk(dt, bytes, redact)), end });
		};
		const reader = response.body?.getReader();
		if (reader === undefined) {
			void finish("complete");
			return response;
		}
		let hasLeft = false;
		let last = clock.monotonic();
		const record = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
			let held: Uint8Array | null = null;
			const release = () => {
				if (held !== null && !hasLeft) controller.enqueue(held);
				held = null;
			};
			try {
				for (;;) {
					const withdraw = clock.after(holding, release);
					const { done, value } = await reader.read().finally(withdraw);
					if (done) break;
					release();
					const now = clock.monotonic();
					pieces.push({ dt: Math.round(now - last), bytes: value });
					last = now;
					held = value;
				}
				await finish(hasLeft ? "left" : "complete");
				release();
				if (!hasLeft) controller.close();
			} catch (thrown) {
				await finish(signal?.aborted === true ? "left" : "cut");
				release();
				if (!hasLeft) controller.error(thrown);
			}
		};
		const body = new ReadableStream<Uint8Array>({
			start: (controller) => void record(controller),
			async cancel() {
				hasLeft = true;
				await reader.cancel();
			},
		});
		return new Response(body, { status, statusText: response.statusText, headers: response.headers });
	}

	/** Never fails, so that the client gets its answer anyway. */
	#save(line: string): Promise<void> {
		const { file, mode, report } = this.#settings;
		const write = async (): Promise<void> => {
			const begins = mode === "record" && !this.#isBegun;
			this.#isBegun = true;
			await (begins ? file.replace(line) : file.append(line));
		};
		this.#writing = this.#writing.then(write).catch((thrown: unknown) => {
			report(`The cassette ${file.name} cannot be written: ${errorText(thrown)}.`);
		});
		return this.#writing;
	}
}

/** The platform allows no body for these. */
function hasBody(status: number): boolean {
	return status !== 204 && status !== 205 && status !== 304;
}

function toText(body: RequestInit["body"] | null): string | null {
	if (body === undefined || body === null) return "";
	if (typeof body === "string") return body;
	return body instanceof Uint8Array ? Buffer.from(body).toString("utf8") : null;
}
