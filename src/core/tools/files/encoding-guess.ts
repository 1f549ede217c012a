// Ambiguous input gives no guess: a wrong one would write wrong characters.
import { isUtf8 } from "node:buffer";
import { decodeStrictly, type Encoding } from "./encodings.ts";

/** Sample size in bytes. */
export const sampleLength = 256 * 1024;
/** Bytes of context before the first non-ASCII byte, to include its word. */
const contextLength = 16;

/** The start of the sample, given the offset of the first non-ASCII byte. */
export function sampleStart(first: number): number {
	return Math.max(0, first - contextLength);
}

/** The encoding of a file; null for binary or ambiguous content. */
export function guessEncoding(bytes: Buffer): Encoding | null {
	const marked = markedEncoding(bytes);
	if (marked !== null) return marked;
	if (isUtf8(bytes)) return "utf-8";
	const start = sampleStart(bytes.findIndex((byte) => byte >= 0x80));
	return guessOfSample(bytes.subarray(start, start + sampleLength));
}

/** The encoding named by a byte order mark. The UTF-32 mark, which begins like a UTF-16 mark, gives null. */
export function markedEncoding(bytes: Buffer): "utf-16le" | "utf-16be" | null {
	if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
	if (bytes[0] !== 0xff || bytes[1] !== 0xfe) return null;
	return bytes.length >= 4 && bytes[2] === 0 && bytes[3] === 0 ? null : "utf-16le";
}

/** Whether there are bytes that occur in no text encoding except UTF-16. */
export function hasControls(bytes: Buffer): boolean {
	// Allows backspace to carriage return, the DOS end-of-file mark and terminal escape sequences.
	return bytes.some((byte) => byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1a && byte !== 0x1b);
}

/** Guesses from a sample that starts at a character boundary and may end within a character. */
export function guessOfSample(sample: Buffer): Encoding | null {
	if (hasControls(sample)) return null;
	const end = Math.max(sample.lastIndexOf(0x0a), sample.lastIndexOf(0x20)) + 1;
	const whole = sample.length < sampleLength || end === 0 ? sample : sample.subarray(0, end);
	if (isDamagedUtf8(whole)) return null;
	const counts = countBytes(whole);
	return japaneseOf(whole, counts) ?? pairedOf(whole, counts) ?? singleByteOf(whole, counts);
}

/** Whether most non-ASCII bytes are valid UTF-8, as in a log with one broken line. */
function isDamagedUtf8(bytes: Buffer): boolean {
	const text = bytes.toString("utf8");
	const broken = text.match(/\ufffd/g)?.length ?? 0;
	const whole = text.match(/[\u0080-\ufffc\u{10000}-\u{10ffff}]/gu)?.length ?? 0;
	return whole >= broken;
}

interface Counts {
	/** Bytes from 0x80. */
	readonly high: number;
	/** Bytes from 0x80 to 0x9f. */
	readonly controls: number;
	readonly runs: number;
	/** Runs of up to two bytes, or three within words, as in Western texts. */
	readonly shortRuns: number;
	/** Western letters within words, and signs next to words. */
	readonly western: number;
	/** Signs between letters, where Western texts have none. */
	readonly misplaced: number;
	/** Two-letter runs that stand alone as a word. */
	readonly lonePairs: number;
	/** Byte pairs from the start of each run, by first byte. */
	readonly leads: readonly number[];
	readonly pairs: number;
	/** Runs of odd length or with bytes that are invalid in pairs. */
	readonly unpaired: number;
	readonly values: readonly number[];
}

/** Windows-1252 letters that occur in texts: the Latin-1 letters from 0xc0 and a few before. */
function isWesternLetter(byte: number): boolean {
	return (byte >= 0xc0 && byte !== 0xd7 && byte !== 0xf7 && byte !== 0xff) || windowsLetters.has(byte);
}

function isAsciiLetter(byte: number): boolean {
	return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}

const isLetter = (byte: number): boolean => isAsciiLetter(byte) || isWesternLetter(byte);

const windowsLetters: ReadonlySet<number> = new Set([0x83, 0x8a, 0x8c, 0x8e, 0x9a, 0x9c, 0x9e, 0x9f]);
const innerSigns: ReadonlySet<number> = new Set([0x91, 0x92, 0x96, 0x97, 0xad, 0xb4, 0xb5, 0xb7, 0xba, 0xaa]);

