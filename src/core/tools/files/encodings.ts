// Encodes with tables derived from the platform's decoders, so that the two always agree.

export type Encoding =
	| "utf-8"
	| "utf-16le"
	| "utf-16be"
	| "iso-8859-1"
	| "windows-1252"
	| "windows-1251"
	| "koi8-r"
	| "shift_jis"
	| "euc-jp"
	| "gbk"
	| "big5"
	| "euc-kr";

export const encodingNames: Readonly<Record<Encoding, string>> = {
	"utf-8": "UTF-8",
	"utf-16le": "UTF-16 LE",
	"utf-16be": "UTF-16 BE",
	"iso-8859-1": "ISO-8859-1 (Latin-1)",
	"windows-1252": "Windows-1252",
	"windows-1251": "Windows-1251",
	"koi8-r": "KOI8-R",
	shift_jis: "Shift_JIS",
	"euc-jp": "EUC-JP",
	gbk: "GBK",
	big5: "Big5",
	"euc-kr": "EUC-KR",
};

/** Windows-1252 bytes 0x80 to 0x9f, which Node 20 decodes as Latin-1; a space marks an unassigned byte. */
const windowsSigns = "€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ";

export interface Decoder {
	decode(bytes?: Uint8Array, options?: { readonly stream?: boolean }): string;
}

/** A decoder that drops the byte order mark; null if the platform lacks the encoding. */
export function createDecoder(encoding: Encoding, isStrict: boolean): Decoder | null {
	if (encoding === "iso-8859-1") return { decode: decodeLatin };
	if (encoding === "windows-1252") return { decode: (bytes) => decodeWindows(bytes, isStrict) };
	try {
		return new TextDecoder(encoding, { fatal: isStrict });
	} catch (thrown) {
		if (thrown instanceof RangeError) return null;
		throw thrown;
	}
}

function decodeLatin(bytes: Uint8Array = new Uint8Array()): string {
	return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

function decodeWindows(bytes: Uint8Array | undefined, isStrict: boolean): string {
	return decodeLatin(bytes).replaceAll(/[\x80-\x9f]/g, (sign) => {
		const found = windowsSigns.charAt(sign.charCodeAt(0) - 0x80);
		if (found !== " ") return found;
		if (isStrict) throw new TypeError("Windows-1252 has no such byte");
		return "\ufffd";
	});
}

/** Decodes bytes without the byte order mark; null if they are invalid. */
export function decodeStrictly(bytes: Uint8Array, encoding: Encoding): string | null {
	try {
		return createDecoder(encoding, true)?.decode(bytes) ?? null;
	} catch (thrown) {
		if (thrown instanceof TypeError) return null;
		throw thrown;
	}
}

export type EncodedPiece =
	| { readonly ok: true; readonly bytes: Buffer }
	/** The first character that the encoding lacks. */
	| { readonly ok: false; readonly character: string };

/** Encodes whole characters, without a byte order mark. */
export function encodePiece(text: string, encoding: Encoding): EncodedPiece {
	switch (encoding) {
		case "utf-8":
			return { ok: true, bytes: Buffer.from(text) };
		case "utf-16le":
			return { ok: true, bytes: Buffer.from(text, "utf16le") };
		case "utf-16be":
			return { ok: true, bytes: Buffer.from(text, "utf16le").swap16() };
		default:
			return encodeByTable(text, tableOf(encoding));
	}
}

function encodeByTable(text: string, table: ReadonlyMap<string, number>): EncodedPiece {
	const bytes = Buffer.allocUnsafe(text.length * 3);
	let length = 0;
	for (const character of text) {
		const code = table.get(character);
		if (code === undefined) return { ok: false, character };
		const size = code > 0xffff ? 3 : code > 0xff ? 2 : 1;
		length = bytes.writeUIntBE(code, length, size);
	}
	return { ok: true, bytes: bytes.subarray(0, length) };
}

type TableEncoding = Exclude<Encoding, "utf-8" | "utf-16le" | "utf-16be">;

/** Created on first write, which takes about 50 ms. */
const tables = new Map<TableEncoding, ReadonlyMap<string, number>>();

function tableOf(encoding: TableEncoding): ReadonlyMap<string, number> {
	let table = tables.get(encoding);
	if (table === undefined) {
		table = createTable(encoding);
		tables.set(encoding, table);
	}
	return table;
}

/** Maps each character to its bytes as a number. Among duplicate codes the first wins, as in the standards. */
function createTable(encoding: TableEncoding): ReadonlyMap<string, number> {
	const table = new Map<string, number>();
	const leads: number[] = [];
	const add = (code: number, ...bytes: number[]): boolean => {
		const text = decodeStrictly(Uint8Array.from(bytes), encoding);
		if (text === null || [...text].length !== 1) return false;
		if (!table.has(text)) table.set(text, code);
		return true;
	};
	for (let byte = 0; byte < 0x100; byte += 1) if (!add(byte, byte)) leads.push(byte);
	for (const lead of leads) {
		// Shift_JIS has these characters twice; Windows and the web write the later codes.
		if (encoding === "shift_jis" && (lead === 0xed || lead === 0xee)) continue;
		for (let trail = 0x40; trail < 0x100; trail += 1) add(lead * 0x100 + trail, lead, trail);
	}
	if (encoding !== "euc-jp") return table;
	for (let middle = 0xa1; middle < 0xff; middle += 1) {
		for (let trail = 0xa1; trail < 0xff; trail += 1) add(0x8f0000 + middle * 0x100 + trail, 0x8f, middle, trail);
	}
	return table;
}
