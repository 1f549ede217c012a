import { createConnection, createServer, type Server, type Socket } from "node:net";

/** Passes each connection on. It keeps no process alive. */
export function createUnixServer(onConnection: (socket: Socket) => void): Server {
	return createServer({ allowHalfOpen: true }, onConnection).unref();
}

/** Only its owner can access the socket, from its creation on. */
export function listenPrivately(server: Server, file: string): Promise<void> {
	return new Promise((resolve, reject) => {
		const before = process.umask(0o177);
		try {
			server.once("error", reject);
			server.listen(file, resolve);
		} finally {
			process.umask(before);
		}
	});
}

export function connectTo(file: string): Promise<Socket> {
	return new Promise((resolve, reject) => {
		const socket = createConnection({ path: file, allowHalfOpen: true });
		socket.once("error", reject);
		socket.once("connect", () => {
			socket.off("error", reject);
			// Until somebody reads it.
			socket.on("error", () => {});
			resolve(socket);
		});
	});
}
