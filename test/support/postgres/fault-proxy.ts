// Stands between a program and the database, and does to their connections what networks do.
import { connect, createServer, type Socket } from "node:net";
import { createMessageFilter } from "./message-filter.ts";

export interface FaultProxy {
	readonly port: number;
	/** From now on nothing comes through in either direction, and nobody is notified. */
	swallow(): void;
	/** Connections on which something was swallowed. */
	readonly swallowed: number;
	/** Everything comes through again on new connections; the swallowed ones stay as they are. */
	heal(): void;
	/** Cuts the connection on which the next statement with this text is sent, before its answer comes through. */
	cutAnswerTo(text: string): void;
	/** From now on keeps what passes, in both directions, for whoever calls what it gives. */
	record(): () => Buffer;
	/** Ends all connections that there are. */
	cut(): void;
	/** Whether notifications of the database are lost, while everything else comes through. */
	losesNotifications: boolean;
	/** Notifications that were lost. */
	readonly lostNotifications: number;
	/** Answers that were cut. */
	readonly cuts: number;
	close(): Promise<void>;
}

/** The type of the message with a notification. */
const notification = "A".charCodeAt(0);

/** `isDatabase` says whether what it stands before speaks as PostgreSQL does; only then are notifications known. */
export async function createFaultProxy(target: number, { isDatabase = false } = {}): Promise<FaultProxy> {
	const sockets = new Set<Socket>();
	let swallows = false;
	let swallowed = 0;
	let cutText: string | null = null;
	let cuts = 0;
	let losesNotifications = false;
	let lostNotifications = 0;
	let recorded: Buffer[] | null = null;
	const isLost = (type: number): boolean => {
		if (!losesNotifications || type !== notification) return false;
		lostNotifications += 1;
		return true;
	};
	const server = createServer((client) => {
		const upstream = connect(target, "127.0.0.1");
		let isSwallowed = false;
		let isCut = false;
		const filter = isDatabase ? createMessageFilter(isLost) : (bytes: Buffer) => bytes;
		for (const socket of [client, upstream]) {
			sockets.add(socket);
			socket.on("error", () => {});
			socket.on("close", () => {
				sockets.delete(socket);
				if (!isSwallowed) (socket === client ? upstream : client).destroy();
			});
		}
		const isLostNow = (): boolean => {
			if (swallows && !isSwallowed) {
				isSwallowed = true;
				swallowed += 1;
			}
			return isSwallowed;
		};
		client.on("data", (bytes) => {
			if (isLostNow()) return;
			if (cutText !== null && bytes.includes(cutText)) {
				cutText = null;
				isCut = true;
			}
			recorded?.push(bytes);
			upstream.write(bytes);
		});
		upstream.on("data", (bytes) => {
			if (isLostNow()) return;
			if (isCut) {
				cuts += 1;
				client.destroy();
				return;
			}
			const passed = filter(bytes);
			recorded?.push(passed);
			if (passed.length > 0) client.write(passed);
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
		record() {
			const pieces: Buffer[] = [];
			recorded = pieces;
			return () => Buffer.concat(pieces);
		},
		cutAnswerTo(text) {
			cutText = text;
		},
		get swallowed() {
			return swallowed;
		},
		get cuts() {
			return cuts;
		},
		cut() {
			for (const socket of sockets) socket.destroy();
		},
		get losesNotifications() {
			return losesNotifications;
		},
		set losesNotifications(loses) {
			losesNotifications = loses;
		},
		get lostNotifications() {
			return lostNotifications;
		},
		async close() {
			for (const socket of sockets) socket.destroy();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
