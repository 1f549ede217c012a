import { isUtf8 } from "node:buffer";
import path from "node:path";
import { mediaTypeOfBytes } from "../../../api/values/media-type.ts";
import { hasControls, markedEncoding } from "./encoding-guess.ts";
import { decodeStrictly } from "./encodings.ts";

export type FileKind = "text" | "image" | "video" | "unknown";

export const kindLength = 8 * 1024;

/** Media formats without a reliable signature, by suffix; only used for binary content. */
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

export function mediaType(filePath: string, header: Buffer): string | null {
	return mediaTypeOfBytes(header) ?? typeBySuffix(filePath);
}

function isText(header: Buffer): boolean {
	const marked = markedEncoding(header);
	if (marked !== null) {
		// The header may end within a character.
		const text = decodeStrictly(header, marked) ?? decodeStrictly(header.subarray(0, -2), marked);
		return text?.includes("\0") === false;
	}
	if (header.includes(0) || header.subarray(0, 5).toString("latin1") === "%PDF-") return false;
	if ([0, 1, 2, 3].some((cut) => isUtf8(header.subarray(0, Math.max(0, header.length - cut))))) return true;
	return mediaTypeOfBytes(header) === null && !hasControls(header);
}

export function isTextContent(bytes: Buffer): boolean {
	return isText(bytes.subarray(0, kindLength));
}

/** The kind of a file by its first bytes. The suffix only decides for media without a signature. */
export function detectFileKind(filePath: string, header: Buffer): FileKind {
	if (isText(header)) return "text";
	const type = mediaType(filePath, header);
	return type === null ? "unknown" : kindOfType(type);
}
