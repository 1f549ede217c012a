// Connection limits shared by processes that reach each other's sessions.
import type { StreamLimits } from "../ports/transports/stream.ts";

/** Lines may exceed the gateway's client limit; the output queue for a slow peer is bounded. */
export const workerLimits: StreamLimits = { lineLimit: 256 * 1024 * 1024, outboxLimit: 4 * 1024 * 1024 };
