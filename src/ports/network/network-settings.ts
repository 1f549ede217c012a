import type { Clock } from "../../base/clock.ts";
import type { CertificateSettings } from "./certificates.ts";
import type { Sockets } from "./connections/sockets.ts";

export type Fetch = typeof globalThis.fetch;

export interface NetworkSettings extends CertificateSettings {
	/** Names the proxies and certificates. */
	readonly environment: Readonly<Record<string, string>>;
	readonly clock: Clock;
	readonly sockets?: Sockets;
}
