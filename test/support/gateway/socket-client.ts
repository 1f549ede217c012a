// A client that speaks a protocol of lines to the gateway over a WebSocket.
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";

export type Message = Readonly<Record<string, unknown>>;

export interface SocketOptions {
	/** Offered as subprotocols; by default the one with the token. */
	readonly protocols?: readonly string[];
	readonly headers?: Readonly<Record<string, string>>;
}

export interface SocketClient {
	readonly socket: WebSocket;
	readonly messages: readonly Message[];
	send(message: object): void;
	/** Resolves with the first message, received or still to come, that fits; fails when the socket ends before. */
	until(fits: (message: Message) => boolean): Promise<Message>;
	/** The answer to a request. */
	request(id: string, method: string, params?: object): Promise<Message>;
	/** Resolves with the code of the end. */
	readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

/** How the gateway refuses a socket: the status of HTTP. */
export class RefusedSocketError extends Error {
	readonly status: number;
	constructor(status: number) {
		super(`The socket was refused with the status ${status}.`);
		this.status = status;
	}
}

export function connectSocket(
	port: number,
	path: string,
	token: string,
	options: SocketOptions = {},
): Promise<SocketClient> {
	const { protocols = ["agentwire", `agentwire.bearer.${token}`], headers = {} } = options;
	return new Promise((resolve, reject) => {
		const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, [...protocols], { headers });
		onTestFinished(() => socket.terminate());
		socket.on("error", reject);
		socket.on("unexpected-response", (_, response) => {
			response.resume();
			reject(new RefusedSocketError(response.statusCode ?? 0));
		});
		socket.once("open", () => resolve(toClient(socket)));
	});
}

function toClient(socket: WebSocket): SocketClient {
	const messages: Message[] = [];
	const looks = new Set<() => void>();
	let isOver = false;
	const wake = () => {
		for (const look of [...looks]) look();
	};
	socket.on("message", (data) => {
		messages.push(JSON.parse(data.toString()));
		wake();
	});
	const closed = new Promise<{ code: number; reason: string }>((resolve) => {
		socket.once("close", (code, reason) => {
			isOver = true;
			wake();
			resolve({ code, reason: reason.toString() });
		});
	});
	const until: SocketClient["until"] = (fits) =>
		new Promise((resolve, reject) => {
			const look = () => {
				const found = messages.find(fits);
				if (found === undefined && !isOver) return;
				looks.delete(look);
				if (found !== undefined) resolve(found);
				else reject(new Error(`The socket ended after ${JSON.stringify(messages.slice(-5))}`));
			};
			looks.add(look);
			look();
		});
	const send = (message: object) => socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
	return {
		socket,
		messages,
		send,
		until,
		request(id, method, params = {}) {
			send({ id, method, params });
			return until((message) => message["id"] === id && !("method" in message));
		},
		closed,
	};
}
