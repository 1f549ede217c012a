// Cases of the wedge campaign: files of sessions that somebody else has written, or that were damaged; and media.
import { randomUUID } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Case, Scene, World } from "./case.ts";
import { calling } from "./cases-search.ts";
import { fill, list, manyKeys, nest } from "./texts.ts";

type Files = Readonly<Record<string, string | Uint8Array>>;

const row = (role: string, content: unknown) => `${JSON.stringify({ role, content })}\n`;
const plainContext = `${row("_system_prompt", "You help.")}${row("user", "why?")}${row("assistant", [{ type: "text", text: "so" }])}`;
const header = '{"type":"metadata","protocol_version":"1.10"}\n';
const record = (type: string, payload: unknown) => `${JSON.stringify({ timestamp: 1, message: { type, payload } })}\n`;
const plainLog = header + record("TurnBegin", { user_input: "why?" }) + record("TurnEnd", {});

/** A journal with these lines. */
const journal = (...lines: readonly string[]) =>
	`{"journal":1,"epoch":"e","history":{"wire":0,"events":0}}\n${lines.join("\n")}\n`;
const journalEvent = (seq: number | string, input = '"why?"') =>
	`{"seq":${seq},"at":1,"turn":"t","event":{"type":"turn.started","input":${input}}}`;

const inRpc = (name: string, files: (size: number) => Files): Case => ({
	area: "stored sessions",
	name,
	reached: /session\/history.*turn\/start/,
	set: ({ stage, size }: World): Scene => {
		const id = randomUUID();
		stage.writeSession(id, { "context.jsonl": plainContext, "wire.jsonl": plainLog, ...files(size) });
		return {
			act: async (life) => {
				life.hostileSession = id;
				await life.ask("session/read", { session_id: id });
				await life.ask("session/history", { session_id: id });
				await life.ask("turn/start", { session_id: id, prompt: "and?" });
			},
		};
	},
});

const inWire = (name: string, files: (size: number) => Files): Case => ({
	area: "stored sessions, replayed",
	name,
	reached: /replay.*prompt/,
	set: ({ stage, size }): Scene => {
		const id = randomUUID();
		stage.writeSession(id, { "context.jsonl": plainContext, "wire.jsonl": plainLog, ...files(size) });
		return {
			dialect: "wire",
			flags: ["--session", id],
			act: async (life) => {
				await life.ask("replay", {});
				await life.ask("prompt", { user_input: "and?" });
			},
		};
	},
});

