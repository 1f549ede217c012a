// One connection of the fuzz campaign: sends lines and holds what comes back against what the dialect's oracle says.
import { isRecord } from "../../../src/base/json.ts";
import type { Tally } from "./campaign.ts";
import { withPatience } from "./patience.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** The far end of lines. */
export interface LineTarget {
	/** After this long, in milliseconds, a response does not come any more. */
	readonly patience: number;
	write(bytes: Buffer): Promise<void>;
	/** The next line; null once the server is gone. */
	read(): Promise<string | null>;
	/** Lets what was caused arrive. */
	rest(): Promise<void>;
	/** Ends the input; what was wrong with the end. */
	close(): Promise<readonly string[]>;
}

/** A response as it came. */
export interface Found {
	/** As JSON text, numbers digit for digit. */
	readonly id: string;
	/** `result`, or what the dialect calls the error. */
	readonly outcome: string;
	readonly message: Fields;
}

/** A response that a line must bring about. */
export interface Expected {
	readonly id: string;
	/** For people. */
	readonly what: string;
	/** Called once everything came. */
	fits(found: Found): boolean;
}

export interface Prediction {
	readonly expected: readonly Expected[];
	/** Whether what follows can be predicted only when everything came that was caused so far. */
	readonly rests: boolean;
}

/** What a line of the server's is. */
export type Classified =
	| { readonly kind: "response"; readonly outcome: string; readonly fault: string | null }
	| { readonly kind: "event"; readonly fault: string | null }
	/** A request, and the message that answers it, well or not; null to leave it open. */
	| { readonly kind: "request"; readonly answer: object | null };

/** A connection as a dialect speaks it: the server at its end, and the oracle of it. */
export interface FuzzConnection {
	readonly target: LineTarget;
	/** Milliseconds that the responses to a batch of ordinary lines may take. */
	readonly responseLimit: number;
	/** Fills in what only the connection knows, such as the ids of its sessions. */
	complete?(line: Buffer): Buffer;
	/** Predicts one line and moves the oracle on. */
	predict(line: Buffer): Prediction;
	classify(message: Fields): Classified;
	/** Lets turns that the target holds come to their end; the responses that are due then. */
	releaseTurns?(): readonly Expected[];
	/** Holds turns again. */
	holdTurns?(): void;
	/** A request that is sent when everything came: what comes before its response was too much. */
	probe(number: number): { readonly id: string; readonly line: string };
	/** Takes the response to the probe, and all that came before it since the last one; what is wrong with them. */
	takeProbe?(probe: Found, found: readonly Found[]): readonly string[];
	/** Releases turns and gives a request that works then, and how its response is expected. */
	goodRequest(): { readonly line: string; readonly expected: Expected };
}

