// Draws an answer: what a server writes in which pieces, when it pauses, and how it goes. Most of it is as wrong as can be.
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import type { Random } from "../random.ts";
import { drawBody } from "./answers-body.ts";
import type { AnswerProtocol } from "./answers-protocols.ts";

export type Action =
	| { readonly kind: "write"; readonly bytes: Buffer }
	| { readonly kind: "pause"; readonly milliseconds: number }
	/** Says that there is no more; destroys the connection; tears it off; leaves it open. */
	| { readonly kind: "end" | "destroy" | "reset" | "hang" };

export interface AnswerScript {
	readonly actions: readonly Action[];
	/** Whether the server waits for the whole request. */
	readonly isPatient: boolean;
	/**
	 * `whole`: nothing is wrong with it, and these texts must come; `cut`: what comes of them must be their beginning;
	 * `any`: it need only end.
	 */
	readonly expected: "whole" | "cut" | "any";
	readonly texts: readonly string[];
	/** What was drawn, for people. */
	readonly traits: readonly string[];
}

export function drawAnswer(random: Random, protocol: AnswerProtocol): AnswerScript {
	const traits: string[] = [];
	const body = drawBody(random, protocol, traits);
	const head = drawHead(random, body.bytes, traits);
	let isIntact = head.isIntact;
	let isReadable = head.isReadable;
	let bytes = head.bytes;
	const isCut = random.chance(25);
	if (isCut) {
		bytes = bytes.subarray(0, random.below(bytes.length + 1));
		isIntact = false;
		traits.push(`cut at ${bytes.length}`);
	}
	if (random.chance(6)) {
		bytes = Buffer.concat([bytes, drawRest(random)]);
		traits.push("more after it");
		// Where only the end of the connection ends a body, that is part of it; and so it is where the body was cut. Within
		// a compressed body it may decode to a text that nobody sent.
		if (head.needsEnd || isCut) {
			isIntact = false;
			isReadable = false;
		}
	}
	const ending = drawEnding(random, head.needsEnd && isIntact);
	traits.push(ending);
	// A connection that is torn off may take with it what was written.
	const isWhole = isIntact && body.isIntact && ending !== "reset" && ending !== "destroy";
	return {
		actions: [...drawWrites(random, bytes), { kind: ending }],
		isPatient: !random.chance(5),
		expected: isWhole ? "whole" : body.isIntact && isReadable ? "cut" : "any",
		texts: body.texts,
		traits,
	};
}

function drawEnding(random: Random, needsEnd: boolean): "end" | "destroy" | "reset" | "hang" {
	if (needsEnd) return "end";
	return random.pick(["end", "end", "end", "destroy", "reset", "hang"]);
}

/** More than was asked for: garbage, or another answer. */
function drawRest(random: Random): Buffer {
	return random.pick([
		Buffer.from("garbage"),
		Buffer.from("\r\n\r\n"),
		Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil"),
		Buffer.alloc(1 + random.below(random.pick([100, 100_000])), "x"),
	]);
}

/** The bytes in pieces, with pauses of some milliseconds between some of them. */
function drawWrites(random: Random, bytes: Buffer): Action[] {
	if (random.chance(30)) {
		// A beginning that is read, and the rest while its reader is busy with that.
		const start = random.below(Math.min(bytes.length, 3000) + 1);
		return [
			{ kind: "write", bytes: bytes.subarray(0, start) },
			{ kind: "pause", milliseconds: 1 + random.below(8) },
			{ kind: "write", bytes: bytes.subarray(start) },
		];
	}
	const longest = random.pick([1, 1000, 20_000, 1_000_000]);
	const actions: Action[] = [];
	let pauses = random.below(4);
	let start = 0;
	// A hundred writes say as much as all of them.
	while (start < bytes.length && actions.length < 100) {
		const size = 1 + random.below(longest);
		actions.push({ kind: "write", bytes: bytes.subarray(start, start + size) });
		start += size;
		if (pauses === 0 || !random.chance(30)) continue;
		pauses -= 1;
		actions.push({ kind: "pause", milliseconds: random.below(6) });
	}
	if (start < bytes.length) actions.push({ kind: "write", bytes: bytes.subarray(start) });
	if (random.chance(50)) actions.push({ kind: "pause", milliseconds: random.below(20) });
	return actions;
}

