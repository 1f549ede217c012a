import type { FaultOwner } from "../../api/kernel.ts";
import type { ContractVersion } from "../../base/contract-version.ts";
import type { HostOfferName } from "../../frontends/serve/host-dialects.ts";
import type { HostOffer } from "../../frontends/serve/serve.ts";
import type { Compatibility } from "../../frontends/shared/dialect.ts";
import type { LogFile } from "../../host/log/log-file.ts";
import type { Telemetry } from "../../host/telemetry/telemetry.ts";
import type { Kernel } from "../../kernel/hosting/kernel.ts";
import type { SessionHostParts } from "../../kernel/hosting/session-host.ts";
import type { PostgresStore } from "../../ports/store/postgres/postgres-store.ts";
import type { Configuration } from "../../settings/config/configuration.ts";
import type { SetupParts } from "../gateway/setup.ts";

export interface OpenHost extends HostOffer {
	readonly setup: SetupParts | null;
	/** The owner of an uncaught exception; null without sessions. Call it where the exception is first reported. */
	faultOwner(): FaultOwner | null;
}

/** Null loads no dialects. `contract` is the requested Meerkat contract version. */
export type OpenHostWith = (
	offer: HostOfferName | null,
	contract: ContractVersion | null,
	host?: Pick<SessionHostParts, "endsInterruptedTurns"> & {
		/** Whether sessions that another process owns are used there. */
		readonly attaches?: boolean;
	},
) => Promise<OpenHost>;

export interface StartedKernel {
	readonly kernel: Kernel;
	readonly configuration: Configuration;
	readonly compatibility: Compatibility;
	readonly openHost: OpenHostWith;
	/** The store, if other processes share it; null for a local one. */
	readonly sharedStore: PostgresStore | null;
	readonly hasMcpServers: boolean;
	readonly workDir: string;
	readonly endListening: () => void;
	readonly telemetry: Telemetry | null;
	readonly log: LogFile;
}
