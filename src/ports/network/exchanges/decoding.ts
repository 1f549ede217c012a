import { once } from "node:events";
import { pipeline, type Readable, type Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { NetworkError } from "../network-error.ts";

export const acceptedEncodings = "gzip, deflate, br";

/** Maximum encodings of one body; more indicate an attack. */
const encodingLimit = 4;

// Received data is delivered at once, and a truncated body ends where it ends.
const deflated = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const brotli = { flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH };

/** Unknown encodings stay as they are. Body errors become errors of the returned stream. */
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
	// The last encoding was applied last.
	for (const encoding of encodings.reverse()) {
		const decoder = await createDecoder(encoding, decoded);
		// Other programs also deliver such a body unchanged.
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

/** For `deflate` some servers send raw data, without the zlib header. */
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
