// Settings of a model for tests, and a clock whose deadlines pass when a test says so.
import type { Clock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import type { ModelSettings } from "../../../src/core/models/model-settings.ts";
import { plainNetwork } from "../host/network.ts";

export const plainModelSettings: ModelSettings = {
	providerType: "kimi",
	baseUrl: "http://127.0.0.1:9/v1",
	apiKey: "test-key-0123456789",
	keyHolder: { provider: "mine", setting: "providers.mine.api_key" },
	network: plainNetwork,
	environment: {},
	customHeaders: {},
	reasoningKey: null,
	model: "kimi-k2.6",
	maxContextSize: 100_000,
	capabilities: new Set(),
	thinking: "default",
	sampling: { temperature: null, topP: null, maxCompletionTokens: null, thinkingKeep: null },
	timeouts: { response: 300_000, idle: 300_000 },
	clientName: () => null,
	readFile: async () => null,
	trace: () => {},
	log: silentLog,
	version: "1.2.3",
	home: "/home/me",
	clock: { now: () => 0, monotonic: () => 0, after: () => () => {} },
};

export interface ManualClock extends Clock {
	/** Resolves with the waiting time of the next deadline that is set; the deadline passes at once. */
	expireNext(milliseconds: number): Promise<void>;
}

/** Deadlines of a length that `expireNext` names pass as soon as they are set; no other ever does. */
export function createManualClock(): ManualClock {
	const expected = new Map<number, () => void>();
	const pending = new Map<number, () => void>();
	let now = 0;
	const pass = (milliseconds: number, callback: () => void) => {
		now += milliseconds;
		callback();
	};
	return {
		now: () => now,
		monotonic: () => now,
		after(milliseconds, callback) {
			const arrived = expected.get(milliseconds);
			if (arrived === undefined) pending.set(milliseconds, callback);
			else {
				expected.delete(milliseconds);
				queueMicrotask(() => pass(milliseconds, callback));
				arrived();
			}
			return () => pending.delete(milliseconds);
		},
		expireNext(milliseconds) {
			const callback = pending.get(milliseconds);
			if (callback !== undefined) {
				pass(milliseconds, callback);
				return Promise.resolve();
			}
			return new Promise((resolve) => expected.set(milliseconds, resolve));
		},
	};
}
