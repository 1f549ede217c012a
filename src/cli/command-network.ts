// The network of commands without a session: the same proxies and certificates, configured on first use.
import { systemClock } from "../base/clock.ts";
import { silentLog } from "../base/log.ts";
import type { Files } from "../files/port.ts";
import { createNetwork, type Network } from "../network/network.ts";
import type { Fetch } from "../network/network-settings.ts";
import { readCommandSettings } from "./command-settings.ts";
import { type Place, toAbsolutePath } from "./paths.ts";

export interface CommandPlace {
	readonly environment: Readonly<Record<string, string>>;
	readonly files: Files;
	readonly shareDir: string;
	readonly place: Place;
}

/** A `fetch` for the command. Unreadable settings count as none here: the command itself reports them. */
export function createCommandFetch(given: CommandPlace): Fetch {
	let opening: Promise<Network> | null = null;
	return async (input, init) => {
		opening ??= open(given);
		return await (await opening).fetch(input, init);
	};
}

async function open({ environment, files, shareDir, place }: CommandPlace): Promise<Network> {
	const { caFile = null } = (await readCommandSettings(files, shareDir)) ?? {};
	return createNetwork({
		environment,
		caFile: caFile === null ? null : toAbsolutePath(caFile, place),
		readFile: (file) => files.read(file),
		clock: systemClock,
		log: silentLog,
	});
}
