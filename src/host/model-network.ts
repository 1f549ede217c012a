// Connects models to their providers when answers are recorded or replayed. Loads nothing before the first request.
import type { Log } from "../base/log.ts";
import type { Files } from "../ports/files/port.ts";
import type { Network } from "../ports/network/network.ts";
import type { Fetch } from "../ports/network/network-settings.ts";
import type { Configuration } from "../settings/config/configuration.ts";
import { recorderVariable } from "../settings/config/recorder.ts";
import type { Place } from "./place.ts";

export type CassetteSettings = NonNullable<Configuration["agentwire"]["cassette"]>;

export interface ModelNetworkPlace {
	readonly environment: Readonly<Record<string, string>>;
	readonly place: Place;
	readonly shareDir: string;
	readonly files: Files;
	readonly log: Log;
}

/** Null when models use the network directly. */
export function createModelNetwork(
	cassette: CassetteSettings | null,
	network: Network,
	given: ModelNetworkPlace,
): Pick<Network, "fetch" | "openConnection"> | null {
	const recorder = given.environment[recorderVariable];
	if (recorder) {
		return {
			fetch: (input, init) => network.fetch(toRecorder(recorder, input), init),
			openConnection: () => network.openConnection(new URL(recorder)),
		};
	}
	if (cassette === null) return null;
	let opening: Promise<Fetch> | null = null;
	return {
		async fetch(input, init) {
			opening ??= import("./open-cassette.ts").then(({ openCassette }) => openCassette(cassette, network.fetch, given));
			return await (await opening)(input, init);
		},
		openConnection: async () => {},
	};
}

function toRecorder(recorder: string, input: Parameters<Fetch>[0]): URL {
	const url = new URL(input instanceof Request ? input.url : input);
	if (url.href.startsWith(`${recorder}/`)) return url;
	return new URL(`${recorder}/${url.protocol.slice(0, -1)}/${url.host}${url.pathname}${url.search}`);
}