interface Framed {
	readonly bytes: Buffer;
	/** Whether the answer is as HTTP has it. */
	readonly isIntact: boolean;
	/** Whether what can be read of the body is what was to be said. */
	readonly isReadable: boolean;
	/** Whether only the end of the connection ends the body. */
	readonly needsEnd: boolean;
}

function drawHead(random: Random, body: Buffer, traits: string[]): Framed {
	if (random.chance(3)) {
		traits.push("garbage for a head");
		const bytes = Buffer.from(Array.from({ length: random.below(300) }, () => random.below(256)));
		return { bytes, isIntact: false, isReadable: false, needsEnd: false };
	}
	const flaw = random.chance(25) ? random.pick(flaws) : null;
	if (flaw !== null) traits.push(flaw.name);
	const encoded = random.chance(15) ? encode(random, body, traits) : { bytes: body, header: "", isIntact: true };
	const framing = random.pick(["length", "chunks", "chunks", "end"]);
	traits.push(framing);
	const framed = frame(random, framing, encoded.bytes, traits);
	const head = [
		flaw?.before ?? "",
		flaw?.status ?? "HTTP/1.1 200 OK",
		"\r\n",
		flaw?.type ?? "content-type: text/event-stream\r\n",
		encoded.header,
		framed.header,
		random.pick(["", "connection: close\r\n", "connection: keep-alive\r\n", "keep-alive: timeout=5\r\n"]),
		flaw?.headers ?? "",
		"\r\n",
	].join("");
	return {
		bytes: Buffer.concat([Buffer.from(head, "latin1"), framed.bytes]),
		isIntact: flaw === null && encoded.isIntact && framed.isIntact,
		isReadable: flaw === null && encoded.isIntact && framed.isReadable,
		needsEnd: framing === "end",
	};
}

interface Flaw {
	readonly name: string;
	readonly before?: string;
	readonly status?: string;
	readonly type?: string;
	readonly headers?: string;
}

const flaws: readonly [Flaw, ...Flaw[]] = [
	{ name: "an error", status: "HTTP/1.1 500 No", type: "content-type: application/json\r\n" },
	{ name: "a refusal", status: "HTTP/1.1 429 Slow", headers: "retry-after: 9999999999999999999999\r\n" },
	{ name: "a redirect", status: "HTTP/1.1 307 There", headers: "location: http://127.0.0.1:1/\r\n" },
	{ name: "no content", status: "HTTP/1.1 204 No" },
	{ name: "not modified", status: "HTTP/1.1 304 No" },
	{ name: "an odd status", status: "HTTP/1.1 999 \x01\xff" },
	{ name: "a short status", status: "HTTP/1.1 20 OK" },
	{ name: "another protocol", status: "HTTP/1.1 101 X", headers: "upgrade: x\r\nconnection: upgrade\r\n" },
	{ name: "an old version", status: "HTTP/1.0 200 OK" },
	{ name: "a new version", status: "HTTP/9.9 200 OK" },
	{ name: "heads before it", before: "HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" },
	{ name: "a flood of heads", before: "HTTP/1.1 103 Early\r\n\r\n".repeat(500) },
	{ name: "JSON for a type", type: "content-type: application/json\r\n" },
	{ name: "HTML for a type", type: "content-type: text/html; charset=utf-16\r\n" },
	{ name: "no type", type: "" },
	{ name: "many types", type: "content-type: text/event-stream\r\n".repeat(20) },
	{ name: "many headers", headers: "a: b\r\n".repeat(5000) },
	{ name: "a long header", headers: `a: ${"b".repeat(70_000)}\r\n` },
	{ name: "a header without a name", headers: ": b\r\n" },
	{ name: "a folded header", headers: "a: b\r\n c\r\n" },
	{ name: "a NUL in a header", headers: "a: b\0c\r\n" },
	{ name: "a bare line feed", headers: "a: b\nc: d\r\n" },
	{ name: "bytes of no charset", headers: "set-cookie: \xff\xfe\x80\r\nset-cookie: b\r\n" },
	{ name: "another length", headers: "content-length: 3\r\n" },
	{ name: "a length that is none", headers: "content-length: -1\r\n" },
	{ name: "an endless length", headers: "content-length: 99999999999999999999999999\r\n" },
	{ name: "an encoding of transfer", headers: "transfer-encoding: gzip, chunked\r\n" },
	{ name: "an unknown encoding", headers: "content-encoding: zstd\r\n" },
	{ name: "many encodings", headers: `content-encoding: ${"gzip, ".repeat(50)}br\r\n` },
	{ name: "an encoding that it has not", headers: "content-encoding: gzip\r\n" },
];

