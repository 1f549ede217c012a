// Worker connection handshake: both ends prove, without sending it, that they know the secret the worker stores in the database.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Duplex } from "node:stream";
import * as v from "valibot";
import { KernelError } from "../base/errors.ts";

/** Handshake version. The kernel protocol checks the version of what follows. */
const version = 1;
/** Maximum bytes per line, and milliseconds for the peer to send one. */
const lineLimit = 1024;
const patience = 5_000;

const hex = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const greetingSchema = v.object({ agentwire: v.literal("worker"), version: v.literal(version), nonce: hex });
const responseSchema = v.object({ nonce: hex, proof: hex });
const confirmationSchema = v.object({ proof: hex });

/** The secret that proves access to a worker: 32 random bytes as hex. */
export function createSecret(): string {
	return randomBytes(32).toString("hex");
}

/** The worker's end. Fails with `closed` when the peer does not prove in time that it knows the secret. */
export async function admitFrontEnd(stream: Duplex, secret: string): Promise<void> {
	const nonce = randomBytes(32).toString("hex");
	writeLine(stream, { agentwire: "worker", version, nonce });
	const response = await readLine(stream, responseSchema);
	if (!isEqual(response.proof, prove(secret, "front end", nonce, response.nonce))) {
		throw refused("it does not know the secret of this worker");
	}
	writeLine(stream, { proof: prove(secret, "worker", nonce, response.nonce) });
}

/** The front end's end. Fails with `closed` when the peer is not a worker with this secret. */
export async function meetWorker(stream: Duplex, secret: string): Promise<void> {
	const greeting = await readLine(stream, greetingSchema);
	const nonce = randomBytes(32).toString("hex");
	writeLine(stream, { nonce, proof: prove(secret, "front end", greeting.nonce, nonce) });
	const { proof } = await readLine(stream, confirmationSchema);
	if (!isEqual(proof, prove(secret, "worker", greeting.nonce, nonce))) {
		throw refused("it is not the worker that the database names");
	}
}

/** The proof includes the role, so that it cannot be reflected. */
function prove(secret: string, who: "front end" | "worker", workerNonce: string, otherNonce: string): string {
	return createHmac("sha256", secret).update(`${who} ${workerNonce} ${otherNonce}`).digest("hex");
}

function isEqual(one: string, other: string): boolean {
	return timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

function refused(why: string): KernelError {
	return new KernelError("closed", `The other end of the connection was refused: ${why}.`);
}

function writeLine(stream: Duplex, value: object): void {
	stream.write(`${JSON.stringify(value)}\n`);
}

/** The next line; following data stays in the stream. */
async function readLine<T>(stream: Duplex, schema: v.GenericSchema<unknown, T>): Promise<T> {
	const line = await nextLine(stream);
	let value: unknown;
	try {
		value = JSON.parse(line);
	} catch {
		throw refused("it sent no line of the handshake");
	}
	const parsed = v.safeParse(schema, value);
	if (!parsed.success) throw refused("it sent no line of this version of the handshake");
	return parsed.output;
}

function nextLine(stream: Duplex): Promise<string> {
	return new Promise((resolve, reject) => {
		const chunks: Buffer[] = [];
		let length = 0;
		const finish = (work: () => void) => {
			clearTimeout(timer);
			stream.off("readable", onReadable);
			stream.off("end", onEnd);
			stream.off("error", onEnd);
			stream.off("close", onEnd);
			work();
		};
		const onEnd = () => finish(() => reject(refused("it ended the connection")));
		const timer = setTimeout(() => finish(() => reject(refused("it said nothing in time"))), patience);
		const onReadable = () => {
			for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) {
				const bytes = Buffer.from(chunk);
				const end = bytes.indexOf(0x0a);
				chunks.push(end === -1 ? bytes : bytes.subarray(0, end));
				length += end === -1 ? bytes.length : end;
				if (length > lineLimit) return finish(() => reject(refused("its line is too long")));
				if (end === -1) continue;
				const rest = bytes.subarray(end + 1);
				return finish(() => {
					if (rest.length > 0) stream.unshift(rest);
					resolve(Buffer.concat(chunks).toString("utf8"));
				});
			}
		};
		stream.on("readable", onReadable);
		stream.on("end", onEnd);
		stream.on("error", onEnd);
		stream.on("close", onEnd);
		onReadable();
	});
}
