// Tells text, images, videos and everything else apart by suffix and first bytes. Reads no files.
import path from "node:path";

export type FileKind = "text" | "image" | "video" | "unknown";

/** Bytes from the start of a file that are enough to tell its kind. */
export const headerLength = 512;

const suffixesByKind: Readonly<Record<"text" | "image" | "video", readonly string[]>> = {
	// Some systems take these for media: SVG is markup, the others are TypeScript and not MPEG streams.
	text: [".svg", ".ts", ".tsx", ".mts", ".cts"],
	image: [
		...[".png", ".jpg", ".jpeg", ".jpe", ".gif", ".bmp", ".tif", ".tiff", ".ico", ".webp"],
		...[".heic", ".heif", ".avif", ".jxl", ".jp2", ".psd", ".tga"],
	],
	video: [
		...[".mp4", ".m4v", ".mov", ".qt", ".avi", ".mkv", ".webm", ".wmv", ".asf", ".flv", ".f4v"],
		...[".mpg", ".mpeg", ".mpe", ".3gp", ".3g2", ".ogv"],
	],
};

const kindBySuffix: ReadonlyMap<string, "text" | "image" | "video"> = new Map(
	(["text", "image", "video"] as const).flatMap((kind) =>
		suffixesByKind[kind].map((suffix) => [suffix, kind] as const),
	),
);

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
	readonly kind: "image" | "video";
	readonly offset: number;
	readonly bytes: string;
}

const signatures: readonly Signature[] = [
	{ kind: "image", offset: 0, bytes: "\x89PNG\r\n\x1a\n" },
	{ kind: "image", offset: 0, bytes: "\xff\xd8\xff" },
	{ kind: "image", offset: 0, bytes: "GIF87a" },
	{ kind: "image", offset: 0, bytes: "GIF89a" },
	{ kind: "image", offset: 0, bytes: "BM" },
	{ kind: "image", offset: 0, bytes: "II*\0" },
	{ kind: "image", offset: 0, bytes: "MM\0*" },
	{ kind: "image", offset: 0, bytes: "\0\0\x01\0" },
	{ kind: "video", offset: 0, bytes: "FLV\x01" },
	{ kind: "video", offset: 0, bytes: "\x30\x26\xb2\x75\x8e\x66\xcf\x11" },
	{ kind: "video", offset: 0, bytes: "\x1a\x45\xdf\xa3" },
];

const containerKinds: Readonly<Record<string, "image" | "video">> = { WEBP: "image", "AVI ": "video" };

const imageBrands: ReadonlySet<string> = new Set(["avif", "avis", "heic", "heif", "heix", "hevc", "mif1", "msf1"]);
const videoBrands: ReadonlySet<string> = new Set([
	...["isom", "iso2", "iso4", "iso5", "iso6", "mp41", "mp42", "avc1", "dash", "M4V ", "M4VP", "MSNV", "qt  ", "f4v "],
	...["3gp4", "3gp5", "3gp6", "3gp7", "3g2a"],
]);

function kindByBytes(header: Buffer): "image" | "video" | null {
	const text = header.subarray(0, headerLength).toString("latin1");
	if (text.startsWith("RIFF")) return containerKinds[text.slice(8, 12)] ?? null;
	if (text.slice(4, 8) === "ftyp") {
		const brand = text.slice(8, 12);
		if (imageBrands.has(brand)) return "image";
		return videoBrands.has(brand) ? "video" : null;
	}
	const found = signatures.find(({ offset, bytes }) => text.startsWith(bytes, offset));
	// Two letters are too little: a bitmap has zeros in its reserved fields.
	if (found?.bytes === "BM" && text.slice(6, 10) !== "\0\0\0\0") return null;
	return found?.kind ?? null;
}

/** The kind of a file. Where suffix and bytes contradict each other, and for binary content, it is `unknown`. */
export function detectFileKind(filePath: string, header: Buffer): FileKind {
	const suffix = path.extname(filePath).toLowerCase();
	const bySuffix = kindBySuffix.get(suffix) ?? null;
	const byBytes = kindByBytes(header);
	if (byBytes !== null) return bySuffix === null || bySuffix === byBytes ? byBytes : "unknown";
	if (bySuffix === "image" || bySuffix === "video") return bySuffix;
	if (header.subarray(0, headerLength).includes(0)) return "unknown";
	if (bySuffix === "text") return "text";
	return unreadableSuffixes.has(suffix) ? "unknown" : "text";
}
