// The network for tests: as it is, with no proxies and no certificates of one's own, whatever the machine has.
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import { createNetwork, type Network } from "../../../src/ports/network/network.ts";
import type { NetworkSettings } from "../../../src/ports/network/network-settings.ts";

export const plainNetworkSettings: NetworkSettings = {
	environment: {},
	caFile: null,
	readFile: async () => null,
	clock: systemClock,
	log: silentLog,
};

export const plainNetwork: Network = createNetwork(plainNetworkSettings);
