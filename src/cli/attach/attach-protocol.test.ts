import { once } from "node:events";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readFirstLine, toFirstLine } from "./attach-protocol.ts";

let server: Server;
let [peer, socket]: Socket[] = [];

beforeEach(async () => {
	server = createServer().listen(0, "127.0.0.1");
	await once(server, "listening");
	const address = server.address();
	const accepted = once(server, "connection");
	peer = createConnection(typeof address === "object" ? (address?.port ?? 0) : 0, "127.0.0.1");
	[socket] = await accepted;
});

afterEach(() => {
	for (const each of [peer, socket]) each?.destroy();
	server.close();
});

function both(): { readonly peer: Socket; readonly socket: Socket } {
	if (peer === undefined || socket === undefined) throw new Error("There is no connection.");
	return { peer, socket };
}

it("reads the first line, and leaves what follows alone", async () => {
	const { peer, socket } = both();
	const reading = readFirstLine(socket);
	peer.write("one\ntwo");
	const first = await reading;
	expect([first?.line, first?.rest.toString("utf8")]).toEqual(["one", "two"]);
	const data = once(socket, "data");
	socket.resume();
	peer.write("three");
	expect(String(await data)).toBe("three");
});

it("is null when the peer leaves", async () => {
	const { peer, socket } = both();
	const reading = readFirstLine(socket);
	peer.end("half a line");
	expect(await reading).toBeNull();
});

it("does not wait for the end of a line that is too long", () => {
	expect(toFirstLine(Buffer.alloc(4_194_304, "x"))).toBeNull();
	expect(toFirstLine(Buffer.alloc(4_194_305, "x"))?.line).toBe("");
});
