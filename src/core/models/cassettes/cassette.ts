import * as v from "valibot";
import { isRecord, type Json, toJsonLine } from "../../../base/json.ts";
import { beginning } from "../../../base/text/well-formed.ts";
import type { CanonicalRequest } from "./canonical-request.ts";

const formatVersion = 1;
/** Maximum file size in bytes. */
export const cassetteLimit = 256 * 1024 * 1024;

const isJson = (value: unknown): value is Json => value !== undefined;

/** Milliseconds since the previous piece, and its bytes, as text if they are valid UTF-8. */
const chunkSchema = v.union([
	v.object({ dt: v.number(), text: v.string() }),
	v.object({ dt: v.number(), base64: v.string() }),
]);

const responseSchema = v.object({
	status: v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599)),
	headers: v.record(v.string(), v.string()),
	chunks: v.array(chunkSchema),
	/** How the body ended: normally, by a lost connection, or because the client left. */
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

export interface CassetteFile {
	readonly name: string;
	read(): Promise<Buffer | null>;
	replace(text: string): Promise<void>;
	append(text: string): Promise<void>;
}

export class CassetteError extends Error {
	override readonly name = "CassetteError";
}

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
