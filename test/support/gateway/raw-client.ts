// Bytes to the gateway as no client library would send them, and what comes back.
import { connect, type Socket } from "node:net";

export interface RawConnection {
	readonly socket: Socket;
	/** Everything received so far, a character for each byte. */
	text(): string;
	/** The statuses of the answers so far. */
	statuses(): readonly number[];
	/** Resolves once what was received fits; fails when the connection ends before. */
	until(fits: (text: string) => boolean): Promise<void>;
	/** Resolves when the other side has ended the connection. */
	readonly closed: Promise<void>;
}

/** Connects, and sends the bytes if there are any. Destroy the socket when it is not needed any more. */
export function sendRaw(port: number, bytes: string | Buffer = ""): RawConnection {
	const socket = connect(port, "127.0.0.1");
	const looks = new Set<() => void>();
	let text = "";
	let isOver = false;
	const wake = () => {
		for (const look of [...looks]) look();
	};
	socket.on("error", () => {});
	socket.on("data", (piece: Buffer) => {
		text += piece.toString("latin1");
		wake();
	});
	const closed = new Promise<void>((resolve) => {
		socket.on("close", () => {
			isOver = true;
			wake();
			resolve();
		});
	});
	if (bytes.length > 0) socket.write(bytes);
	return {
		socket,
		text: () => text,
		statuses: () => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)),
		until: (fits) =>
			new Promise((resolve, reject) => {
				const look = () => {
					if (!fits(text) && !isOver) return;
					looks.delete(look);
					if (fits(text)) resolve();
					else reject(new Error(`The connection ended after ${JSON.stringify(text.slice(-500))}`));
				};
				looks.add(look);
				look();
			}),
		closed,
	};
}
