// Recognizes images and videos by their first bytes.

/** Bytes of a file that suffice to recognize it. */
export const headerLength = 512;

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
	{ type: "video/mpeg", bytes: "\0\0\x01\xba" },
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

/** MPEG transport stream packets all begin with the same byte. */
const packetLength = 188;

function isTransportStream(text: string): boolean {
	return text.length > 2 * packetLength && [0, 1, 2].every((index) => text.charAt(index * packetLength) === "G");
}

/** The MIME type of an image or video; null for anything else. */
export function mediaTypeOfBytes(header: Buffer): string | null {
	const text = header.subarray(0, headerLength).toString("latin1");
	if (text.startsWith("RIFF")) return containerTypes[text.slice(8, 12)] ?? null;
	if (text.slice(4, 8) === "ftyp") return brandTypes.get(text.slice(8, 12)) ?? null;
	if (isTransportStream(text)) return "video/mp2t";
	const found = signatures.find(({ bytes }) => text.startsWith(bytes));
	// Two letters are too weak a signature: a bitmap also has zeros in its reserved fields.
	if (found?.bytes === "BM" && text.slice(6, 10) !== "\0\0\0\0") return null;
	// WebM is Matroska with that document type.
	return found?.type === "video/x-matroska" && text.includes("webm") ? "video/webm" : (found?.type ?? null);
}
