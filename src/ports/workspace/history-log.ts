// Directory states and turn changes: an append-only log of JSON lines. Incomplete lines of killed processes are skipped.
import { appendFile, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { deflateRaw, inflateRaw } from "node:zlib";
import * as v from "valibot";
import { systemErrorCode } from "../../base/errors.ts";
import { createPace } from "../../base/pace.ts";

const compress = promisify(deflateRaw);
const decompress = promisify(inflateRaw);

export const entrySchema = v.nullable(
	v.variant("kind", [
		v.object({
			kind: v.literal("file"),
			mode: v.number(),
			size: v.number(),
			content: v.nullable(v.string()),
			blob: v.exactOptional(v.string()),
			unread: v.exactOptional(v.string()),
			mark: v.exactOptional(v.string()),
		}),
		v.object({ kind: v.literal("link"), target: v.string() }),
		v.object({ kind: v.literal("directory"), mode: v.number() }),
		v.object({ kind: v.literal("opaque") }),
		v.object({ kind: v.literal("special") }),
	]),
);

const stampSchema = v.object({
	size: v.number(),
	mode: v.number(),
	modifiedAt: v.number(),
	changedAt: v.number(),
	inode: v.number(),
});

const lineSchema = v.variant("kind", [
	/** The state of a path; null when deleted. */
	v.object({ kind: v.literal("path"), path: v.string(), entry: entrySchema, stamp: v.nullable(stampSchema) }),
	/** Changes by a turn, or from outside. */
	v.object({
		kind: v.literal("change"),
		id: v.string(),
		change: v.object({ path: v.string(), before: entrySchema, after: entrySchema }),
		isOutside: v.boolean(),
		/** Changed from outside between two changes merged here. */
		isMixed: v.exactOptional(v.literal(true)),
	}),
	/** A turn or restore has begun to change files. */
	v.object({ kind: v.literal("begin"), id: v.string(), of: v.picklist(["turn", "restore"]), at: v.number() }),
	/** Why its changes are incomplete. */
	v.object({ kind: v.literal("reason"), id: v.string(), reason: v.string() }),
	/** Whether the turn may still be changing files. */
	v.object({ kind: v.literal("open"), id: v.string(), isOpen: v.boolean() }),
	/** Everything below the roots is known; `bytes` is the store size. */
	v.object({ kind: v.literal("known"), bytes: v.number() }),
	/** The store size, while not everything is known. */
	v.object({ kind: v.literal("stored"), bytes: v.number() }),
]);

export type LogLine = v.InferOutput<typeof lineSchema>;

export class HistoryLog {
	readonly #file: string;
	#isPrepared = false;
	/** Bytes since the last rewrite. */
	#size = 0;

	constructor(file: string) {
		this.#file = file;
	}

	get size(): number {
		return this.#size;
	}

	/** All lines, oldest first; null if the file is missing. */
	async read(): Promise<readonly LogLine[] | null> {
		let text: string;
		try {
			text = await readFile(this.#file, "utf8");
		} catch (thrown) {
			if (systemErrorCode(thrown) === "ENOENT") return null;
			throw thrown;
		}
		this.#size = text.length;
		return await parseLines(text);
	}

	async append(lines: readonly LogLine[]): Promise<void> {
		if (lines.length === 0) return;
		if (!this.#isPrepared) {
			// The session directory is not recreated, because the session may have been deleted.
			await mkdir(path.dirname(this.#file), { mode: 0o700 }).catch((thrown: unknown) => {
				if (systemErrorCode(thrown) !== "EEXIST") throw thrown;
			});
			this.#isPrepared = true;
		}
		// The leading newline ends an incomplete line.
		const text = `\n${await toText(lines)}`;
		await appendFile(this.#file, text, { mode: 0o600 });
		this.#size += text.length;
	}

	async replace(lines: Iterable<LogLine>): Promise<void> {
		const text = await toText(lines);
		const temporary = `${this.#file}.tmp`;
		await writeFile(temporary, text, { mode: 0o600 });
		await rename(temporary, this.#file);
		this.#size = text.length;
	}
}

/** Skips invalid lines. */
async function parseLines(text: string): Promise<readonly LogLine[]> {
	const pace = createPace();
	const lines: LogLine[] = [];
	for (const line of text.split("\n")) {
		const parsed = readLine(line);
		if (parsed !== null) lines.push(parsed);
		const rest = pace.rest();
		if (rest !== undefined) await rest;
	}
	return lines;
}

async function toText(lines: Iterable<LogLine>): Promise<string> {
	const pace = createPace();
	const texts: string[] = [];
	for (const line of lines) {
		texts.push(JSON.stringify(line));
		const rest = pace.rest();
		if (rest !== undefined) await rest;
	}
	return `${texts.join("\n")}\n`;
}

/** Lines as they are saved elsewhere. */
export async function packLines(lines: Iterable<LogLine>): Promise<Uint8Array> {
	return await compress(await toText(lines));
}

export async function unpackLines(packed: Uint8Array): Promise<readonly LogLine[]> {
	return await parseLines((await decompress(packed)).toString());
}

function readLine(text: string): LogLine | null {
	if (text === "") return null;
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return null;
	}
	const parsed = v.safeParse(lineSchema, value);
	return parsed.success ? parsed.output : null;
}
