// What the fuzz campaign of the gateway sends as bytes: requests one after the other on one connection, cut anywhere, with lengths that
// contradict each other, and frames of a WebSocket that no library would make. Nothing is answered that was not asked.
import { control } from "../../support/gateway/gateway-place.ts";
import { sendRaw } from "../../support/gateway/raw-client.ts";
import type { Random } from "../random.ts";

/** The first byte of a frame that closes. */
const closeFrame = "\u0088";

/** Milliseconds after which a connection that is waited for is cut. */
const silence = 300;

const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "server.info", params: {} });
const framings = [
	`Content-Length: ${body.length}\r\n\r\n${body}`,
	`Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
	`Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)};a="b;c";d\r\n${body}\r\n0\r\nTrailer: x\r\n\r\n`,
	`Content-Length: ${body.length}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
	`Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
	`Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n`,
	`Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n`,
	`Transfer-Encoding: chunked\r\n\r\nffffffffffffffff0\r\n${body}\r\n0\r\n\r\n`,
	`Transfer-Encoding: chunked\r\n\r\n-1\r\n${body}\r\n0\r\n\r\n`,
	`Content-Length: 0x10\r\n\r\n${body}`,
	`Content-Length: ${body.length + 20}\r\n\r\n${body}`,
	`Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
	`Connection: keep-alive, Transfer-Encoding\r\n\r\n`,
	`${"X-Many: y\r\n".repeat(300)}\r\n`,
	`X-Long: ${"y".repeat(20_000)}\r\n\r\n`,
] as const;
const lastIds = [
	"",
	"@",
	"x@y:1",
	`${"a".repeat(300)}@e:1`,
	"s@e:99999999999999999999",
	"s@e:-1",
	"%",
	"s@e:1,t@e:2",
	"\u00ff",
] as const;

/** Several requests on one connection; the text says what of the answers is a fault. */
export async function sendPipeline(
	random: Random,
	port: number,
): Promise<{ readonly fault: string | null; readonly answers: number }> {
	const requests = Array.from({ length: 1 + random.below(5) }, () => {
		const token = random.chance(80) ? `Authorization: Bearer ${control}\r\n` : "";
		const head = `Host: 127.0.0.1:${port}\r\n${token}Content-Type: application/json\r\n`;
		const kind = random.below(10);
		if (kind === 0)
			return `GET /events?sessions=nobody HTTP/1.1\r\n${head}Last-Event-ID: ${random.pick(lastIds)}\r\n\r\n`;
		if (kind === 1) return `GET /healthz HTTP/1.1\r\n${head}\r\n`;
		return `POST /rpc HTTP/1.1\r\n${head}${random.pick(framings)}`;
	});
	const bytes = Buffer.from(requests.join(""), "latin1");
	const connection = sendRaw(port);
	const { socket } = connection;
	socket.setTimeout(silence, () => socket.destroy());
	for (let start = 0; start < bytes.length && !socket.destroyed; ) {
		const end = random.chance(50) ? bytes.length : Math.min(bytes.length, start + 1 + random.below(200));
		const piece = bytes.subarray(start, end);
		await new Promise<void>((resolve) => socket.write(piece, () => setImmediate(resolve)));
		start = end;
	}
	await connection.closed;
	const statuses = connection.statuses().filter((status) => status !== 100);
	const isOver = statuses.length > requests.length;
	const failed = statuses.find((status) => status >= 500 && status !== 503);
	const fault = isOver
		? `${statuses.length} answers to ${requests.length} requests`
		: failed === undefined
			? null
			: `${failed}`;
	return {
		fault: fault === null ? null : `${fault} for ${JSON.stringify(bytes.toString("latin1"))}`,
		answers: statuses.length,
	};
}

/** Frames on a socket; the text says what of its end is a fault. */
export async function sendFrames(random: Random, port: number, path: string): Promise<string | null> {
	const upgrade = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${control}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`;
	const connection = sendRaw(port, upgrade);
	const { socket } = connection;
	socket.setTimeout(silence, () => socket.destroy());
	const sent = Array.from({ length: 1 + random.below(6) }, () => toFrame(random));
	for (const frame of sent) {
		if (socket.destroyed) break;
		await new Promise<void>((resolve) => socket.write(frame, () => setImmediate(resolve)));
	}
	if (random.chance(30)) socket.end();
	await connection.closed;
	// The close frame has the code of its reason, 1011 for a fault of ours.
	const text = connection.text();
	const at = text.lastIndexOf(closeFrame);
	const code = at === -1 ? null : text.charCodeAt(at + 2) * 256 + text.charCodeAt(at + 3);
	return code === 1011
		? `a socket ended with 1011 after ${sent.map((frame) => frame.toString("hex")).join(" ")}`
		: null;
}

function toFrame(random: Random): Buffer {
	const payload = Buffer.from(
		random.pick([
			"",
			"{",
			body,
			'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}',
			"x".repeat(300),
		] as const),
	);
	const length = random.chance(90) ? payload.length : random.below(70_000);
	const isMasked = random.chance(90);
	const opcode = random.chance(60) ? 1 : random.below(16);
	const first = (random.chance(70) ? 0x80 : 0) | (random.chance(10) ? random.below(8) << 4 : 0) | opcode;
	const long = length > 125;
	const head = long
		? Buffer.from([first, (isMasked ? 0x80 : 0) | 126, length >> 8, length & 0xff])
		: Buffer.from([first, (isMasked ? 0x80 : 0) | length]);
	const mask = Buffer.from([1, 2, 3, 4]);
	return Buffer.concat(
		isMasked ? [head, mask, payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0))] : [head, payload],
	);
}
