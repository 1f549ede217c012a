// What a start leads to: the composed kernel, and how a host of many sessions is opened over it.
import type { ContractVersion } from "../../base/contract-version.ts";
import type { HostOfferName } from "../../frontends/serve/host-dialects.ts";
import type { HostOffer } from "../../frontends/serve/serve.ts";
import type { Compatibility } from "../../frontends/shared/dialect.ts";
import type { LogFile } from "../../host/log/log-file.ts";
import type { Telemetry } from "../../host/telemetry/telemetry.ts";
import type { FaultOwner } from "../../kernel/api.ts";
import type { Kernel } from "../../kernel/hosting/kernel.ts";
import type { SessionHostParts } from "../../kernel/hosting/session-host.ts";
import type { PostgresStore } from "../../ports/store/postgres/postgres-store.ts";
import type { Configuration } from "../../settings/config/configuration.ts";
import type { SetupParts } from "../gateway/setup.ts";

/** A host of many sessions. */
export interface OpenHost extends HostOffer {
	/** What a setup of a model needs; null where the settings are not those of the share directory. */
	readonly setup: SetupParts | null;
	/** What an uncaught exception belongs to; null without sessions. Call it where the exception is first reported. */
	faultOwner(): FaultOwner | null;
}

/**
 * Loads dialects for clients of many sessions; null for none. `contract` is the version of Meerkat's contract that was
 * asked for; null for that of the settings.
 */
export type OpenHostWith = (
	offer: HostOfferName | null,
	contract: ContractVersion | null,
	host?: Pick<SessionHostParts, "endsInterruptedTurns">,
) => Promise<OpenHost>;

/** A started kernel, whatever it serves. */
export interface StartedKernel {
	readonly kernel: Kernel;
	readonly configuration: Configuration;
	readonly compatibility: Compatibility;
	readonly openHost: OpenHostWith;
	/** The store, where other processes share it; null for one of this machine alone. */
	readonly sharedStore: PostgresStore | null;
	readonly hasMcpServers: boolean;
	/** Of sessions that name none. */
	readonly workDir: string;
	/** Null where nothing is observed. */
	readonly telemetry: Telemetry | null;
	readonly log: LogFile;
}
