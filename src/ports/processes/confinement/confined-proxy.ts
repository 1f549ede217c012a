// A program inside the sandbox passes out a listening socket, so that only the proxy is reachable from inside.
import type { ChildProcess } from "node:child_process";
import { connect, Server, type Socket } from "node:net";
import { isOneFile } from "../../../base/program-form.ts";
import { confinedProxyPort } from "./confinement.ts";
import { joinSockets } from "./joined-sockets.ts";

const connectionLimit = 256;

/** The subcommand that runs the listener in the single-file program. */
export const listenerCommand = "__confined-listener";

/** Runs in Node inside the sandbox: listens, passes us the socket, and exits with code 0 once we have it. */
export const listenerProgram = `
const server = require("node:net").createServer();
server.once("error", (error) => { console.error(error.message); process.exit(1); });
process.once("disconnect", () => process.exit(0));
server.listen(${confinedProxyPort}, "127.0.0.1", 256, () => process.send("listening", server));
`;

/** Runtime arguments for the listener: the single-file program cannot take a program as argument. */
export const listenerArguments: readonly [string, string] = isOneFile ? [listenerCommand, ""] : ["-e", listenerProgram];

/** Joins connections of the command to the proxy. Returns a function that stops it. */
export function serveConfinedProxy(child: ChildProcess, socketPath: string): () => void {
	let server: Server | null = null;
	const open = new Set<Socket>();
	child.once("message", (_message, handle) => {
		if (handle instanceof Server) {
			server = handle;
			server.maxConnections = connectionLimit;
			server.on("error", () => undefined);
			server.on("connection", (socket) => {
				open.add(socket);
				socket.once("close", () => open.delete(socket));
				// A client may close its half and still wait for an answer.
				socket.allowHalfOpen = true;
				joinSockets(socket, connect({ path: socketPath, allowHalfOpen: true }));
			});
		}
		if (child.connected) child.disconnect();
	});
	return () => {
		server?.close();
		for (const socket of open) socket.destroy();
		if (child.connected) child.disconnect();
	};
}
