// Stands between a program and the database, and does to their connections what networks do.
import { connect, createServer, type Socket } from "node:net";

export interface FaultProxy {
	readonly port: number;
	/** From now on nothing comes through in either direction, and nobody is notified. */
	swallow(): void;
	/** Everything comes through again on new connections; the swallowed ones stay as they are. */
	heal(): void;
	/** Cuts the connection on which the next statement with this text is sent, before its answer comes through. */
	cutAnswerTo(text: string): void;
	/** Answers that were cut. */
	readonly cuts: number;
	close(): Promise<void>;
}

export async function createFaultProxy(target: number): Promise<FaultProxy> {
	const sockets = new Set<Socket>();
	let swallows = false;
	let cutText: string | null = null;
	let cuts = 0;
	const server = createServer((client) => {
		const upstream = connect(target, "127.0.0.1");
		let isSwallowed = swallows;
		let isCut = false;
		for (const socket of [client, upstream]) {
			sockets.add(socket);
			socket.on("error", () => {});
			socket.on("close", () => {
				sockets.delete(socket);
				if (!isSwallowed) (socket === client ? upstream : client).destroy();
			});
		}
		client.on("data", (bytes) => {
			isSwallowed ||= swallows;
			if (isSwallowed) return;
			if (cutText !== null && bytes.includes(cutText)) {
				cutText = null;
				isCut = true;
			}
			upstream.write(bytes);
		});
		upstream.on("data", (bytes) => {
			isSwallowed ||= swallows;
			if (isSwallowed) return;
			if (isCut) {
				cuts += 1;
				client.destroy();
				return;
			}
			client.write(bytes);
		});
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("no port");
	return {
		port: address.port,
		swallow() {
			swallows = true;
		},
		heal() {
			swallows = false;
		},
		cutAnswerTo(text) {
			cutText = text;
		},
		get cuts() {
			return cuts;
		},
		async close() {
			for (const socket of sockets) socket.destroy();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
