import path from "node:path";
import type { Clock } from "../../../base/clock.ts";
import type { Identifiers } from "../../../base/ids.ts";
import type { Log } from "../../../base/log.ts";
import { livenessOf, placeName } from "../../files/living-process.ts";
import type { Files } from "../../files/port.ts";
import type { Sockets } from "../../network/connections/sockets.ts";
import { createAllowedHosts } from "./allowed-hosts.ts";
import { startProxy } from "./proxy.ts";

export interface PrivateProxyPlace {
	readonly shareDir: string;
	/** Socket location when the share directory path is too long. */
	readonly temporaryDir: string;
	readonly files: Pick<Files, "list" | "makeDirectory" | "remove" | "status">;
	readonly processId: number;
	readonly sockets: Sockets;
	readonly clock: Clock;
	readonly identifiers: Identifiers;
	readonly log: Log;
}

export interface PrivateProxy {
	readonly socket: string;
	/** Socket directory. Commands that use the proxy must not see it. */
	readonly directory: string;
	close(): Promise<void>;
}

/** Maximum bytes of a socket path; some systems allow 108. */
const longestSocketPath = 100;

/** Starts the proxy for the allowed domains. Calls `onDenied` for each refused host. */
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

async function makeDirectory(place: PrivateProxyPlace) {
	const { shareDir, temporaryDir, files, processId, identifiers } = place;
	const parent = path.join(shareDir, "proxies");
	const name = `${processId}-${identifiers.hex(16)}-${placeName()}`;
	const inShareDir = path.join(parent, name);
	if (Buffer.byteLength(socketIn(inShareDir)) > longestSocketPath) {
		const directory = path.join(temporaryDir, `agentwire-proxy-${name}`);
		await files.makeDirectory(directory, 0o700);
		return directory;
	}
	await files.makeDirectory(inShareDir, 0o700);
	await removeLeftOver(parent, place);
	return inShareDir;
}

/** Milliseconds until a process on another machine counts as ended. */
const longestElsewhere = 30 * 86_400_000;

/** Leaves processes elsewhere alone: their ids say nothing here. */
async function removeLeftOver(parent: string, { files, clock }: PrivateProxyPlace): Promise<void> {
	for (const { name } of await files.list(parent)) {
		const { id, place = placeName() } = /^(?<id>\d+)-[0-9a-f]+(?:-(?<place>[0-9a-f]+))?$/.exec(name)?.groups ?? {};
		if (id === undefined) continue;
		const directory = path.join(parent, name);
		const hasEnded =
			place === placeName()
				? livenessOf({ pid: Number(id) }) === "ended"
				: ((await files.status(directory))?.modifiedAt ?? 0) < clock.now() - longestElsewhere;
		if (hasEnded) await files.remove(directory);
	}
}
