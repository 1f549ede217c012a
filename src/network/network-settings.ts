// What the network is made with, and the function that it gives to libraries.
import type { Clock } from "../base/clock.ts";
import type { CertificateSettings } from "./certificates.ts";
import type { Sockets } from "./sockets.ts";

/** The platform's `fetch`, but for one thing: it takes URLs and no Requests. */
export type Fetch = typeof globalThis.fetch;

export interface NetworkSettings extends CertificateSettings {
	/** What names the proxies and certificates. */
	readonly environment: Readonly<Record<string, string>>;
	readonly clock: Clock;
	/** The system's own when absent. */
	readonly sockets?: Sockets;
}
