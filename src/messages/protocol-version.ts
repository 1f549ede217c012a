// The version of Kimi's vocabulary that we speak, write into logs, and tell clients whatever they ask for.
import type { WireVersion } from "./history.ts";

export const protocolVersion: WireVersion = "1.10";