const stored: readonly (readonly [string, (size: number) => Files])[] = [
	["a context row of a megabyte", (size) => ({ "context.jsonl": plainContext + row("user", fill("why?\n", size)) })],
	[
		"twenty thousand context rows",
		(size) => ({ "context.jsonl": plainContext + fill(row("user", "a"), size - (size % row("user", "a").length)) }),
	],
	["a context row that is deep", (size) => ({ "context.jsonl": `${plainContext}${nest("[", "]", size)}\n` })],
	[
		"a deep member in the context",
		(size) => ({ "context.jsonl": `${plainContext}{"role":"user","content":${nest("[", "]", size)}}\n` }),
	],
	["a torn context", (size) => ({ "context.jsonl": plainContext + row("user", fill("a", size)).slice(0, -9) })],
	["a context of no JSON", (size) => ({ "context.jsonl": fill("{x\n", size) })],
	["a context of zeros", (size) => ({ "context.jsonl": new Uint8Array(size) })],
	[
		"a log row of a megabyte",
		(size) => ({ "wire.jsonl": plainLog + record("ContentPart", { type: "text", text: fill("so ", size) }) }),
	],
	[
		"twenty thousand log rows",
		(size) => ({
			"wire.jsonl": plainLog + record("ContentPart", { type: "text", text: "a" }).repeat(Math.ceil(size / 90)),
		}),
	],
	[
		"turns in turns",
		(size) => ({ "wire.jsonl": header + record("TurnBegin", { user_input: "a" }).repeat(Math.ceil(size / 90)) }),
	],
	[
		"a log row that is deep",
		(size) => ({
			"wire.jsonl": `${plainLog}{"timestamp":1,"message":{"type":"TurnBegin","payload":${nest("[", "]", size)}}}\n`,
		}),
	],
	[
		"events of subagents in each other",
		(size) => ({
			"wire.jsonl": `${plainLog}{"timestamp":1,"message":${nest('{"type":"SubagentEvent","payload":{"agent_id":"a","event":', "}}", size, '{"type":"TurnEnd","payload":{}}')}}\n`,
		}),
	],
	[
		"a log row of no kind",
		(size) => ({ "wire.jsonl": plainLog + list(size, (n) => record(`Odd${n}`, {}).trim(), "\n") }),
	],
	[
		"a torn log",
		(size) => ({ "wire.jsonl": plainLog + record("TurnBegin", { user_input: fill("a", size) }).slice(0, -9) }),
	],
	["a log of no JSON", (size) => ({ "wire.jsonl": fill("]\n", size) })],
	["a state that is deep", (size) => ({ "state.json": nest('{"a":', "}", size, "1") })],
	["a state of many keys", (size) => ({ "state.json": manyKeys(size) })],
	[
		"a state of long texts",
		(size) => ({
			"state.json": JSON.stringify({ custom_title: fill("t", size / 2), plan_slug: fill("../", size / 2) }),
		}),
	],
	["a journal of an earlier version of no JSON", (size) => ({ "calls.jsonl": fill("{\n", size) })],
	["a journal of an earlier version that is deep", (size) => ({ "calls.jsonl": `${nest("[", "]", size)}\n` })],
	["a journal of no JSON", (size) => ({ "journal.jsonl": fill("{\n", size) })],
	["a journal of zeros", (size) => ({ "journal.jsonl": new Uint8Array(size) })],
	["zeros in a journal", (size) => ({ "journal.jsonl": journal("\0".repeat(size), journalEvent(1)) })],
	["a journal row that is deep", (size) => ({ "journal.jsonl": journal(nest("[", "]", size), journalEvent(1)) })],
	[
		"a journal event that is deep",
		(size) => ({ "journal.jsonl": journal(journalEvent(1, nest('{"a":', "}", size, "1")), journalEvent(2)) }),
	],
	[
		"a journal row of a megabyte",
		(size) => ({ "journal.jsonl": journal(journalEvent(1, JSON.stringify(fill("why? ", size))), journalEvent(2)) }),
	],
	["twenty thousand journal rows", (size) => ({ "journal.jsonl": journal(list(size, journalEvent, "\n")) })],
	[
		"a journal of great numbers",
		() => ({
			"journal.jsonl": journal(
				journalEvent("1e308"),
				journalEvent("9007199254740991"),
				journalEvent("99999999999999999999999"),
				journalEvent("-1"),
				journalEvent("1.5"),
			),
		}),
	],
	[
		"a journal of wrong types",
		(size) => ({
			"journal.jsonl": journal(
				list(
					size,
					(n) => ['{"seq":"1","event":[]}', '{"context":1}', '{"state":[1]}', '{"summary":0}', "[]"][n % 5] ?? "",
					"\n",
				),
			),
		}),
	],
	[
		"a journal whose group has no end",
		(size) => ({ "journal.jsonl": journal(list(size, (n) => `${journalEvent(n).slice(0, -1)},"more":true}`, "\n")) }),
	],
	[
		"a journal of summaries that cannot be read",
		(size) => ({ "journal.jsonl": journal(list(size, () => '{"summary":{"seq":-1}}', "\n")) }),
	],
	[
		"a summary of what there is not",
		() => ({
			"journal.jsonl": journal(
				'{"summary":{"seq":9007199254740000,"sizes":{"wire":9007199254740000,"context":9007199254740000,"calls":9007199254740000},"hasState":true,"clean":true,"used":{"tokens":1e300,"milliseconds":1e300,"toolCalls":1e300},"unfinishedCalls":[],"unretained":[]}}',
			),
		}),
	],
	[
		"a journal after a history that is not there",
		() => ({
			"journal.jsonl": `{"journal":1,"epoch":"e","history":{"wire":9007199254740000,"events":9007199254740000}}\n${journalEvent(1)}\n`,
		}),
	],
	[
		"two thousand tasks",
		() =>
			Object.fromEntries(
				Array.from({ length: 2000 }, (_, n) => [`tasks/bash-${String(n).padStart(8, "0")}/spec.json`, "{}"]),
			),
	],
	[
		"a task of deep JSON",
		(size) => ({
			"tasks/bash-00000001/spec.json": nest("[", "]", size),
			"tasks/bash-00000001/runtime.json": nest("[", "]", size),
		}),
	],
	[
		"two thousand notifications",
		() => Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`notifications/n${n}/event.json`, "{}"])),
	],
];

const storedCases: readonly Case[] = stored.flatMap(([name, files]) => [inRpc(name, files), inWire(name, files)]);

