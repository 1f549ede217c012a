// The proxy at a socket that no confined command can see or replace: whoever connects for the commands trusts what
// listens there.
import path from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Identifiers } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { isAlive } from "../../files/living-process.ts";
import type { Files } from "../../files/port.ts";
import type { Sockets } from "../../network/connections/sockets.ts";
import { createAllowedHosts } from "./allowed-hosts.ts";
import { startProxy } from "./proxy.ts";

export interface PrivateProxyPlace {
	/** The share directory, which every confinement hides. */
	readonly shareDir: string;
	/** Where the socket is when the path of the share directory is too long for one. */
	readonly temporaryDir: string;
	readonly files: Pick<Files, "list" | "makeDirectory" | "remove">;
	readonly processId: number;
	readonly sockets: Sockets;
	readonly clock: Clock;
	readonly identifiers: Identifiers;
	readonly log: Log;
}

export interface PrivateProxy {
	readonly socket: string;
	/** The directory of the socket: commands that use the proxy must not see it. */
	readonly directory: string;
	close(): Promise<void>;
}

/** The path of a socket may have no more bytes; some systems allow 108. */
const longestSocketPath = 100;

/** Starts the proxy for the allowed domains; `onDenied` is called with each host that it refuses. */
export async function startPrivateProxy(
	allowedDomains: readonly string[],
	place: PrivateProxyPlace,
	onDenied: (host: string, why: string) => void = () => undefined,
): Promise<PrivateProxy> {
	const { files, clock, log, sockets } = place;
	const directory = await makeDirectory(place);
	const socket = socketIn(directory);
	const running = await startProxy(socket, {
		hosts: createAllowedHosts(allowedDomains),
		sockets,
		clock,
		onDenied(host, why) {
			log.info("The sandbox refused a host", { host, why });
			onDenied(host, why);
		},
	});
	return {
		socket,
		directory,
		async close() {
			await running.close();
			await files.remove(directory);
		},
	};
}

const socketIn = (directory: string) => path.join(directory, "s");

async function makeDirectory({ shareDir, temporaryDir, files, processId, identifiers }: PrivateProxyPlace) {
	const parent = path.join(shareDir, "proxies");
	const name = `${processId}-${identifiers.hex(16)}`;
	const inShareDir = path.join(parent, name);
	if (Buffer.byteLength(socketIn(inShareDir)) > longestSocketPath) {
		const directory = path.join(temporaryDir, `agentwire-proxy-${name}`);
		await files.makeDirectory(directory, 0o700);
		return directory;
	}
	await files.makeDirectory(inShareDir, 0o700);
	await removeLeftOver(parent, files);
	return inShareDir;
}

/** Removes the directories of processes that were killed. */
async function removeLeftOver(parent: string, files: PrivateProxyPlace["files"]): Promise<void> {
	for (const { name } of await files.list(parent)) {
		const owner = /^(?<id>\d+)-/.exec(name)?.groups?.["id"];
		if (owner !== undefined && !isAlive(Number(owner))) await files.remove(path.join(parent, name));
	}
}
