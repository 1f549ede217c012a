import type { Transport } from "@modelcontextprotocol/client";
import type { Clock } from "../../../base/clock.ts";

/** Maximum notifications per period, and the period in milliseconds. Later progress supersedes earlier. */
const limit = 200;
const period = 100;

const bounded: ReadonlySet<string> = new Set(["notifications/progress", "notifications/message"]);

/** Drops progress and log notifications over the limit, and calls `ignoring` for the first one. Call on a transport in use. */
export function boundNotifications(transport: Transport, clock: Pick<Clock, "monotonic">, ignoring: () => void): void {
	const receive = transport.onmessage;
	let begun = clock.monotonic();
	let passed = 0;
	let isIgnoring = false;
	transport.onmessage = (message, extra) => {
		if ("method" in message && bounded.has(message.method)) {
			const now = clock.monotonic();
			if (now - begun >= period) {
				begun = now;
				passed = 0;
			}
			passed += 1;
			if (passed > limit) {
				if (!isIgnoring) ignoring();
				isIgnoring = true;
				return;
			}
		}
		receive?.(message, extra);
	};
}
