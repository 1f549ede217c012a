// A cassette: recorded exchanges with model providers, one line of JSON each, to be committed with the tests that use it.
import * as v from "valibot";
import { isRecord, type Json, toJsonLine } from "../../../base/json.ts";
import { beginning } from "../../../base/text/well-formed.ts";
import type { CanonicalRequest } from "./canonical-request.ts";

const formatVersion = 1;
/** Bytes of a cassette file. */
export const cassetteLimit = 256 * 1024 * 1024;

const isJson = (value: unknown): value is Json => value !== undefined;

/** Milliseconds since the piece before, and its bytes: as text where they are UTF-8 by themselves. */
const chunkSchema = v.union([
	v.object({ dt: v.number(), text: v.string() }),
	v.object({ dt: v.number(), base64: v.string() }),
]);

const responseSchema = v.object({
	status: v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599)),
	headers: v.record(v.string(), v.string()),
	chunks: v.array(chunkSchema),
	/** How the body ended: by itself, by a lost connection, or because the client left. */
	end: v.picklist(["complete", "cut", "left"]),
});

const recordingSchema = v.object({
	v: v.literal(formatVersion),
	provider: v.picklist(["anthropic", "openai-chat", "openai-responses", "gemini", "other"]),
	request: v.object({ path: v.string(), body: v.custom<Json>(isJson) }),
	response: responseSchema,
});

export type Recording = v.InferOutput<typeof recordingSchema>;
export type RecordedResponse = Recording["response"];
export type RecordedChunk = RecordedResponse["chunks"][number];

/** Where a cassette is kept. */
export interface CassetteFile {
	/** As it is shown to people. */
	readonly name: string;
	/** Null when there is none. */
	read(): Promise<Buffer | null>;
	replace(text: string): Promise<void>;
	append(text: string): Promise<void>;
}

/** A file that is no cassette. */
export class CassetteError extends Error {
	override readonly name = "CassetteError";
}

/** The recordings in their order. Throws CassetteError. */
export function parseCassette(bytes: Buffer, name: string): readonly Recording[] {
	return bytes
		.toString("utf8")
		.split("\n")
		.flatMap((line, index) => (line.trim() === "" ? [] : [parseLine(line, `Line ${index + 1} of ${name}`)]));
}

function parseLine(line: string, place: string): Recording {
	let value: unknown;
	try {
		value = JSON.parse(line);
	} catch {
		throw new CassetteError(`${place} is not JSON. Record the cassette again.`);
	}
	const version = isRecord(value) ? value["v"] : undefined;
	if (typeof version === "number" && version !== formatVersion) {
		throw new CassetteError(`${place} has format ${version}; this version reads ${formatVersion}. Record it again.`);
	}
	const result = v.safeParse(recordingSchema, value);
	if (result.success) return result.output;
	const [issue] = result.issues;
	const key = v.getDotPath(issue) ?? "";
	throw new CassetteError(
		`${place} is not a recording: ${key === "" ? "" : `${key}: `}${beginning(issue.message, 200)}.`,
	);
}

/** The line of an exchange, with its end. */
export function toCassetteLine(request: CanonicalRequest, response: RecordedResponse): string {
	const recording: Recording = { v: formatVersion, provider: providerOf(request.path), request, response };
	return `${toJsonLine(recording)}\n`;
}

function providerOf(path: string): Recording["provider"] {
	if (/:(?:streamG|g)enerateContent\b/.test(path)) return "gemini";
	const [route = ""] = path.split("?");
	if (route.endsWith("chat/completions")) return "openai-chat";
	if (route.endsWith("messages")) return "anthropic";
	return route.endsWith("responses") ? "openai-responses" : "other";
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function toChunk(dt: number, bytes: Uint8Array, redact: (text: string) => string): RecordedChunk {
	try {
		return { dt, text: redact(utf8.decode(bytes)) };
	} catch {
		return { dt, base64: Buffer.from(bytes).toString("base64") };
	}
}

export function toBytes(chunk: RecordedChunk): Uint8Array {
	return "text" in chunk ? Buffer.from(chunk.text, "utf8") : Buffer.from(chunk.base64, "base64");
}
