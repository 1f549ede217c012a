// Tells text, images and videos by their first bytes, whatever the suffix says. Reads no files.
import { isUtf8 } from "node:buffer";
import path from "node:path";
import { mediaTypeOfBytes } from "../../../api/values/media-type.ts";
import { hasControls, markedEncoding } from "./encoding-guess.ts";
import { decodeStrictly } from "./encodings.ts";

export type FileKind = "text" | "image" | "video" | "unknown";

/** Bytes from the start of a file that suffice. */
export const kindLength = 8 * 1024;

/** The media whose bytes vary too much to be told by them; only binary content is taken for them. */
const mediaTypes: ReadonlyMap<string, string> = new Map([
	[".png", "image/png"],
	...[".jpg", ".jpeg", ".jpe"].map((suffix) => [suffix, "image/jpeg"] as const),
	[".gif", "image/gif"],
	[".bmp", "image/bmp"],
	...[".tif", ".tiff"].map((suffix) => [suffix, "image/tiff"] as const),
	[".ico", "image/x-icon"],
	[".webp", "image/webp"],
	[".heic", "image/heic"],
	[".heif", "image/heif"],
	[".avif", "image/avif"],
	[".jxl", "image/jxl"],
	[".jp2", "image/jp2"],
	[".psd", "image/vnd.adobe.photoshop"],
	[".tga", "image/x-tga"],
	[".mp4", "video/mp4"],
	[".m4v", "video/x-m4v"],
	...[".mov", ".qt"].map((suffix) => [suffix, "video/quicktime"] as const),
	[".avi", "video/x-msvideo"],
	[".mkv", "video/x-matroska"],
	[".webm", "video/webm"],
	[".wmv", "video/x-ms-wmv"],
	[".asf", "video/x-ms-asf"],
	[".flv", "video/x-flv"],
	[".f4v", "video/x-f4v"],
	...[".mpg", ".mpeg", ".mpe"].map((suffix) => [suffix, "video/mpeg"] as const),
	[".3gp", "video/3gpp"],
	[".3g2", "video/3gpp2"],
	[".ogv", "video/ogg"],
]);

function typeBySuffix(filePath: string): string | null {
	return mediaTypes.get(path.extname(filePath).toLowerCase()) ?? null;
}

function kindOfType(type: string): "image" | "video" {
	return type.startsWith("image/") ? "image" : "video";
}

/** The MIME type of an image or a video that is no text, by its content, else by its suffix; null when both are unknown. */
export function mediaType(filePath: string, header: Buffer): string | null {
	return mediaTypeOfBytes(header) ?? typeBySuffix(filePath);
}

/** Whether the first bytes of a file are those of a text. */
function isText(header: Buffer): boolean {
	const marked = markedEncoding(header);
	if (marked !== null) {
		// A file may be longer, so the last character may be a part of one.
		const text = decodeStrictly(header, marked) ?? decodeStrictly(header.subarray(0, -2), marked);
		return text?.includes("\0") === false;
	}
	if (header.includes(0) || header.subarray(0, 5).toString("latin1") === "%PDF-") return false;
	if ([0, 1, 2, 3].some((cut) => isUtf8(header.subarray(0, Math.max(0, header.length - cut))))) return true;
	return mediaTypeOfBytes(header) === null && !hasControls(header);
}

/** Whether the bytes of a file are text, in whatever encoding. */
export function isTextContent(bytes: Buffer): boolean {
	return isText(bytes.subarray(0, kindLength));
}

/** The kind of a file by its first bytes; the suffix only tells media that these do not. */
export function detectFileKind(filePath: string, header: Buffer): FileKind {
	if (isText(header)) return "text";
	const type = mediaType(filePath, header);
	return type === null ? "unknown" : kindOfType(type);
}
