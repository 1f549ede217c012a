// Classifies files as text, image, video or other by suffix and first bytes. Reads no files.
import { isUtf8 } from "node:buffer";
import path from "node:path";
import { headerLength, mediaTypeOfBytes } from "../../../api/values/media-type.ts";

export type FileKind = "text" | "image" | "video" | "unknown";

/** Some systems classify these as media: SVG is markup, the others are TypeScript and not MPEG streams. */
const textSuffixes: ReadonlySet<string> = new Set([".svg", ".ts", ".tsx", ".mts", ".cts"]);

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

const unreadableSuffixes: ReadonlySet<string> = new Set([
	// office
	...[".pdf", ".doc", ".docx", ".dot", ".dotx", ".xls", ".xlsx", ".xlsb", ".xlsm", ".ppt", ".pptx", ".pps", ".ppsx"],
	...[".odt", ".ods", ".odp", ".odg", ".rtf", ".epub", ".pages", ".numbers", ".key"],
	// archives
	...[".zip", ".tar", ".gz", ".tgz", ".bz2", ".tbz2", ".xz", ".txz", ".zst", ".lz", ".lz4", ".7z", ".rar", ".cab"],
	...[".jar", ".war", ".ear", ".apk", ".ipa", ".deb", ".rpm", ".whl", ".br"],
	// audio
	...[".mp3", ".wav", ".flac", ".ogg", ".oga", ".opus", ".aac", ".m4a", ".wma", ".aif", ".aiff", ".mid", ".midi"],
	// fonts
	...[".ttf", ".otf", ".ttc", ".woff", ".woff2", ".eot"],
	// binaries
	...[".exe", ".dll", ".so", ".dylib", ".bin", ".o", ".obj", ".a", ".lib", ".class", ".pyc", ".pyo", ".wasm", ".node"],
	// disk images
	...[".iso", ".img", ".dmg", ".vhd", ".vhdx", ".vmdk", ".qcow2"],
	// databases
	...[".db", ".sqlite", ".sqlite3", ".mdb", ".accdb", ".parquet"],
]);

function typeBySuffix(filePath: string): string | null {
	return mediaTypes.get(path.extname(filePath).toLowerCase()) ?? null;
}

function kindOfType(type: string): "image" | "video" {
	return type.startsWith("image/") ? "image" : "video";
}

/** The MIME type of an image or a video, by its content, else by its suffix; null when both are unknown. */
export function mediaType(filePath: string, header: Buffer): string | null {
	return mediaTypeOfBytes(header) ?? typeBySuffix(filePath);
}

/** Whether the bytes are text, whatever the suffix. */
export function isText(header: Buffer): boolean {
	if (mediaTypeOfBytes(header) !== null || header.includes(0)) return false;
	// Its last character may be truncated.
	return [0, 1, 2, 3].some((cut) => isUtf8(header.subarray(0, Math.max(0, header.length - cut))));
}

/** The kind of a file; `unknown` where suffix and bytes contradict each other, and for binary content. */
export function detectFileKind(filePath: string, header: Buffer): FileKind {
	const suffix = path.extname(filePath).toLowerCase();
	const isTextSuffix = textSuffixes.has(suffix);
	const typed = typeBySuffix(filePath);
	const bySuffix = isTextSuffix ? "text" : typed === null ? null : kindOfType(typed);
	const found = mediaTypeOfBytes(header);
	if (found !== null) return bySuffix === null || bySuffix === kindOfType(found) ? kindOfType(found) : "unknown";
	if (bySuffix === "image" || bySuffix === "video") return bySuffix;
	if (header.subarray(0, headerLength).includes(0)) return "unknown";
	if (bySuffix === "text") return "text";
	return unreadableSuffixes.has(suffix) ? "unknown" : "text";
}
