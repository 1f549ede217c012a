// The version of Kimi's vocabulary that we use, write into logs, and report to clients whatever they request.
import type { WireVersion } from "./history.ts";

export const protocolVersion: WireVersion = "1.10";