const media = (name: string, file: string, bytes: (size: number) => Uint8Array): Case => ({
	area: "ReadMediaFile",
	name,
	reached: /ReadMediaFile (ok|error)/,
	set: ({ stage, size }) => ({
		...calling("ReadMediaFile", { path: stage.write(file, bytes(size)) }),
		settings: { models: { hostile: { capabilities: ["image_in", "video_in"] } } },
	}),
});

const bytes = (...parts: readonly (string | readonly number[] | Uint8Array)[]): Uint8Array =>
	Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Uint8Array.from(part))));
const box = (size: number, type: string) => [
	size >>> 24,
	(size >>> 16) & 255,
	(size >>> 8) & 255,
	size & 255,
	...Buffer.from(type),
];
const again = (part: Uint8Array, size: number): Uint8Array =>
	Buffer.concat(Array.from({ length: Math.ceil(size / part.length) }, () => part)).subarray(0, size);

function png(size: number): Uint8Array {
	const head = bytes("IHDR", [255, 255, 255, 255, 255, 255, 255, 255, 8, 6, 0, 0, 0]);
	const sum = Buffer.alloc(4);
	sum.writeUInt32BE(crc32(head));
	return bytes([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13], head, sum, new Uint8Array(size));
}

const mediaCases: readonly Case[] = [
	media("a PNG of four thousand million columns", "a.png", png),
	media("a JPEG of empty segments", "a.jpg", (size) =>
		bytes([0xff, 0xd8, 0xff, 0xe0], again(Uint8Array.from([0, 0]), size)),
	),
	media("a JPEG of segments of two bytes", "a.jpg", (size) =>
		bytes([0xff, 0xd8], again(Uint8Array.from([0xff, 0xe1, 0, 2]), size)),
	),
	media("a JPEG of marks", "a.jpg", (size) => bytes([0xff, 0xd8], new Uint8Array(size).fill(0xff))),
	media("a GIF that is cut off", "a.gif", () => bytes("GIF89a")),
	media("a WebP of nothing", "a.webp", (size) => bytes("RIFF", [255, 255, 255, 255], "WEBPVP8X", new Uint8Array(size))),
	media("a TIFF whose directories lead to each other", "a.tiff", (size) =>
		bytes(
			"II",
			[42, 0, 8, 0, 0, 0, 255, 255],
			again(Uint8Array.from([0, 1, 4, 0, 255, 255, 255, 255, 8, 0, 0, 0]), size),
		),
	),
	media("a HEIC of boxes of no size", "a.heic", (size) =>
		bytes(box(24, "ftyp"), "heic", [0, 0, 0, 0], "mif1heic", again(Uint8Array.from(box(0, "meta")), size)),
	),
	media("an AVIF of boxes in boxes", "a.avif", (size) =>
		bytes(box(24, "ftyp"), "avif", [0, 0, 0, 0], "mif1avif", again(Uint8Array.from(box(8, "iprp")), size)),
	),
	media("a JPEG XL of boxes of no size", "a.jxl", (size) =>
		bytes([0, 0, 0, 12], "JXL ", [13, 10, 0x87, 10], again(Uint8Array.from(box(0, "jxlp")), size)),
	),
	media("an ICNS of entries of no size", "a.icns", (size) =>
		bytes("icns", [255, 255, 255, 255], again(Uint8Array.from([...Buffer.from("ic07"), 0, 0, 0, 0]), size)),
	),
	media("a BMP of negative size", "a.bmp", (size) =>
		bytes("BM", new Uint8Array(12), [40, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255], new Uint8Array(size)),
	),
	media("an ICO of many pictures", "a.ico", (size) => bytes([0, 0, 1, 0, 255, 255], new Uint8Array(size))),
	media("an SVG of unclosed attributes", "a.svg", (size) => bytes(`<svg ${fill('width="1" viewBox="', size)}`)),
	media("an SVG of blanks", "a.svg", (size) => bytes(`<svg${fill(" ", size)}`)),
	media("an SVG behind comments", "a.svg", (size) => bytes(fill("<!-- <svg -->", size), "<svg width='1' height='1'>")),
	media("a video of boxes of no size", "a.mp4", (size) =>
		bytes(box(24, "ftyp"), "isom", [0, 0, 0, 0], "isomiso2", again(Uint8Array.from(box(0, "moov")), size)),
	),
	media("a picture of random bytes", "a.png", (size) =>
		bytes(
			[137, 80, 78, 71, 13, 10, 26, 10],
			again(
				Uint8Array.from({ length: 997 }, (_, n) => (n * 7919) & 255),
				size,
			),
		),
	),
];

export const storedAndMediaCases: readonly Case[] = [...storedCases, ...mediaCases];
