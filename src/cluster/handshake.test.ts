import { createHmac } from "node:crypto";
import { type Duplex, duplexPair } from "node:stream";
import { describe, expect, it } from "vitest";
import { admitFrontEnd, createSecret, meetWorker } from "./handshake.ts";

const secret = createSecret();
const outcome = (work: Promise<void>) =>
	work.then(
		() => "met" as const,
		(thrown: Error) => thrown.message,
	);

function meet(workerSecret: string, otherSecret: string) {
	const [near, far] = duplexPair();
	return Promise.all([
		outcome(admitFrontEnd(near, workerSecret)).then((result) => {
			// As a worker does with whom it does not admit.
			if (result !== "met") near.destroy();
			return result;
		}),
		outcome(meetWorker(far, otherSecret)),
	]);
}

async function readAll(stream: Duplex): Promise<string> {
	let text = "";
	for await (const chunk of stream) text += String(chunk);
	return text;
}

describe("the handshake of workers and front ends", () => {
	it("lets two that know the secret meet, and leaves what follows in the stream", async () => {
		const [near, far] = duplexPair();
		const admitted = admitFrontEnd(near, secret);
		await meetWorker(far, secret);
		far.end("what follows");
		await admitted;
		expect(await readAll(near)).toBe("what follows");
	});

	it("never sends the secret", async () => {
		const [near, far] = duplexPair();
		const sent: string[] = [];
		for (const stream of [near, far]) {
			const write = stream.write.bind(stream);
			stream.write = (chunk: unknown) => {
				sent.push(String(chunk));
				return write(chunk);
			};
		}
		await Promise.all([admitFrontEnd(near, secret), meetWorker(far, secret)]);
		expect(sent).toHaveLength(3);
		expect(sent.join("")).not.toContain(secret);
	});

	it("refuses whoever does not know it", async () => {
		const [worker] = await meet(secret, createSecret());
		expect(worker).toContain("does not know the secret");
	});

	it("refuses a worker that does not know it", async () => {
		const [near, far] = duplexPair();
		const meeting = outcome(meetWorker(far, secret));
		near.write(`${JSON.stringify({ agentwire: "worker", version: 1, nonce: "0".repeat(64) })}\n`);
		near.write(`${JSON.stringify({ proof: "0".repeat(64) })}\n`);
		expect(await meeting).toContain("not the worker");
	});

	it("refuses a proof that a worker made", async () => {
		// Proofs that a worker gives for an attacker's nonces do not pass as a front end's.
		const [near, far] = duplexPair();
		const admitting = outcome(admitFrontEnd(near, secret));
		const greeting = await new Promise<string>((resolve) => far.once("data", (chunk) => resolve(String(chunk))));
		const { nonce } = JSON.parse(greeting);
		const proof = createHmac("sha256", secret).update(`worker ${nonce} ${nonce}`).digest("hex");
		far.write(`${JSON.stringify({ nonce, proof })}\n`);
		expect(await admitting).toContain("does not know the secret");
	});

	it.each([
		["no JSON", "hello\n"],
		["another version", `${JSON.stringify({ agentwire: "worker", version: 2, nonce: "0".repeat(64) })}\n`],
		["a short nonce", `${JSON.stringify({ agentwire: "worker", version: 1, nonce: "0" })}\n`],
		["HTTP", "HTTP/1.1 400 Bad Request\r\n\r\n"],
		["a line without an end", "x".repeat(5000)],
		["bytes that are no text", "\xff\xfe\x00\n"],
	])("refuses %s", async (_name, sent) => {
		const [near, far] = duplexPair();
		const meeting = outcome(meetWorker(far, secret));
		near.write(sent);
		expect(await meeting).toContain("was refused");
	});

	it("ends when the other side does", async () => {
		const [near, far] = duplexPair();
		const meeting = outcome(meetWorker(far, secret));
		near.end();
		expect(await meeting).toContain("it ended the connection");
	});
});