const newline = Buffer.from("\n");
const idText = /^\{"jsonrpc":"2\.0","id":("[^"\\]*(?:\\.[^"\\]*)*"|-?\d+|null),"(?:result|error)":/;

export class Exchange {
	readonly #connection: FuzzConnection;
	readonly #tally: Tally;
	#probes = 0;
	/** Milliseconds that the slowest batch took. */
	slowest = 0;

	constructor(connection: FuzzConnection, tally: Tally) {
		this.#connection = connection;
		this.#tally = tally;
	}

	/** Sends the lines of a batch, in pieces of so many bytes or whole; what is wrong with the responses. */
	async send(batch: readonly Buffer[], pieceSize: number | null): Promise<readonly string[]> {
		const queue = batch.flatMap(splitLines);
		while (queue.length > 0) {
			const sent: Buffer[] = [];
			const expected: Expected[] = [];
			for (let rests = false; queue.length > 0 && !rests; ) {
				const line = queue.shift() ?? newline;
				const complete = this.#connection.complete?.(line) ?? line;
				const prediction = this.#connection.predict(complete);
				sent.push(complete, newline);
				expected.push(...prediction.expected);
				rests = prediction.rests;
			}
			const faults = await this.#trade(Buffer.concat(sent), expected, pieceSize);
			if (faults.length > 0) return faults;
		}
		return [];
	}

	/** Whatever was sent before, a good request works. */
	async requestOnceMore(): Promise<readonly string[]> {
		const { line, expected } = this.#connection.goodRequest();
		const faults = await this.#trade(Buffer.from(`${line}\n`), [expected], null);
		this.#connection.holdTurns?.();
		return faults.map((fault) => `a good request at the end: ${fault}`);
	}

	async #trade(bytes: Buffer, expected: readonly Expected[], pieceSize: number | null): Promise<readonly string[]> {
		const { target, responseLimit } = this.#connection;
		await this.#write(bytes, pieceSize);
		const written = performance.now();
		const found: Found[] = [];
		const faults: string[] = [];
		const isWhole = await this.#gather(found, expected.length, faults);
		const took = performance.now() - written;
		this.slowest = Math.max(this.slowest, took);
		if (took > responseLimit && bytes.length < 1_000_000) faults.push(`the responses took ${Math.round(took)} ms`);
		if (isWhole) {
			await target.rest();
			await this.#probe(found, faults);
		}
		faults.push(...compare(expected, found));
		for (const { outcome } of found) this.#tally.add(`answered with ${outcome.split(" ", 1)}`);
		if (faults.length > 0) return faults;
		return await this.#finishTurns();
	}

	async #finishTurns(): Promise<readonly string[]> {
		const due = this.#connection.releaseTurns?.() ?? [];
		if (due.length === 0) return [];
		const found: Found[] = [];
		const faults: string[] = [];
		await this.#gather(found, due.length, faults);
		this.#connection.holdTurns?.();
		await this.#connection.target.rest();
		return [...faults, ...compare(due, found)].map((fault) => `at the end of a turn: ${fault}`);
	}

	async #write(bytes: Buffer, pieceSize: number | null): Promise<void> {
		const size = pieceSize ?? bytes.length;
		for (let start = 0; start < bytes.length; start += size) {
			await this.#connection.target.write(bytes.subarray(start, start + size));
		}
	}

	/** Reads until that many responses are there; false when no more will come. */
	async #gather(found: Found[], count: number, faults: string[]): Promise<boolean> {
		const { target } = this.#connection;
		while (found.length < count) {
			const line = await withPatience(target.read(), target.patience);
			if (line === undefined || line === null) {
				faults.push(line === null ? "the server is gone" : "a response does not come");
				return false;
			}
			if (!(await this.#take(line, found, faults))) return false;
		}
		return true;
	}

	/** Takes a line; false when it is none, after which nothing can be relied on. */
	async #take(line: string, found: Found[], faults: string[]): Promise<boolean> {
		const message = parse(line);
		if (!isRecord(message) || /[\u2028\u2029]/.test(line)) {
			faults.push(`an unusable line: ${line.slice(0, 300)}`);
			return false;
		}
		const classified = this.#connection.classify(message);
		if (classified.kind === "request") {
			this.#tally.add("requests of the server answered");
			const { answer } = classified;
			if (answer !== null) await this.#connection.target.write(Buffer.from(`${JSON.stringify(answer)}\n`));
			return true;
		}
		const { kind, fault } = classified;
		if (fault !== null) faults.push(`${fault}: ${line.slice(0, 300)}`);
		if (kind === "event") {
			this.#tally.add("events");
			return true;
		}
		const id = idText.exec(line)?.[1];
		if (id === undefined) faults.push(`no response: ${line.slice(0, 300)}`);
		found.push({ id: id === undefined ? "?" : canonical(id), outcome: classified.outcome, message });
		return true;
	}

	async #probe(found: Found[], faults: string[]): Promise<void> {
		this.#probes += 1;
		const { id, line } = this.#connection.probe(this.#probes);
		await this.#connection.target.write(Buffer.from(`${line}\n`));
		const isProbe = (response: Found) => response.id === id;
		while (!found.some(isProbe)) if (!(await this.#gather(found, found.length + 1, faults))) return;
		await this.#connection.target.rest();
		const [probe] = found.splice(found.findIndex(isProbe), 1);
		if (probe !== undefined) faults.push(...(this.#connection.takeProbe?.(probe, found) ?? []));
	}
}

function parse(line: string): unknown {
	try {
		return JSON.parse(line);
	} catch {
		return undefined;
	}
}

/** Strings spelled in one way; digits as they are. */
function canonical(id: string): string {
	return id.startsWith('"') ? JSON.stringify(JSON.parse(id)) : id;
}

/** Every expected response must have come, and no other: each is matched with one that it fits. */
function compare(expected: readonly Expected[], found: readonly Found[]): readonly string[] {
	const taken = new Map<Found, Expected>();
	const match = (one: Expected, tried: Set<Found>): boolean =>
		found.some((other) => {
			if (tried.has(other) || one.id !== other.id || !one.fits(other)) return false;
			tried.add(other);
			const holder = taken.get(other);
			if (holder !== undefined && !match(holder, tried)) return false;
			taken.set(other, one);
			return true;
		});
	const missing = expected.filter((one) => !match(one, new Set()));
	const surplus = found.filter((other) => !taken.has(other));
	if (missing.length === 0 && surplus.length === 0) return [];
	const wanted = missing.slice(0, 3).map(({ id, what }) => `${id.slice(0, 80)} ${what.slice(0, 120)}`);
	const had = surplus.slice(0, 3).map(({ message }) => JSON.stringify(message).slice(0, 300));
	return [`expected but missing: [${wanted.join("; ")}], not expected: [${had.join("; ")}]`];
}

function splitLines(bytes: Buffer): Buffer[] {
	const lines: Buffer[] = [];
	let start = 0;
	for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
		lines.push(bytes.subarray(start, end));
		start = end + 1;
	}
	lines.push(bytes.subarray(start));
	return lines;
}

/** A line for people: as text, or in hexadecimal where it is none. */
export function showLine(bytes: Buffer): string {
	const text = bytes.toString("utf8");
	const shown = text.length > 300 ? `${text.slice(0, 200)}… (${bytes.length} bytes) …${text.slice(-60)}` : text;
	return Buffer.from(text).equals(bytes) ? JSON.stringify(shown) : `hex ${bytes.subarray(0, 100).toString("hex")}`;
}
