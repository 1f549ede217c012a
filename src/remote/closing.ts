// The end of a connection, which does not wait for a side that does not read.
import { sleep, systemClock } from "../base/clock.ts";
import type { LineTransport } from "../ports/rpc/transport.ts";

/** Milliseconds for what was sent last. */
const patience = 1000;

/** Closes the transport once everything was written, or after a second. */
export async function closeInTime(transport: LineTransport): Promise<void> {
	const written = new AbortController();
	await Promise.race([transport.flush(), sleep(systemClock, patience, written.signal)]);
	written.abort();
	transport.close();
}