const encoders: readonly [Encoder, ...Encoder[]] = [
	["gzip", gzipSync],
	["deflate", deflateSync],
	["deflate", deflateRawSync],
	["br", (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
];
type Encoder = readonly [name: string, encode: (bytes: Buffer) => Buffer];

function encode(random: Random, body: Buffer, traits: string[]) {
	const [name, compress] = random.pick(encoders);
	traits.push(name);
	const bytes = compress(body);
	const isIntact = !random.chance(20);
	if (!isIntact) {
		traits.push("spoilt");
		for (let count = random.below(5); count >= 0; count -= 1) bytes[random.below(bytes.length)] = random.below(256);
	}
	return { bytes, header: `content-encoding: ${name}\r\n`, isIntact };
}

function frame(random: Random, framing: string, body: Buffer, traits: string[]) {
	if (framing === "end") return { bytes: body, header: "", isIntact: true, isReadable: true };
	if (framing === "length") {
		const error = random.chance(15) ? random.pick([-1, 1, -100, 100, 1_000_000]) : 0;
		if (error !== 0) traits.push(`length ${error} off`);
		const length = Math.max(0, body.length + error);
		return { bytes: body, header: `content-length: ${length}\r\n`, isIntact: error === 0, isReadable: true };
	}
	const flaw = random.chance(15) ? random.pick(chunkFlaws) : null;
	if (flaw !== null) traits.push(`chunks: ${flaw}`);
	const longest = random.pick([20, 1000, 100_000]);
	const pieces: Buffer[] = [];
	for (let start = 0; start < body.length; ) {
		const piece = body.subarray(start, start + 1 + random.below(longest));
		start += piece.length;
		pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n"));
		if (pieces.length > 600) {
			const rest = body.subarray(start);
			if (rest.length > 0) pieces.push(Buffer.from(`${rest.length.toString(16)}\r\n`), rest, Buffer.from("\r\n"));
			break;
		}
	}
	if (flaw !== null) pieces.splice(3 * random.below(pieces.length / 3 + 1), 0, Buffer.from(flaw, "latin1"));
	pieces.push(Buffer.from(random.chance(10) ? "0\r\ntrailer: x\r\n\r\n" : "0\r\n\r\n"));
	return {
		bytes: Buffer.concat(pieces),
		header: "transfer-encoding: chunked\r\n",
		isIntact: flaw === null,
		isReadable: flaw === null,
	};
}

const chunkFlaws: readonly [string, ...string[]] = [
	"zz\r\n",
	"-1\r\nx\r\n",
	"ffffffffffffffffff\r\n",
	"1\r\nxy\r\n",
	"\r\n",
	"5\r\nab",
	`1;${"a".repeat(20_000)}\r\nx\r\n`,
	`1;a="${'\\"'.repeat(500)}"\r\nx\r\n`,
	"0\r\n\r\n",
	`0\r\n${"a: b\r\n".repeat(5000)}\r\n`,
];
