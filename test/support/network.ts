// The network for tests: as it is, with no proxies and no certificates of one's own, whatever the machine has.
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { createNetwork, type Network, type NetworkSettings } from "../../src/network/network.ts";
import type { WebAccess } from "../../src/tools/tool.ts";

export const plainNetworkSettings: NetworkSettings = {
	environment: {},
	caFile: null,
	readFile: async () => null,
	clock: systemClock,
	log: silentLog,
};

export const plainNetwork: Network = createNetwork(plainNetworkSettings);

/** Nothing but the public web, which tests leave alone. */
export const plainWeb: WebAccess = { network: plainNetwork, allowed: [], fetchService: null };
