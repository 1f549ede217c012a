// Lets other processes of this user use the sessions that this process has loaded, through a Unix socket in the share directory.
import type { Socket } from "node:net";
import path from "node:path";
import type { SessionsApi } from "../../api/kernel.ts";
import { errorText } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { placeName } from "../../ports/files/living-process.ts";
import type { Files } from "../../ports/files/port.ts";
import { createUnixServer, listenPrivately } from "../../ports/network/unix-socket.ts";
import { afterStart } from "../process/program-process.ts";

const socketDirectory = "sockets";

/** The socket of a process; ids count within one namespace of one machine. */
export function socketOf(shareDir: string, pid: number): string {
	return path.join(shareDir, socketDirectory, `${placeName()}-${pid}.sock`);
}

export interface SocketParts {
	readonly shareDir: string;
	readonly files: Files;
	readonly log: Log;
}

/** Listens a moment after the start, and loads what serves a connection with the first one. Returns a stop function. */
export function listenForOthers(parts: SocketParts, sessions: SessionsApi): () => void {
	// Windows has no such sockets.
	if (process.platform === "win32") return () => {};
	const ending = new AbortController();
	const serve = (socket: Socket): void => {
		socket.on("error", () => {});
		void import("./attached-processes.ts")
			.then(({ serveAttached }) => serveAttached(socket, sessions, parts, ending.signal))
			.catch((thrown: unknown) => {
				parts.log.info("A connection of another process ended.", { cause: errorText(thrown) });
				socket.destroy();
			});
	};
	const timer = setTimeout(() => {
		listen(serve, parts, ending.signal).catch((thrown: unknown) => {
			parts.log.info("Other processes cannot attach to this one.", { cause: errorText(thrown) });
		});
	}, afterStart).unref();
	return () => {
		clearTimeout(timer);
		ending.abort();
	};
}

async function listen(
	serve: (socket: Socket) => void,
	{ shareDir, files }: SocketParts,
	ending: AbortSignal,
): Promise<void> {
	const own = socketOf(shareDir, process.pid);
	const directory = path.dirname(own);
	await files.makeDirectory(directory);
	for (const { name } of await files.list(directory)) {
		const [place, pid] = path.basename(name, ".sock").split("-");
		// Processes of other places cannot be looked up.
		if (place === placeName() && !isOther(Number(pid))) await files.remove(path.join(directory, name));
	}
	if (ending.aborted) return;
	const server = createUnixServer(serve);
	ending.addEventListener("abort", () => server.close());
	await listenPrivately(server, own);
}

function isOther(pid: number): boolean {
	try {
		return pid !== process.pid && process.kill(pid, 0);
	} catch {
		return false;
	}
}
