// Media as the model sees them, and texts; stored only in the session.
import {
	type ContentPart,
	type MediaKind,
	mediaPart,
	toDataUri,
	toParts,
	type UserInput,
} from "../../api/values/content.ts";
import type { PromptFile } from "../../api/values/prompt-file.ts";
import { KernelError } from "../../base/errors.ts";
import { attributeValue } from "../../base/text/quoting.ts";
import { beginning } from "../../base/text/well-formed.ts";

/** Maximum files of a prompt, and their total bytes. */
export const fileLimit = 20;
export const filesSize = 20 * 1024 * 1024;
/** Maximum bytes of a text, since the model sees all of it. */
export const textFileSize = 1024 * 1024;

/** Media types that models take, with the first bytes of such files in hexadecimal; null if those say nothing. */
const mediaKinds: ReadonlyMap<string, { readonly kind: MediaKind; readonly magic: RegExp | null }> = new Map([
	["image/png", { kind: "image", magic: /^89504e470d0a/ }],
	["image/jpeg", { kind: "image", magic: /^ffd8ff/ }],
	["image/gif", { kind: "image", magic: /^47494638/ }],
	["image/webp", { kind: "image", magic: /^52494646.{8}57454250/ }],
	["audio/mpeg", { kind: "audio", magic: null }],
	["audio/mp4", { kind: "audio", magic: null }],
	["audio/ogg", { kind: "audio", magic: /^4f676753/ }],
	["audio/wav", { kind: "audio", magic: /^52494646.{8}57415645/ }],
	["audio/webm", { kind: "audio", magic: /^1a45dfa3/ }],
	["video/mp4", { kind: "video", magic: null }],
	["video/webm", { kind: "video", magic: /^1a45dfa3/ }],
]);

export function withFiles(input: UserInput, files: readonly PromptFile[] = []): UserInput {
	if (files.length === 0) return input;
	if (files.length > fileLimit) refuse(`A prompt can have at most ${fileLimit} files, found ${files.length}.`);
	let size = 0;
	const parts = files.map((file) => {
		const bytes = toBytes(file);
		size += bytes.length;
		if (size > filesSize) refuse(`The files of a prompt can have at most ${filesSize / 1024 / 1024} MiB together.`);
		return toPart(file, bytes);
	});
	return [...toParts(input), ...parts];
}

function toBytes({ name, data }: PromptFile): Buffer {
	const bytes = Buffer.from(data, "base64");
	// Buffer silently skips characters that are not base64.
	if (bytes.toString("base64").replace(/=+$/, "") !== data.replace(/=+$/, "")) {
		refuse(`The content of ${quoted(name)} is not base64.`);
	}
	return bytes;
}

function toPart({ name, type, data }: PromptFile, bytes: Buffer): ContentPart {
	const [mediaType = ""] = type.toLowerCase().split(";");
	const known = mediaKinds.get(mediaType.trim());
	if (known === undefined) return { type: "text", text: toText(name, type, bytes) };
	if (known.magic !== null && !known.magic.test(bytes.toString("hex", 0, 16))) {
		refuse(`${quoted(name)} is not a valid ${mediaType} file.`);
	}
	return mediaPart(known.kind, toDataUri(mediaType.trim(), data));
}

function toText(name: string, type: string, bytes: Buffer): string {
	let text: string;
	try {
		text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch {
		text = "\0";
	}
	if (text.includes("\0")) {
		return refuse(
			`${quoted(name)} (${type === "" ? "no type" : type}) cannot be a part of a prompt: only text in UTF-8, ${[...mediaKinds.keys()].join(", ")} can. Put it into the work directory and name its path.`,
		);
	}
	if (bytes.length > textFileSize) {
		refuse(
			`${quoted(name)} has ${bytes.length} bytes: a text has at most ${textFileSize / 1024 / 1024} MiB. Put it into the work directory and name its path.`,
		);
	}
	return `<file name="${attributeValue(name).replace(/\s+/g, " ")}">\n${text}\n</file>`;
}

const quoted = (name: string) => JSON.stringify(beginning(name, 100));

function refuse(text: string): never {
	throw new KernelError("invalid-input", text);
}
