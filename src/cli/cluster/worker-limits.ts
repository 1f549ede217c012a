// The limits of a connection between a gateway and a worker: the same on both sides.
import type { StreamLimits } from "../../ports/transports/stream.ts";

/** A line may be longer than what gateways take from their clients; what waits for a slow side is bounded. */
export const workerLimits: StreamLimits = { lineLimit: 256 * 1024 * 1024, outboxLimit: 4 * 1024 * 1024 };
