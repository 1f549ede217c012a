// A child process over the stdio transport that echoes lines. `FLOOD n` floods, `EXIT` ends it; its IPC channel
// answers outside of the transport: a sign that its event loop turns.
import { createStdioTransport, openLineOutput, openStdin, outboxLimit } from "../../../src/ports/transports/stdio.ts";

const transport = createStdioTransport({ input: openStdin(), outbox: openLineOutput(outboxLimit) });
let flooded = 0;

async function flood(count: number): Promise<void> {
	for (; flooded < count; flooded += 1) {
		await transport.ready();
		transport.send(`${flooded} `.padEnd(1024, "x"));
	}
}

async function end(): Promise<void> {
	await transport.flush();
	transport.close();
	process.disconnect();
}

process.on("message", () => process.send?.({ flooded, gone: transport.gone.aborted }));
transport.receive(
	(line) => {
		const text = line.kind === "line" ? line.text : line.kind;
		const match = /^FLOOD (\d+)$/.exec(text);
		if (match === null) transport.send(text);
		else void flood(Number(match[1]));
	},
	() => void end(),
);
