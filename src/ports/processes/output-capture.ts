// Bounded memory: stores the first bytes, counts the rest and optionally spills it to a file.
import { StringDecoder } from "node:string_decoder";
import { errorText } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { OpenOutputSink, OutputSink } from "./port.ts";
import { createWriteQueue } from "./write-queue.ts";

export interface OutputCaptureOptions {
	readonly limit: number;
	/** Stores bytes of source `error` separately. */
	readonly separate: boolean;
	/** Receives all output once it exceeds the limit, or null. */
	readonly spill: { readonly path: string; readonly limit: number; readonly open: OpenOutputSink } | null;
	readonly log: Log;
}

export type OutputSource = "output" | "error";

export interface CapturedOutput {
	readonly output: string;
	readonly errorOutput: string;
	readonly outputBytes: number;
	readonly truncated: boolean;
	readonly spilledTo: string | null;
}

export interface OutputCapture {
	push(source: OutputSource, bytes: Buffer): Promise<void> | null;
	finish(): Promise<CapturedOutput>;
}

const newline = 0x0a;
/** Longer unfinished lines are passed on in parts. */
const lineBuffer = 16 * 1024;

/** Length without an incomplete UTF-8 character at the end. */
function wholeCharacters(bytes: Buffer): number {
	for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
		const byte = bytes[bytes.length - back] ?? 0;
		if ((byte & 0xc0) === 0x80) continue;
		const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
		return length > back ? bytes.length - back : bytes.length;
	}
	return bytes.length;
}

/** Writes the merged bytes to the spill file, starting with the first byte. */
function createSpill(spill: NonNullable<OutputCaptureOptions["spill"]>, log: Log) {
	const decoder = new StringDecoder("utf8");
	let sink: OutputSink | null = null;
	let taken = 0;
	const writing = createWriteQueue((thrown) =>
		log.warn("Output could not be spilled", { path: spill.path, cause: errorText(thrown) }),
	);

	return {
		write(bytes: Buffer): Promise<void> | null {
			const room = Math.max(0, spill.limit - taken);
			const text = decoder.write(bytes.subarray(0, room));
			taken += bytes.length;
			if (writing.hasFailed || text === "") return null;
			return writing.run(async () => {
				sink ??= await spill.open(spill.path);
				await sink.append(text);
			});
		},
		async close(): Promise<string | null> {
			const rest = decoder.end();
			await writing.run(async () => {
				if (rest !== "") await sink?.append(rest);
			});
			await sink?.close().catch(() => undefined);
			return writing.hasFailed || sink === null ? null : spill.path;
		},
	};
}

export function createOutputCapture(options: OutputCaptureOptions): OutputCapture {
	const unfinished: Record<OutputSource, Buffer[]> = { output: [], error: [] };
	const unfinishedLength: Record<OutputSource, number> = { output: 0, error: 0 };
	const retained: Record<OutputSource, Buffer[]> = { output: [], error: [] };
	let early: Buffer[] = [];
	let retainedLength = 0;
	let total = 0;
	let passed = 0;
	let spill: ReturnType<typeof createSpill> | null = null;

	const keep = (source: OutputSource, bytes: Buffer): void => {
		const room = options.limit - retainedLength;
		if (room <= 0) return;
		const cut = bytes.length <= room ? bytes : bytes.subarray(0, wholeCharacters(bytes.subarray(0, room)));
		// After a drop, store nothing more: the stored part is a prefix.
		retainedLength = bytes.length <= room ? retainedLength + bytes.length : options.limit;
		retained[options.separate ? source : "output"].push(cut);
	};

	const pass = (source: OutputSource, bytes: Buffer): Promise<void> | null => {
		keep(source, bytes);
		passed += bytes.length;
		if (options.spill === null) return null;
		if (spill !== null) return spill.write(bytes);
		early.push(bytes);
		if (passed <= options.limit) return null;
		spill = createSpill(options.spill, options.log);
		const first = Buffer.concat(early);
		early = [];
		return spill.write(first);
	};

	const take = (source: OutputSource, length: number): Buffer => {
		const joined = Buffer.concat(unfinished[source]);
		const rest = joined.subarray(length);
		unfinished[source] = rest.length === 0 ? [] : [rest];
		unfinishedLength[source] = rest.length;
		return joined.subarray(0, length);
	};

	return {
		push(source, bytes) {
			total += bytes.length;
			const before = unfinishedLength[source];
			const lineEnd = bytes.lastIndexOf(newline);
			unfinished[source].push(bytes);
			unfinishedLength[source] += bytes.length;
			if (lineEnd !== -1) return pass(source, take(source, before + lineEnd + 1));
			if (unfinishedLength[source] <= lineBuffer) return null;
			return pass(source, take(source, wholeCharacters(Buffer.concat(unfinished[source]))));
		},
		async finish() {
			for (const source of ["output", "error"] as const) {
				if (unfinishedLength[source] > 0) await pass(source, take(source, unfinishedLength[source]));
			}
			const spilledTo = spill === null ? null : await spill.close();
			return {
				output: Buffer.concat(retained.output).toString("utf8"),
				errorOutput: Buffer.concat(retained.error).toString("utf8"),
				outputBytes: total,
				truncated: total > options.limit,
				spilledTo,
			};
		},
	};
}
