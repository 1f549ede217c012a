// Bounds the notifications that a server sends while it works: the library validates and handles each by itself, so that a
// flood of them delays every answer.
import type { Transport } from "@modelcontextprotocol/client";
import type { Clock } from "../../../base/clock.ts";

/** Those that are passed on in a period, and its milliseconds. They say how work is getting on: later ones replace earlier ones. */
const limit = 200;
const period = 100;

const bounded: ReadonlySet<string> = new Set(["notifications/progress", "notifications/message"]);

/**
 * Ignores notifications of progress and log messages beyond that, and calls `ignoring` for the first. To be called on a
 * transport that is in use.
 */
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
