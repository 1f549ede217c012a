// The provider of the gateway's measurement, in a process of its own: streams the answers of many sessions at a fixed rate, each
// delta with its number and the time at which it was written. It speaks as little HTTP as an answer needs, so that what it costs
// is mostly what the system takes for so many writes.
import { createServer, type Socket } from "node:net";
import { percentile } from "../report.ts";
import type { GatewayLoad } from "./loads.ts";
import type { ProviderReport, ProviderRequest } from "./measurement.ts";
import { childOf, monotonicTime } from "./process.ts";

/** It does not write to all sessions in the same moment. */
const slices = 10;

const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const delta = (content: object, more: object = {}) =>
	`data: ${JSON.stringify({ id: "m", choices: [{ index: 0, delta: content, ...more }] })}\n\n`;
/** A text of ASCII as one chunk. */
const framed = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const end = `${framed(`${delta({}, { finish_reason: "stop" })}data: [DONE]\n\n`)}0\r\n\r\n`;

const parent = childOf<ProviderRequest, ProviderReport>();
const load: GatewayLoad = (await parent.next("begin")).load;
const open: Socket[] = [];

const server = createServer({ noDelay: true }, (socket) => {
	let request = "";
	socket.on("error", () => {});
	socket.on("data", (piece) => {
		request += piece.toString("latin1");
		const [before, length] = /\r\ncontent-length: (\d+)\r\n.*?\r\n\r\n/is.exec(request) ?? [];
		if (before === undefined || length === undefined) return;
		if (request.length < request.indexOf("\r\n\r\n") + 4 + Number(length)) return;
		request = "";
		socket.write(head + framed(delta({ role: "assistant" })));
		open.push(socket);
		if (open.length === load.sessions) parent.send({ kind: "asked" });
	});
});
server.listen(0, "127.0.0.1", 4096, () => {
	const address = server.address();
	if (address !== null && typeof address === "object") parent.send({ kind: "listening", port: address.port });
});

await parent.next("stream");
const step = 1000 / load.rate / slices;
const begunAt = monotonicTime();
let startedAt = begunAt;
const warmBeat = load.rate * load.warmUp * slices;
/** How much later than it should each slice was written, in milliseconds. */
const delays: number[] = [];
for (let beat = 0; beat < warmBeat + load.rate * load.seconds * slices; beat += 1) {
	const wait = begunAt + beat * step - monotonicTime();
	if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
	if (beat === warmBeat) {
		startedAt = monotonicTime();
		parent.send({ kind: "warm" });
	}
	if (beat >= warmBeat) delays.push(Math.max(0, monotonicTime() - begunAt - beat * step));
	const number = Math.floor(beat / slices);
	for (let n = beat % slices; n < open.length; n += slices) {
		open[n]?.write(framed(delta({ content: `${number}@${monotonicTime().toFixed(2)} ` })));
	}
}
const seconds = (monotonicTime() - startedAt) / 1000;
for (const socket of open) socket.end(end);
parent.send({ kind: "streamed", seconds, late: percentile(delays, 0.99) });
