import { duplexPair } from "node:stream";
import { describe, expect, it } from "vitest";
import { describeTransportContract } from "../../../test/contracts/transport-contract.ts";
import { connectionKinds } from "../../../test/support/host/remote-sessions.ts";
import { createDeferred } from "../../base/deferred.ts";
import { createLineSplitter } from "../../base/text/lines.ts";
import { createStreamTransport } from "./stream.ts";

const lineLimit = 4096;

for (const [name, createPair] of connectionKinds) {
	describeTransportContract(name, async () => {
		const [near, far] = await createPair();
		const transport = createStreamTransport(near, { lineLimit, outboxLimit: 16_384 });
		transport.receive(
			(line) => transport.send(line.kind === "line" ? line.text : line.kind),
			() => void transport.flush().then(() => transport.close()),
		);
		const splitter = createLineSplitter(Number.MAX_SAFE_INTEGER);
		const lines: string[] = [];
		let isOver = false;
		let news = createDeferred<void>();
		const wake = () => {
			news.resolve();
			news = createDeferred();
		};
		far.on("data", (bytes: Buffer) => {
			for (const line of splitter.push(bytes)) if (line.kind === "line") lines.push(line.text);
			wake();
		});
		for (const end of ["end", "close", "error"]) {
			far.on(end, () => {
				isOver = true;
				wake();
			});
		}
		let flooded = 0;
		return {
			lineLimit,
			write: (bytes) => void far.write(bytes),
			end: () => void far.end(),
			async read() {
				while (lines.length === 0 && !isOver) await news.promise;
				return lines.shift() ?? null;
			},
			pause: () => void far.pause(),
			resume: () => void far.resume(),
			flood: (count) => {
				void (async () => {
					for (; flooded < count; flooded += 1) {
						await transport.ready();
						transport.send(`${flooded} `.padEnd(1024, "x"));
					}
				})();
			},
			flooded: async () => flooded,
			cleanUp: async () => {
				far.destroy();
				transport.close();
			},
		};
	});
}

describe("a transport over a stream", () => {
	it("is gone, for those who wait as well, when the stream breaks", async () => {
		const [near, far] = duplexPair();
		const transport = createStreamTransport(near, { lineLimit, outboxLimit: 10 });
		const ended = new Promise<void>((resolve) => transport.receive(() => {}, resolve));
		transport.send("more than fits, to nobody");
		const ready = transport.ready();
		near.destroy(new Error("broken"));
		await ready;
		await ended;
		await transport.flush();
		expect(transport.gone.aborted).toBe(true);
		transport.send("dropped");
		far.destroy();
	});
});
