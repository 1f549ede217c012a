// One unsupported or mislabeled medium would make the provider refuse this and every later request.
import {
	type ContentPart,
	isMedia,
	type MediaKind,
	type MediaPart,
	mediaPart,
	readMedia,
	textPart,
	toDataUri,
} from "../../../api/values/content.ts";
import type { HistoryEntry } from "../../../api/values/conversation.ts";
import { headerLength, mediaTypeOfBytes } from "../../../api/values/media-type.ts";
import type { Capability } from "../model.ts";

export interface MediaRules {
	/** MIME types of images. */
	readonly images: ReadonlySet<string>;
	/** Whether the provider has models that accept video. */
	readonly videos: boolean;
	/** Whether the provider has models that accept audio; no model capability says which. */
	readonly audio: boolean;
	/** Protocols of URLs that the provider reads, including the colon. */
	readonly protocols: ReadonlySet<string>;
}

export function withAcceptedMedia(
	messages: readonly HistoryEntry[],
	rules: MediaRules,
	capabilities: ReadonlySet<Capability>,
): readonly HistoryEntry[] {
	return messages.map((message) => {
		const content = message.content.map((part) => accept(part, rules, capabilities));
		return content.every((part, index) => part === message.content[index]) ? message : { ...message, content };
	});
}

export function isAcceptedMedium(part: MediaPart, rules: MediaRules, capabilities: ReadonlySet<Capability>): boolean {
	return accept(part, rules, capabilities).type !== "text";
}

function accept(part: ContentPart, rules: MediaRules, capabilities: ReadonlySet<Capability>): ContentPart {
	if (!isMedia(part)) return part;
	const { kind, url } = readMedia(part);
	const address = isTaken(kind, rules, capabilities)
		? toAccepted(kind, url, rules)
		: refused("this model does not accept it");
	if (!address.ok) return textPart(`[${kind} left out: ${address.reason}]`);
	return address.url === url ? part : mediaPart(kind, address.url);
}

/** The history may come from another model. */
function isTaken(kind: MediaKind, { videos, audio }: MediaRules, capabilities: ReadonlySet<Capability>): boolean {
	switch (kind) {
		case "image":
			return capabilities.has("image_in");
		case "video":
			return videos && capabilities.has("video_in");
		case "audio":
			return audio;
	}
}

type Address = { readonly ok: true; readonly url: string } | { readonly ok: false; readonly reason: string };

function refused(reason: string): Address {
	return { ok: false, reason };
}

function toAccepted(kind: MediaKind, url: string, rules: MediaRules): Address {
	if (/^data:/i.test(url)) return toAcceptedData(kind, url, rules);
	if (!URL.canParse(url)) return refused("its address is not a URL");
	const { protocol } = new URL(url);
	return rules.protocols.has(protocol) ? { ok: true, url } : refused(`the provider cannot read ${protocol} addresses`);
}

function toAcceptedData(kind: MediaKind, url: string, { images }: MediaRules): Address {
	const comma = url.indexOf(",");
	if (comma < 0) return refused(`its data is not valid ${kind} data`);
	const [declared = "", ...parameters] = url.slice("data:".length, comma).toLowerCase().split(";");
	const content = url.slice(comma + 1);
	const isBase64 = parameters.some((parameter) => parameter.trim() === "base64");
	const data = isBase64 ? toPlainBase64(content) : Buffer.from(decodePercents(content), "utf8").toString("base64");
	if (data === null) return refused("its data is not base64");
	const type = typeOf(kind, declared.trim(), data);
	if (type === null) return refused(`its data is not valid ${kind} data`);
	const isAccepted = kind === "image" ? images.has(type) : type.startsWith(`${kind}/`);
	if (!isAccepted) return refused(`the provider does not accept ${type}`);
	return { ok: true, url: toDataUri(type, data) };
}

/** The MIME type by the data's bytes, else the declared one; null if it is not of this kind. */
function typeOf(kind: MediaKind, declared: string, data: string): string | null {
	// Audio bytes are often those of a video container.
	if (kind === "audio") return data !== "" && /^audio\/[a-z0-9.+-]+$/.test(declared) ? declared : null;
	// Four base64 characters are three bytes.
	const known = mediaTypeOfBytes(Buffer.from(data.slice(0, Math.ceil(headerLength / 3) * 4), "base64"));
	if (known !== null) return known;
	if (data === "" || !/^[a-z]+\/[a-z0-9.+-]+$/.test(declared)) return null;
	// All supported images are recognizable by their bytes; there are more kinds of videos.
	const isUnknownKind = kind === "video" || !knownImages.has(declared);
	return isUnknownKind ? declared : null;
}

const knownImages: ReadonlySet<string> = new Set([
	...["image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp", "image/heic", "image/heif"],
]);

/** Normalizes base64: no line breaks, with padding, standard alphabet; null if invalid. */
function toPlainBase64(text: string): string | null {
	if (text.length % 4 === 0 && plainBase64.test(text)) return text;
	const letters = text.replace(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
	const padded = letters.padEnd(Math.ceil(letters.length / 4) * 4, "=");
	return letters.length % 4 !== 1 && plainBase64.test(padded) ? padded : null;
}

const plainBase64 = /^[A-Za-z0-9+/]*={0,2}$/;

function decodePercents(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}
