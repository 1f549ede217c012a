// Limits the damage of an uncaught exception: only the work that threw it ends.
import type { FaultOwner } from "../../api/kernel.ts";

export const nobody: FaultOwner = { fail: () => {} };
