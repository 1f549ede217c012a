// What to end after an uncaught exception: no more than the work that threw it.
import type { FaultOwner } from "../api.ts";

/** No owner is known. */
export const nobody: FaultOwner = { fail: () => {} };
