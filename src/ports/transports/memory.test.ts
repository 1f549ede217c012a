import { describe, expect, it } from "vitest";
import { describeTransportContract } from "../../../test/contracts/transport-contract.ts";
import { createMemoryTransport } from "./memory.ts";

describeTransportContract("memory", async () => {
	const lineLimit = 4096;
	const { transport, client } = createMemoryTransport(lineLimit, 16_384);
	let flooded = 0;
	transport.receive(
		(line) => transport.send(line.kind === "line" ? line.text : line.kind),
		() => void transport.flush().then(() => transport.close()),
	);
	return {
		lineLimit,
		...client,
		flood: (count) => {
			void (async () => {
				for (; flooded < count; flooded += 1) {
					await transport.ready();
					transport.send(`${flooded} `.padEnd(1024, "x"));
				}
			})();
		},
		flooded: async () => flooded,
		cleanUp: async () => transport.close(),
	};
});

describe("createMemoryTransport", () => {
	it("queues what is written before anybody receives", async () => {
		const { transport, client } = createMemoryTransport(100, 100);
		client.write("a\nb");
		client.end();
		const seen: unknown[] = [];
		transport.receive(
			(line) => seen.push(line),
			() => seen.push("end"),
		);
		expect(seen).toEqual([{ kind: "line", text: "a" }, { kind: "line", text: "b" }, "end"]);
	});

	it("releases waiting writers and ends readers once disconnected", async () => {
		const { transport, client } = createMemoryTransport(100, 4);
		client.pause();
		transport.send("long line");
		const waiting = [transport.ready(), transport.flush()];
		const reading = client.read();
		client.disconnect();
		await Promise.all(waiting);
		expect(transport.gone.aborted).toBe(true);
		expect(await reading).toBeNull();
		transport.send("more");
		await transport.flush();
	});

	it("lets sent data be read after the close", async () => {
		const { transport, client } = createMemoryTransport(100, 100);
		transport.send("a");
		await transport.flush();
		transport.close();
		expect([await client.read(), await client.read()]).toEqual(["a", null]);
	});
});
