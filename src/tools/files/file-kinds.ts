// Classifies files as text, image, video or other by suffix and first bytes. Reads no files.
import { isUtf8 } from "node:buffer";
import path from "node:path";

export type FileKind = "text" | "image" | "video" | "unknown";

/** Bytes from the start of a file that suffice to classify it. */
export const headerLength = 512;

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

interface Signature {
	readonly type: string;
	readonly bytes: string;
}

const signatures: readonly Signature[] = [
	{ type: "image/png", bytes: "\x89PNG\r\n\x1a\n" },
	{ type: "image/jpeg", bytes: "\xff\xd8\xff" },
	{ type: "image/gif", bytes: "GIF87a" },
	{ type: "image/gif", bytes: "GIF89a" },
	{ type: "image/bmp", bytes: "BM" },
	{ type: "image/tiff", bytes: "II*\0" },
	{ type: "image/tiff", bytes: "MM\0*" },
	{ type: "image/x-icon", bytes: "\0\0\x01\0" },
	{ type: "video/x-flv", bytes: "FLV\x01" },
	{ type: "video/x-ms-asf", bytes: "\x30\x26\xb2\x75\x8e\x66\xcf\x11" },
	{ type: "video/x-matroska", bytes: "\x1a\x45\xdf\xa3" },
];

const containerTypes: Readonly<Record<string, string>> = { WEBP: "image/webp", "AVI ": "video/x-msvideo" };

const brandTypes: ReadonlyMap<string, string> = new Map([
	...["avif", "avis"].map((brand) => [brand, "image/avif"] as const),
	...["heic", "heix", "hevc"].map((brand) => [brand, "image/heic"] as const),
	...["heif", "mif1", "msf1"].map((brand) => [brand, "image/heif"] as const),
	...["isom", "iso2", "iso4", "iso5", "iso6", "mp41", "mp42", "avc1", "dash", "MSNV"].map(
		(brand) => [brand, "video/mp4"] as const,
	),
	...["M4V ", "M4VP"].map((brand) => [brand, "video/x-m4v"] as const),
	["qt  ", "video/quicktime"],
	["f4v ", "video/x-f4v"],
	...["3gp4", "3gp5", "3gp6", "3gp7"].map((brand) => [brand, "video/3gpp"] as const),
	["3g2a", "video/3gpp2"],
]);

function typeByBytes(header: Buffer): string | null {
	const text = header.subarray(0, headerLength).toString("latin1");
	if (text.startsWith("RIFF")) return containerTypes[text.slice(8, 12)] ?? null;
	if (text.slice(4, 8) === "ftyp") return brandTypes.get(text.slice(8, 12)) ?? null;
	const found = signatures.find(({ bytes }) => text.startsWith(bytes));
	// Two letters are too little: a bitmap also has zeros in its reserved fields.
	if (found?.bytes === "BM" && text.slice(6, 10) !== "\0\0\0\0") return null;
	// WebM is Matroska with that document type.
	return found?.type === "video/x-matroska" && text.includes("webm") ? "video/webm" : (found?.type ?? null);
}

function typeBySuffix(filePath: string): string | null {
	return mediaTypes.get(path.extname(filePath).toLowerCase()) ?? null;
}

function kindOfType(type: string): "image" | "video" {
	return type.startsWith("image/") ? "image" : "video";
}

/** The MIME type of an image or a video, by its content, else by its suffix; null when both are unknown. */
export function mediaType(filePath: string, header: Buffer): string | null {
	return typeByBytes(header) ?? typeBySuffix(filePath);
}

/** Whether the bytes are text, whatever the suffix. */
export function isText(header: Buffer): boolean {
	if (typeByBytes(header) !== null || header.includes(0)) return false;
	// Its last character may be truncated.
	return [0, 1, 2, 3].some((cut) => isUtf8(header.subarray(0, Math.max(0, header.length - cut))));
}

/** The kind of a file; `unknown` where suffix and bytes contradict each other, and for binary content. */
export function detectFileKind(filePath: string, header: Buffer): FileKind {
	const suffix = path.extname(filePath).toLowerCase();
	const isTextSuffix = textSuffixes.has(suffix);
	const typed = typeBySuffix(filePath);
	const bySuffix = isTextSuffix ? "text" : typed === null ? null : kindOfType(typed);
	const found = typeByBytes(header);
	if (found !== null) return bySuffix === null || bySuffix === kindOfType(found) ? kindOfType(found) : "unknown";
	if (bySuffix === "image" || bySuffix === "video") return bySuffix;
	if (header.subarray(0, headerLength).includes(0)) return "unknown";
	if (bySuffix === "text") return "text";
	return unreadableSuffixes.has(suffix) ? "unknown" : "text";
}
