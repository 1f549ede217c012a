// Closes a connection without waiting for a peer that does not read.
import { sleep, systemClock } from "../base/clock.ts";
import type { LineTransport } from "../ports/rpc/transport.ts";

/** Milliseconds to send remaining data. */
const patience = 1000;

/** Closes the transport once everything was written, or after a second. */
export async function closeInTime(transport: LineTransport): Promise<void> {
	const written = new AbortController();
	await Promise.race([transport.flush(), sleep(systemClock, patience, written.signal)]);
	written.abort();
	transport.close();
}
