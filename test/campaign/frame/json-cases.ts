// JSON texts good and bad, in the categories of the known parser test collections, each with its verdict; and how a line
// is parsed by who predicts what a server makes of it.

export interface JsonCase {
	/** UTF-8 unless the case is about other encodings. */
	readonly bytes: Buffer;
	readonly isJson: boolean;
}

const valid = (text: string): JsonCase => ({ bytes: Buffer.from(text), isJson: true });
const invalid = (text: string): JsonCase => ({ bytes: Buffer.from(text), isJson: false });
const bytes = (isJson: boolean, ...pieces: readonly (string | readonly number[])[]): JsonCase => ({
	bytes: Buffer.concat(pieces.map((piece) => (typeof piece === "string" ? Buffer.from(piece) : Buffer.from(piece)))),
	isJson,
});

const numbers: readonly JsonCase[] = [
	..."0|-0|1|-1|10|1.5|0.0|-0.25|1e5|1E5|1e+5|1e-5|0e0|0E+1|1.0e308|1e400|-1e400|1e-400|123456789012345678901234567890|0.10000000000000000000000000000001"
		.split("|")
		.map(valid),
	..."+1|01|-01|00|1.|.5|-.5|1.e5|1e|1e+|1E-|0x10|0b1|1_000|1,5|--1|-|+|e5|1e5.5|Infinity|-Infinity|+Infinity|NaN|-NaN|nan|inf|1f|1n|0o7|1 2|１|²"
		.split("|")
		.map(invalid),
];

const strings: readonly JsonCase[] = [
	...[
		'""',
		'" "',
		'"a"',
		'"é"',
		'"\u2028\u2029"',
		'"\\""',
		'"\\\\"',
		'"\\/"',
		'"\\b\\f\\n\\r\\t"',
		'"\\u0000"',
		'"\\u00e9"',
		'"\\uD83D\\uDE00"',
		'"\\ud83d"',
		'"\\ude00"',
		'"\\uDE00\\uD83D"',
		'"\\uD800\\uD800\\uDC00"',
		'"\\uFFFF"',
		'"\\uFEFF"',
		'"\ufeff"',
		'"\u007f"',
		'"\u0085"',
		'"👩‍👩‍👧"',
		'"\\u2028"',
	].map(valid),
	...[
		'"',
		'"a',
		'a"',
		"'a'",
		'"\\"',
		'"\\x41"',
		'"\\a"',
		'"\\u"',
		'"\\u12"',
		'"\\u12G4"',
		'"\\U0001F600"',
		'"\\u{1F600}"',
		'"\\\u0000"',
		'"\t"',
		'"\u0000"',
		'"\u001f"',
		'"\r"',
		'"\\"a',
		'"a""b"',
		'"a"b"',
		"“a”",
		"`a`",
		"\\u0022a\\u0022",
		'"\\ud83d\\u"',
	].map(invalid),
];

const structures: readonly JsonCase[] = [
	...'null|true|false|[]|{}|[1]|[1,2]|[[]]|[{}]|{"a":1}|{"":0}|{"a":{}}|{"a":[]}|{"a":1,"a":2}|{"__proto__":1}|{"__proto__":{"jsonrpc":"1.0"}}|{"constructor":{"prototype":{}}}|{"toString":1}|{"hasOwnProperty":null}|[ ]|{ }| [1 , 2]\t|\r[1]\r'
		.split("|")
		.map(valid),
	...'[|]|{|}|[1,]|[,1]|[1,,2]|[1 2]|[1:2]|{"a"}|{"a":}|{"a":1,}|{,"a":1}|{"a" 1}|{"a":1 "b":2}|{a:1}|{\'a\':1}|{1:1}|{null:1}|{"a"::1}|{"a":1}}|[1]]|[]x|{}{}|[][]|1 1|null null|true,|nul|TRUE|True|None|undefined|tru|falsee|// c|[1]//c|/**/[]|[1]#c|#|<xml/>|{"a":1|["a"|[1,2|*|&|=|;|\\|(1)|{[]}|[{]}|{"a":[}|["a":1]'
		.split("|")
		.map(invalid),
];

const encodings: readonly JsonCase[] = [
	bytes(false, [0xef, 0xbb, 0xbf], "{}"),
	bytes(false, [0xef, 0xbb, 0xbf]),
	bytes(false, [0xff, 0xfe], [0x7b, 0x00, 0x7d, 0x00]),
	bytes(false, [0xfe, 0xff], [0x00, 0x7b, 0x00, 0x7d]),
	bytes(false, [0x7b, 0x00, 0x7d, 0x00]),
	bytes(false, [0x00, 0x7b, 0x00, 0x7d]),
	bytes(false, [0x5b, 0x00, 0x00, 0x00, 0x5d, 0x00, 0x00, 0x00]),
	// Invalid UTF-8 inside a string is replaced, so the text is JSON; outside it is not.
	bytes(true, '"', [0xff], '"'),
	bytes(true, '"', [0xc0, 0xaf], '"'),
	bytes(true, '"', [0xe0, 0x80, 0xaf], '"'),
	bytes(true, '"', [0xf0, 0x80, 0x80, 0xaf], '"'),
	bytes(true, '"', [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80], '"'),
	bytes(true, '"', [0xf4, 0x90, 0x80, 0x80], '"'),
	bytes(true, '"', [0xe2, 0x82], '"'),
	bytes(true, '"', [0x80], '"'),
	bytes(true, '"', [0xfc, 0x80, 0x80, 0x80, 0x80, 0xaf], '"'),
	bytes(false, [0xff], "{}"),
	bytes(false, "{}", [0x80]),
	// An overlong quote is no quote, an overlong brace no brace.
	bytes(false, [0xc0, 0xa2], "a", [0xc0, 0xa2]),
	bytes(false, [0xc1, 0xbb], "}"),
	bytes(false, "{}", [0x00]),
	bytes(false, [0x00]),
	// White space of JSON and of Unicode: the line is trimmed of both, but inside only JSON's own counts.
	bytes(true, "\u00a0\u3000{}\u2003\u0085"),
	bytes(true, "\u001c[]\u001f\u000b\u000c"),
	bytes(false, "[\u00a01]"),
	bytes(false, "[\u000c1]"),
	bytes(false, "\u200b{}"),
	bytes(false, "\u2060{}"),
	bytes(false, "\ufeff{}"),
];

const blanks: readonly JsonCase[] = ["", " ", "\t", "\r", "\r\r", "\u00a0", "\u2028", "\u3000\u0085", "\u001c"].map(
	invalid,
);

/** The fixed cases. */
export const jsonCases: readonly JsonCase[] = [...numbers, ...strings, ...structures, ...encodings, ...blanks];

/** Nesting of a given depth, closed or not. */
export function nested(depth: number, kind: "array" | "object", isClosed: boolean): JsonCase {
	const [open, close] = kind === "array" ? ["[", "]"] : ['{"a":', "}"];
	const inner = kind === "array" ? "" : "1";
	const text = open.repeat(depth) + inner + (isClosed ? close.repeat(depth) : "");
	return { bytes: Buffer.from(text), isJson: isClosed };
}

const spaces = "\\t\\n\\v\\f\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const edges = new RegExp(`^[${spaces}]+|[${spaces}]+$`, "g");
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The value of a line, or `undefined` for what is not JSON. */
export function readLine(bytes: Uint8Array): { readonly text: string; readonly value: unknown } {
	const text = decoder.decode(bytes).replace(edges, "");
	try {
		return { text, value: JSON.parse(text) };
	} catch {
		return { text, value: undefined };
	}
}
