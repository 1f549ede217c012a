import { readFile } from "node:fs/promises";
import { errorText, KernelError } from "../../base/errors.ts";
import { productVersion } from "../../host/product.ts";
import { createStdioTransport, openLineOutput, openStdin } from "../../ports/transports/stdio.ts";
import { lineQueue } from "../../testing/transcripts/connection.ts";
import { FakeServer } from "../../testing/transcripts/fake.ts";
import { parseTranscript, type Transcript } from "../../testing/transcripts/format.ts";
import { freedoms } from "../../testing/transcripts/freedom.ts";
import type { FakeCall } from "../arguments/options/fake-options.ts";

/** Returns exit code 1 if a strict server found a difference, which it prints on stderr. Throws KernelError. */
export async function runFake({ transcript: file, dialect, isStrict, conversation }: FakeCall): Promise<number> {
	const moves = (await readTranscript(file)).conversations[conversation - 1];
	if (moves === undefined) throw new KernelError("invalid-input", `${file} has no conversation ${conversation}.`);
	const raw = moves.find((move) => move.kind === "send" && (move.repeat > 1 || !move.bytes.endsWith("}\n")));
	if (raw !== undefined) {
		const reason = `line ${raw.line} of ${file} sends bytes that are not a message, which only server tests use`;
		throw new KernelError("invalid-input", `This transcript cannot be faked: ${reason}. Choose another one.`);
	}
	const transport = createStdioTransport({ input: openStdin(), outbox: openLineOutput(262_144) });
	const { read } = lineQueue((onLine, onEnd) =>
		transport.receive((line) => onLine(line.kind === "line" ? line.text : ""), onEnd),
	);
	const given = { "share-dir": "/home/agentwire/.kimi", version: productVersion };
	const server = new FakeServer(
		{ read, send: (line) => transport.send(line) },
		{ freedom: freedoms[dialect], isStrict, given, workDir: process.cwd() },
	);
	const difference = await server.serve(moves);
	await transport.flush();
	transport.close();
	if (difference === null || !isStrict) return 0;
	process.stderr.write(`The client differs from ${file}, ${difference}\n`);
	return 1;
}

async function readTranscript(file: string): Promise<Transcript> {
	try {
		const transcript = parseTranscript(file, (await readFile(file, "utf8")).replaceAll("\r\n", "\n"));
		if (transcript.conversations.length > 0) return transcript;
	} catch (thrown) {
		throw new KernelError("invalid-input", `The transcript ${file} cannot be used: ${errorText(thrown)}`);
	}
	throw new KernelError("invalid-input", `${file} is not a transcript: it has no line '--- conversation'.`);
}