function countBytes(bytes: Buffer): Counts {
	const leads = new Array<number>(0x100).fill(0);
	const values = new Array<number>(0x100).fill(0);
	const counts = {
		high: 0,
		controls: 0,
		runs: 0,
		shortRuns: 0,
		western: 0,
		misplaced: 0,
		lonePairs: 0,
		pairs: 0,
		unpaired: 0,
	};
	for (let start = 0; start < bytes.length; start += 1) {
		if ((bytes[start] ?? 0) < 0x80) continue;
		let end = start;
		let isPaired = true;
		for (let byte = bytes[end] ?? 0; byte >= 0x80; byte = bytes[end] ?? 0) {
			const before = bytes[end - 1] ?? 0;
			const after = bytes[end + 1] ?? 0;
			values[byte] = (values[byte] ?? 0) + 1;
			if (byte < 0xa0) counts.controls += 1;
			if (byte < 0xa1 || byte === 0xff) isPaired = false;
			const isSign = innerSigns.has(byte) || !isLetter(before) || !isLetter(after);
			if (byte !== 0xff && (isWesternLetter(byte) || isSign)) counts.western += 1;
			else counts.misplaced += 1;
			end += 1;
		}
		const length = end - start;
		counts.high += length;
		counts.runs += 1;
		const isInWord = isAsciiLetter(bytes[start - 1] ?? 0) || isAsciiLetter(bytes[end] ?? 0);
		if (length <= (isInWord ? 3 : 2)) counts.shortRuns += 1;
		// Two letters alone are more likely one double-byte character.
		if (length === 2 && !isInWord && isWesternLetter(bytes[start] ?? 0) && isWesternLetter(bytes[start + 1] ?? 0)) {
			counts.lonePairs += 1;
		}
		if (length % 2 === 1 || !isPaired) counts.unpaired += 1;
		for (let at = start; at + 1 < end; at += 2) {
			const lead = bytes[at] ?? 0;
			leads[lead] = (leads[lead] ?? 0) + 1;
			counts.pairs += 1;
		}
		start = end;
	}
	return { ...counts, leads, values };
}

function sumOf(counts: readonly number[], first: number, last: number): number {
	return counts.slice(first, last + 1).reduce((sum, count) => sum + count, 0);
}

/** Minimum share of kana in Japanese characters: more than half in ordinary texts, less in name lists. */
const kanaShare = 0.15;

function japaneseOf(bytes: Buffer, { unpaired, leads, pairs }: Counts): Encoding | null {
	if (unpaired === 0) {
		const kana = sumOf(leads, 0xa4, 0xa5);
		return kana >= 2 && kana >= pairs * kanaShare && decodeStrictly(bytes, "euc-jp") !== null ? "euc-jp" : null;
	}
	const text = decodeStrictly(bytes, "shift_jis");
	if (text === null) return null;
	const lengthOf = (characters: RegExp): number => text.match(characters)?.join("").length ?? 0;
	const kana = lengthOf(/[\u3041-\u3096\u30a1-\u30fc]/g);
	const narrow = lengthOf(/[\uff61-\uff9f]/g);
	const wide = lengthOf(/[\u3000-\u303f\u4e00-\u9fff\uff01-\uff60]/g);
	if (kana >= 2) return kana >= (kana + narrow + wide) * kanaShare ? "shift_jis" : null;
	// Name lists have no kana. Their words have several characters, where other encodings would give single ones.
	const words = lengthOf(/[\u4e00-\u9fff\uff01-\uff60]{2,}/g);
	return words >= 4 && narrow === 0 && words >= lengthOf(/[^\0-\x7f]/g) * 0.8 ? "shift_jis" : null;
}

/** Chinese and Korean double-byte encodings. */
function pairedOf(bytes: Buffer, { unpaired, leads, pairs, runs, shortRuns }: Counts): Encoding | null {
	if (unpaired > 0) return traditionalOf(bytes);
	if (pairs < 2 || shortRuns * 2 > runs) return null;
	const hangul = sumOf(leads, 0xb0, 0xc8);
	const later = sumOf(leads, 0xc9, 0xd7);
	const signs = sumOf(leads, 0xa1, 0xa3);
	if (hangul + later + signs < pairs * 0.8) return null;
	// Common Chinese characters continue after the end of the Korean syllables.
	if (later >= (hangul + later) * 0.1) return decodeStrictly(bytes, "gbk") === null ? null : "gbk";
	return pairs >= 6 && later === 0 && decodeStrictly(bytes, "euc-kr") !== null ? "euc-kr" : null;
}

/** Big5 has its common characters at lead bytes 0xa4 to 0xc6, half of them with an ASCII trail byte. */
function traditionalOf(bytes: Buffer): Encoding | null {
	const text = decodeStrictly(bytes, "big5");
	if (text === null) return null;
	let common = 0;
	let all = 0;
	let ascii = 0;
	for (let at = 0; at < bytes.length; at += 1) {
		const lead = bytes[at] ?? 0;
		if (lead < 0x80) continue;
		all += 1;
		if (lead >= 0xa1 && lead <= 0xc6) common += 1;
		at += 1;
		if ((bytes[at] ?? 0) < 0x80) ascii += 1;
	}
	return all >= 4 && common >= all * 0.85 && ascii >= all * 0.2 && ascii <= all * 0.8 ? "big5" : null;
}

const russianLetters = "оеаинт";
const russianShare = 0.38;

function singleByteOf(
	bytes: Buffer,
	{ high, controls, runs, shortRuns, western, misplaced, lonePairs, values }: Counts,
): Encoding | null {
	if (shortRuns >= runs * 0.6) {
		if ((misplaced > 0 && misplaced * 25 >= western) || lonePairs * 2 > runs) return null;
		if (controls === 0) return "iso-8859-1";
		return decodeStrictly(bytes, "windows-1252") === null ? null : "windows-1252";
	}
	if (high < 12) return null;
	for (const encoding of ["windows-1251", "koi8-r"] as const) {
		const text = decodeStrictly(bytes, encoding);
		if (text === null) continue;
		const found = text.match(new RegExp(`[${russianLetters}]`, "g"))?.length ?? 0;
		if (found >= sumOf(values, 0x80, 0xff) * russianShare) return encoding;
	}
	return null;
}
