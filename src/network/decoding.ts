// The encodings of an answer's body, undone while it is read.
import { once } from "node:events";
import { pipeline, type Readable, type Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { NetworkError } from "./network-error.ts";

/** The encodings that are asked for. */
export const acceptedEncodings = "gzip, deflate, br";

/** Encodings of one body; more are a trap. */
const encodingLimit = 4;

// What has come is given out at once, and a body that ends early ends where it ends.
const deflated = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const brotli = { flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH };

/**
 * The body as it was before the server encoded it; unknown encodings are left as they are. Nothing is unpacked that is
 * not read. Errors of the body are those of the stream that is given back.
 */
export async function decode(body: Readable, contentEncoding: string | null): Promise<Readable> {
	const encodings = (contentEncoding ?? "")
		.split(",")
		.map((encoding) => encoding.trim().toLowerCase())
		.filter((encoding) => encoding !== "" && encoding !== "identity");
	if (encodings.length === 0) return body;
	if (encodings.length > encodingLimit) {
		throw new NetworkError("size", `the answer is encoded ${encodings.length} times over, more than ${encodingLimit}`);
	}
	let decoded = body;
	// The last one was put on last.
	for (const encoding of encodings.reverse()) {
		const decoder = await createDecoder(encoding, decoded);
		// Other programs, too, give such a body out as it came.
		if (decoder === null) return decoded;
		decoder.on("error", () => {});
		decoded = pipeline(decoded, decoder, () => {});
	}
	return decoded;
}

async function createDecoder(encoding: string, source: Readable): Promise<Transform | null> {
	switch (encoding) {
		case "gzip":
		case "x-gzip":
			return createGunzip(deflated);
		case "deflate":
			return (await hasZlibHeader(source)) ? createInflate(deflated) : createInflateRaw(deflated);
		case "br":
			return createBrotliDecompress(brotli);
		default:
			return null;
	}
}

/** By `deflate` some servers mean the bare data, without the header that belongs to it. */
async function hasZlibHeader(source: Readable): Promise<boolean> {
	if (source.readableLength === 0 && !source.readableEnded && !source.destroyed) {
		const gone = new AbortController();
		const { signal } = gone;
		await Promise.race(["readable", "end", "close"].map((event) => once(source, event, { signal }))).catch(() => {});
		gone.abort();
	}
	const start: Buffer | null = source.read(1);
	if (start === null) return true;
	source.unshift(start);
	return ((start[0] ?? 0) & 0x0f) === 0x08;
}
