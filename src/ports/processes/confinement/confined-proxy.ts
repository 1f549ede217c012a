// The way of a confined command to a proxy. A small program inside opens a listening socket in the command's own network
// and passes it out; connections to it are accepted here and joined to the proxy's socket. So nothing of the machine's
// is reachable from inside but that port, and the command needs no Unix sockets.
import type { ChildProcess } from "node:child_process";
import { connect, Server, type Socket } from "node:net";
import { isOneFile } from "../../../base/program-form.ts";
import { confinedProxyPort } from "./confinement.ts";
import { joinSockets } from "./joined-sockets.ts";

/** Connections of one command; more are refused. */
const connectionLimit = 256;

/** The command by which the program as one file runs the listener. */
export const listenerCommand = "__confined-listener";

/**
 * Runs in Node inside: listens, passes the socket to us, and exits once we have it. Its exit code is 0 only then.
 */
export const listenerProgram = `
const server = require("node:net").createServer();
server.once("error", (error) => { console.error(error.message); process.exit(1); });
process.once("disconnect", () => process.exit(0));
server.listen(${confinedProxyPort}, "127.0.0.1", 256, () => process.send("listening", server));
`;

/** What follows the path of the runtime to run it: the one file takes no program as an argument. */
export const listenerArguments: readonly [string, string] = isOneFile ? [listenerCommand, ""] : ["-e", listenerProgram];

/** Joins the connections of the command to the proxy; returns what ends that. */
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
				// A client may end its half and still wait for an answer.
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
