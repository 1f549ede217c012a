// Lines that a server of JSON-RPC may be sent, good and bad, as arbitraries: requests that nearly fit, envelopes with
// members missing, twice there or wrong, values of the parser collections, damaged traffic and noise.
import fc from "fast-check";
import { type JsonCase, jsonCases, nested } from "./json-cases.ts";

/** What a dialect contributes to the lines that are sent to it. */
export interface Vocabulary {
	/** Names of methods: those that exist, those that nearly do, and those that do not. */
	readonly methods: fc.Arbitrary<string>;
	/** Calls of its methods, with params that fit or nearly do. */
	readonly calls: fc.Arbitrary<{ readonly method: string; readonly params: unknown }>;
	/** Ids of requests, as JSON text. */
	readonly ids: fc.Arbitrary<string>;
	/** Ids of every kind that is one, and of every kind that is none, as JSON text. */
	readonly oddIds: fc.Arbitrary<string>;
	/** Answers to what nobody requested. */
	readonly strayAnswers: readonly string[];
	/** Lines of real clients. */
	readonly traffic: readonly string[];
	/** Texts around a value. */
	readonly frames: readonly (readonly [string, string])[];
	/** Texts around deep nesting: places where a value is stored, checked or passed on. */
	readonly deepFrames: readonly (readonly [string, string])[];
}

export const choose = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

/** After how many events a turn is cancelled, at most so many; null in four cases of five, in which it is not. */
export function cancelMoment(most: number): fc.Arbitrary<number | null> {
	return fc.oneof(
		{ weight: 4, arbitrary: fc.constant(null) },
		{ weight: 1, arbitrary: fc.integer({ min: 1, max: most }) },
	);
}

/** Absent in all but `percent` of the cases. */
export function sometimes<T>(percent: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
	return fc.oneof({ weight: 100 - percent, arbitrary: fc.constant(undefined) }, { weight: percent, arbitrary });
}

