// Draws the body of an answer: the events of a provider, whole, spoilt in their JSON, or buried in what is not an event.
import { isRecord } from "../../../src/base/json.ts";
import type { Random } from "../random.ts";
import type { AnswerProtocol } from "./answers-protocols.ts";

export interface DrawnBody {
	readonly bytes: Buffer;
	/** Whether it says the texts, and ends. */
	readonly isIntact: boolean;
	readonly texts: readonly string[];
}

export function drawBody(random: Random, protocol: AnswerProtocol, traits: string[]): DrawnBody {
	const texts = drawTexts(random);
	if (!random.chance(35))
		return { bytes: Buffer.from(drawLines(random, protocol.events(texts)).join("")), isIntact: true, texts };
	const spoiling = random.pick(spoilings);
	traits.push(`body: ${spoiling.name}`);
	return { bytes: spoiling.spoil(random, protocol), isIntact: false, texts };
}

/** Not empty, as an answer is that says nothing; often about as long as what buffers hold. */
function drawTexts(random: Random): string[] {
	const letters = random.pick(["a", "word ", "ünï ", "語", "👩‍👩‍👧", '"\\', "\u2028\n", "<think>"]);
	const total = random.below(random.pick([10, 1000, 20_000, 60_000, 150_000]));
	const count = 1 + random.below(random.pick([2, 20, 100]));
	const each = Math.floor(total / count / letters.length);
	return Array.from({ length: count }, (_value, index) => `${index}${letters.repeat(random.below(2 * each + 1))}`);
}

/** The same events with other line ends, and with what is to be passed over. */
function drawLines(random: Random, events: readonly string[]): string[] {
	const lineEnd = random.pick(["\n", "\n", "\r\n", "\r"]);
	const between = random.chance(20)
		? random.pick([": ping\n\n", "retry: 5\n", "id: 1\n", "unknown: x\n", "\n\n\n"])
		: "";
	return events.map((event) => (between + event).replaceAll("\n", lineEnd));
}

interface Spoiling {
	readonly name: string;
	readonly spoil: (random: Random, protocol: AnswerProtocol) => Buffer;
}

const mebibyte = 1024 * 1024;

const spoilings: readonly [Spoiling, ...Spoiling[]] = [
	{ name: "other values", spoil: (random, { recorded }) => spoilValues(random, recorded) },
	{ name: "other values", spoil: (random, { recorded }) => spoilValues(random, recorded) },
	{ name: "another order", spoil: (random, { recorded }) => Buffer.from(shuffle(random, recorded).join("")) },
	{
		name: "events twice",
		spoil: (random, { recorded }) =>
			Buffer.from(recorded.flatMap((event) => Array(1 + random.below(3)).fill(event)).join("")),
	},
	{
		name: "events missing",
		spoil: (random, { recorded }) => Buffer.from(recorded.filter(() => random.chance(70)).join("")),
	},
	{ name: "other bytes", spoil: (random, { recorded }) => spoilBytes(random, Buffer.from(recorded.join(""))) },
	{
		name: "an error",
		spoil: (random, protocol) => Buffer.from(insert(random, protocol.recorded, `data: ${protocol.error}\n\n`).join("")),
	},
	{ name: "an error alone", spoil: (_random, { error }) => Buffer.from(error) },
	{
		name: "an event named error",
		spoil: (random, { recorded }) =>
			Buffer.from(
				insert(random, recorded, random.pick(["event: error\ndata: no\n\n", 'error: {"message":1}\n'])).join(""),
			),
	},
	{
		name: "deep",
		spoil: (random, { recorded }) => Buffer.from(insert(random, recorded, `data: ${"[".repeat(100_000)}\n\n`).join("")),
	},
	{
		name: "deep and closed",
		spoil: (random, { recorded }) =>
			Buffer.from(insert(random, recorded, `data: ${'{"a":['.repeat(5000)}1${"]}".repeat(5000)}\n\n`).join("")),
	},
	{
		name: "no event",
		spoil: (random) => Buffer.alloc(1 + random.below(random.pick([1000, mebibyte])), random.pick(["x", "\0", "\xff"])),
	},
	{
		name: "lines of nothing",
		spoil: (random) =>
			Buffer.from(
				random
					.pick(["\n", "\r", "a\n", ":\n", "data\n", "data:\n", "error\n"])
					.repeat(random.below(random.pick([100, 50_000]))),
			),
	},
	{
		name: "many events",
		spoil: (random) =>
			Buffer.from(
				random
					.pick(["data:\n\n", "data: {}\n\n", "data: 1\n\n", "data: []\n\n", "data: null\n\n"])
					.repeat(random.below(random.pick([100, 5000]))),
			),
	},
	{
		name: "a long event",
		spoil: (random, { events }) =>
			Buffer.from(events(["x".repeat(random.below(random.pick([1000, 100_000, 2 * mebibyte])))]).join("")),
	},
	{ name: "nothing", spoil: () => Buffer.alloc(0) },
];

function shuffle(random: Random, events: readonly string[]): string[] {
	const left = [...events];
	return events.flatMap(() => left.splice(random.below(left.length), 1));
}

function insert(random: Random, events: readonly string[], event: string): string[] {
	return events.toSpliced(random.below(events.length + 1), 0, event);
}

function spoilBytes(random: Random, bytes: Buffer): Buffer {
	for (let count = random.below(20); count >= 0; count -= 1) bytes[random.below(bytes.length)] = random.below(256);
	return bytes;
}

function spoilValues(random: Random, events: readonly string[]): Buffer {
	const spoilt = events.map((event) =>
		event.replace(/^data: ?(\{.*\})$/gm, (line, json: string) =>
			random.chance(40) ? `data: ${JSON.stringify(spoilValue(random, JSON.parse(json)))}` : line,
		),
	);
	return Buffer.from(spoilt.join(""));
}

/** The same value with something else in one place. */
function spoilValue(random: Random, value: unknown): unknown {
	const isInner = Array.isArray(value) || isRecord(value);
	if (!isInner || random.chance(20)) return drawValue(random);
	const keys = Object.keys(value);
	if (keys.length === 0) return drawValue(random);
	const key = keys[random.below(keys.length)] ?? "";
	if (Array.isArray(value))
		return value.map((item, index) => (String(index) === key ? spoilValue(random, item) : item));
	return { ...value, [key]: spoilValue(random, value[key]) };
}

function drawValue(random: Random): unknown {
	return random.pick<unknown>([
		null,
		true,
		"",
		"x",
		"\ud800",
		0,
		-1,
		1e308,
		Number.MAX_SAFE_INTEGER + 2,
		[],
		[null],
		{},
		{ type: "x" },
		{ __proto__: null, constructor: 1 },
		JSON.parse('{"__proto__": {"type": "text"}}'),
		"x".repeat(10_000),
	]);
}
