// Answers to `initialize` that earlier starts gave, in the user's cache directory: a start that finds one, made from files that
// are still the same, answers before the program is loaded. Without one it only takes longer.
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { isNestedWithin, isRecord, toJsonLine } from "../../base/json.ts";
import { writeCacheFile } from "../cache-file.ts";
import type { MarkedFile } from "./file-marks.ts";

/** A request for a handshake that an answer may be remembered for. */
export interface HandshakeRequest {
	readonly id: string;
	/** Its params as JSON. */
	readonly params: string;
}

export interface RememberedAnswers {
	/** What all these answers were made from. */
	readonly files: readonly MarkedFile[];
	/** The limit of the outbox that was in the settings. */
	readonly outboxBytes: number;
	/** For params: what follows the id in the answer. */
	readonly answers: Readonly<Record<string, string>>;
}

/** Handshakes that are remembered for one start; the latest counts most. */
const answerLimit = 4;

/** Starts that are remembered. */
const startLimit = 64;

/** Characters of the longest request that is looked at. */
const longestRequest = 49_152;

/** Characters of the longest answer that is remembered. */
export const longestAnswer = 1_048_576;

/** Levels that the params of a request nest at most: those of the handshake need fewer. */
const deepestParams = 100;

const requestKeys: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params"]);

/** Null for a line that is no plain request for a handshake. */
export function readHandshake(line: string): HandshakeRequest | null {
	if (line.length > longestRequest) return null;
	const value = parse(line);
	if (!isRecord(value) || !Object.keys(value).every((key) => requestKeys.has(key))) return null;
	const { jsonrpc = "2.0", id, method, params } = value;
	if (jsonrpc !== "2.0" || method !== "initialize" || typeof id !== "string") return null;
	if (!isRecord(params) || !isNestedWithin(params, deepestParams)) return null;
	return { id, params: JSON.stringify(params) };
}

/** How the answer to a request begins; no other line does. */
export function answerBeginning({ id }: HandshakeRequest): string {
	return `{"jsonrpc":"2.0","id":${toJsonLine(id)},`;
}

/** Null when there are none. */
export function readRemembered(file: string): RememberedAnswers | null {
	let text: string;
	try {
		text = readFileSync(file, "utf8");
	} catch {
		return null;
	}
	const value = parse(text);
	if (!isRecord(value)) return null;
	const { files, outboxBytes, answers } = value;
	if (!Array.isArray(files) || typeof outboxBytes !== "number" || !isRecord(answers)) return null;
	if (!files.every(isMarkedFile) || !isTexts(answers)) return null;
	return { files, outboxBytes, answers };
}

function isMarkedFile(value: unknown): value is MarkedFile {
	return Array.isArray(value) && value.length === 3 && value.every((part) => typeof part === "string");
}

function isTexts(value: Record<string, unknown>): value is Record<string, string> {
	return Object.values(value).every((text) => typeof text === "string");
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

/** Adds an answer to those of a start, or begins anew when the files have changed. Failures cost nothing but the time of later starts. */
export function writeRemembered(
	file: string,
	{ files, outboxBytes }: Omit<RememberedAnswers, "answers">,
	params: string,
	answer: string,
): void {
	const before = readRemembered(file);
	const isSame = JSON.stringify(before?.files) === JSON.stringify(files) && before?.outboxBytes === outboxBytes;
	const others = Object.entries(isSame && before !== null ? before.answers : {}).filter(([key]) => key !== params);
	const answers = Object.fromEntries([...others, [params, answer]].slice(-answerLimit));
	writeCacheFile(file, JSON.stringify({ files, outboxBytes, answers }));
	removeOldest(path.dirname(file));
}

function removeOldest(directory: string): void {
	try {
		const names = readdirSync(directory);
		if (names.length <= startLimit) return;
		const byAge = names
			.map((name) => path.join(directory, name))
			.map((file) => ({ file, time: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
			.sort((a, b) => a.time - b.time);
		for (const { file } of byAge.slice(0, names.length - startLimit)) rmSync(file, { force: true });
	} catch {
		// The directory could not be made, or another process clears it as well.
	}
}
