import { once } from "node:events";
import { Duplex } from "node:stream";
import { describe, expect, it } from "vitest";
import { joinSockets } from "./joined-sockets.ts";

/** A connection whose peer sends what is pushed, and takes a piece each time `accept` is called. */
function createConnection() {
	const taken: string[] = [];
	const waiting: (() => void)[] = [];
	const socket = new Duplex({
		read: () => undefined,
		write(piece: Buffer, _encoding, done) {
			waiting.push(() => {
				taken.push(piece.toString());
				done();
			});
		},
	});
	return { socket, taken, accept: () => waiting.shift()?.() };
}

/** What is under way is passed on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("joined connections", () => {
	it("pass on what the slower one still has to send when the other one is over", async () => {
		const [client, host] = [createConnection(), createConnection()];
		joinSockets(client.socket, host.socket);
		client.socket.push(null);
		host.socket.push("first ");
		await settle();
		host.socket.push("last");
		host.socket.push(null);
		await once(host.socket, "close");
		expect(client.socket.destroyed).toBe(false);
		client.accept();
		await settle();
		client.accept();
		await once(client.socket, "close");
		expect(client.taken.join("")).toBe("first last");
	});

	it("pass on the end of one half alone", async () => {
		const [client, host] = [createConnection(), createConnection()];
		joinSockets(client.socket, host.socket);
		client.socket.push(null);
		await once(host.socket, "finish");
		expect([client.socket.destroyed, host.socket.destroyed]).toEqual([false, false]);
	});

	it.each(["client", "host"] as const)("end both when the %s fails, or is cut off", async (side) => {
		for (const error of [new Error("reset"), undefined]) {
			const sides = { client: createConnection(), host: createConnection() };
			joinSockets(sides.client.socket, sides.host.socket);
			sides[side].socket.destroy(error);
			await settle();
			expect([sides.client.socket.destroyed, sides.host.socket.destroyed]).toEqual([true, true]);
		}
	});

	it("end at once when one is over already, or both are withdrawn", async () => {
		const [client, host, later] = [createConnection(), createConnection(), createConnection()];
		client.socket.destroy();
		joinSockets(client.socket, host.socket);
		expect(host.socket.destroyed).toBe(true);
		joinSockets(later.socket, createConnection().socket)();
		expect(later.socket.destroyed).toBe(true);
	});
});