/** The members of a record, each now and then missing or another value. */
export function bent(members: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<Record<string, unknown>> {
	const each = Object.entries(members).map(([key, value]) =>
		fc
			.oneof({ weight: 92, arbitrary: value }, { weight: 4, arbitrary: anyValue(1) }, { weight: 4, arbitrary: absent })
			.map((found) => [key, found] as const),
	);
	const more = sometimes(8, fc.tuple(choose("more", "id", "method", "constructor"), anyValue(1)));
	return fc
		.tuple(fc.tuple(...each), more)
		.map(([pairs, added]) => withoutAbsent([...pairs, ...(added === undefined ? [] : [added])]));
}

const absent = fc.constant(undefined);

/** A record of these members, from which those that are undefined are left out. */
export function withoutAbsent(pairs: readonly (readonly [string, unknown])[]): Record<string, unknown> {
	return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
}

export const texts: fc.Arbitrary<string> = choose(
	...["", "a", "hello", "2.0", "1.7", "\u2028\u2029", "\ud83d", "0", "true", "text: hi", "\u0000", "</s> {}", "é\r"],
	"x".repeat(300),
);

const scalars: fc.Arbitrary<unknown> = fc.oneof(
	texts,
	choose<unknown>(null, true, false),
	choose<unknown>(0, 1, -1, 1.5, 1e308, -32000, 9_007_199_254_740_992, 5e-324),
);

const keys = choose(
	...["a", "id", "method", "params", "result", "error", "jsonrpc", "type", "text", "user_input", "code", "message"],
	...["__proto__", "", "constructor", "url", "session_id", "prompt"],
);

const valuesByDepth: fc.Arbitrary<unknown>[] = [scalars];

/** Any value of JSON, nested at most so deep. */
export function anyValue(depth: number): fc.Arbitrary<unknown> {
	const known = valuesByDepth[depth];
	if (known !== undefined) return known;
	const inner = anyValue(depth - 1);
	const made: fc.Arbitrary<unknown> = fc.oneof(
		{ weight: 6, arbitrary: scalars },
		{ weight: 2, arbitrary: fc.array(inner, { maxLength: 3 }) },
		{ weight: 1, arbitrary: fc.array(fc.tuple(keys, inner), { maxLength: 3 }).map(Object.fromEntries) },
	);
	valuesByDepth[depth] = made;
	return made;
}

const json = (value: unknown): string => JSON.stringify(value) ?? "null";
const toBytes = (line: string): Buffer => Buffer.from(line);

function requests({ calls, ids }: Vocabulary): fc.Arbitrary<string> {
	return fc.tuple(calls, ids).map(([{ method, params }, id]) => {
		const given = params === undefined ? "" : `,"params":${json(params)}`;
		return `{"jsonrpc":"2.0","id":${id},"method":${json(method)}${given}}`;
	});
}

/** Envelopes with each member missing, there or wrong, in any order, and now and then with two ids. */
function envelopes({ methods, ids, oddIds, calls }: Vocabulary): fc.Arbitrary<string> {
	const error = fc.oneof(
		fc
			.tuple(choose<unknown>(-32000, 1, "5", "-7", "x", 1.5, null), choose<unknown>("m", "", 1, null), anyValue(1))
			.map(([code, message, data]) => json({ code, message, data })),
		anyValue(2).map(json),
	);
	const id = fc.oneof({ weight: 3, arbitrary: ids }, { weight: 2, arbitrary: oddIds });
	return fc
		.record({
			jsonrpc: sometimes(85, choose(...['"2.0"', '"2.0"', '"2.0"', '"2.0"', "null", "2", '"2.1"', '""', '"2.0 "'])),
			id: sometimes(85, id),
			method: sometimes(
				65,
				fc.oneof({ weight: 5, arbitrary: methods.map(json) }, { weight: 1, arbitrary: anyValue(1).map(json) }),
			),
			params: sometimes(
				40,
				fc.oneof(
					anyValue(2).map(json),
					calls.map(({ params }) => json(params)),
				),
			),
			result: sometimes(20, anyValue(2).map(json)),
			error: sometimes(20, error),
			more: sometimes(10, fc.constant("1")),
			twice: sometimes(4, id),
			isReversed: fc.boolean(),
		})
		.map(({ isReversed, twice, ...members }) => {
			const pairs = Object.entries(withoutAbsent(Object.entries(members))).map(([key, value]) => `"${key}" :${value}`);
			const ordered = isReversed ? pairs.reverse() : pairs;
			return ` {${[...ordered, ...(twice === undefined ? [] : [`"id":${twice}`])].join(" , ")} }`;
		});
}

/** Lines that are cut, joined, flipped, followed by something, or several in one. */
function damaged(sources: fc.Arbitrary<string>): fc.Arbitrary<Buffer> {
	const place = fc.nat({ max: 10_000 });
	const at = (bytes: Buffer, where: number): number => where % (bytes.length + 1);
	const pair = fc.tuple(sources, sources).map(([one, other]) => [toBytes(one), toBytes(other)] as const);
	return fc.oneof(
		fc.tuple(sources, place).map(([text, where]) => toBytes(text).subarray(0, at(toBytes(text), where))),
		fc
			.tuple(pair, place, place)
			.map(([[one, other], end, start]) =>
				Buffer.concat([one.subarray(0, at(one, end)), other.subarray(at(other, start))]),
			),
		fc
			.tuple(sources, fc.array(fc.tuple(place, fc.nat({ max: 255 })), { minLength: 1, maxLength: 3 }))
			.map(([text, flips]) => {
				const bytes = toBytes(text);
				for (const [where, value] of flips) bytes[where % bytes.length] = value;
				return bytes;
			}),
		fc.tuple(sources, choose(" x", "}", "\r", "\u0000")).map(([text, more]) => toBytes(text + more)),
		fc.tuple(choose("\ufeff", "\u00a0", "\t\r", "\u200b"), sources).map(([before, text]) => toBytes(before + text)),
		pair.map(([one, other]) => Buffer.concat([one, other])),
		fc.tuple(sources, sources).map(([one, other]) => toBytes(`[${one},${other}]`)),
	);
}

const cases: fc.Arbitrary<Buffer> = choose<JsonCase>(...jsonCases).map(({ bytes }) => bytes);

function framed(frames: readonly (readonly [string, string])[], inner: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
	return fc
		.tuple(choose(...frames), inner)
		.map(([[before, after], bytes]) => Buffer.concat([toBytes(before), bytes, toBytes(after)]));
}

const deep = fc
	.tuple(
		choose(10, 100, 1000, 5000, 20_000, 100_000),
		choose<"array" | "object">("array", "object"),
		choose(1, 1, 1, 1, 0),
	)
	.map(([depth, kind, isClosed]) => nested(depth, kind, isClosed === 1).bytes);

/** Ways of text to be around any value, whatever the dialect is. */
const plainFrames: readonly (readonly [string, string])[] = [
	['{"id":"zz","result":', "}"],
	['{"id":"zz","error":{"code":', ',"message":"m"}}'],
	["[", "]"],
	['{"a":', "}"],
];

/** One line without its newline; noise may hold newlines, and is several lines then. */
export function hostileLine(vocabulary: Vocabulary): fc.Arbitrary<Buffer> {
	const { traffic, frames, deepFrames, strayAnswers, ids } = vocabulary;
	const request = requests(vocabulary);
	const envelope = envelopes(vocabulary);
	const stray = fc.tuple(ids, choose(...strayAnswers)).map(([id, answer]) => `{"jsonrpc":"2.0","id":${id},${answer}}`);
	const weighted: readonly (readonly [number, fc.Arbitrary<Buffer>])[] = [
		[700, request.map(toBytes)],
		[400, envelope.map(toBytes)],
		[200, damaged(fc.oneof(choose(...traffic), request))],
		[50, stray.map(toBytes)],
		[200, framed([...frames, ...plainFrames], cases)],
		[200, cases],
		[100, anyValue(4).map(json).map(toBytes)],
		[100, fc.uint8Array({ maxLength: 80, size: "max" }).map((bytes) => Buffer.from(bytes))],
		[1, framed([["", ""], ...plainFrames, ...deepFrames], deep)],
	];
	return fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}

/** About three million bytes, whatever the dialect is. */
export const largeSize = 3_000_000;
export const largeLines: readonly (() => Buffer)[] = [
	() => Buffer.alloc(largeSize, "x"),
	() => Buffer.alloc(largeSize, " "),
	() => toBytes(json({ jsonrpc: "2.0", id: "a", method: "m".repeat(largeSize) })),
];
