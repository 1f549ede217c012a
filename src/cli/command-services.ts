// The same proxies, certificates and containment as a session, configured on first use.
import { systemClock } from "../base/clock.ts";
import { silentLog } from "../base/log.ts";
import { type Place, toAbsolutePath } from "../host/place.ts";
import type { Files } from "../ports/files/port.ts";
import { createNetwork, type Network } from "../ports/network/network.ts";
import type { Fetch } from "../ports/network/network-settings.ts";
import { createProcesses } from "../ports/processes/children.ts";
import { createLazyProcesses } from "../ports/processes/lazy-processes.ts";
import type { Processes } from "../ports/processes/port.ts";
import type { Configuration } from "../settings/config/configuration.ts";

export interface CommandPlace {
	readonly environment: Readonly<Record<string, string>>;
	readonly files: Files;
	readonly shareDir: string;
	readonly place: Place;
}

/** A `fetch` for the command. Ignores unreadable settings; the command reports them. */
export function createCommandFetch(given: CommandPlace): Fetch {
	let opening: Promise<Network> | null = null;
	return async (input, init) => {
		opening ??= open(given);
		return await (await opening).fetch(input, init);
	};
}

async function open({ environment, files, shareDir, place }: CommandPlace): Promise<Network> {
	const { caFile = null } = (await readSettings(files, shareDir)) ?? {};
	return createNetwork({
		environment,
		caFile: caFile === null ? null : toAbsolutePath(caFile, place),
		readFile: (file) => files.read(file),
		clock: systemClock,
		log: silentLog,
	});
}

export function createCommandProcesses(files: Files, shareDir: string): Processes {
	return createLazyProcesses(async () => {
		const { contain = "auto" } = (await readSettings(files, shareDir)) ?? {};
		return createProcesses({ contain });
	});
}

/** Null if settings are missing or unreadable, so that unrelated commands still work. */
async function readSettings(files: Files, shareDir: string): Promise<Configuration["agentwire"] | null> {
	const file = `${shareDir}/config.toml`;
	try {
		if ((await files.status(file)) === null) return null;
		const { readConfiguration } = await import("../settings/config/configuration-reader.ts");
		const { configuration } = await readConfiguration({ kind: "file", path: file }, files, silentLog);
		return configuration.agentwire;
	} catch {
		return null;
	}
}
