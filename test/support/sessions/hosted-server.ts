// A server of many sessions in memory for campaigns: kernel, host and connection are real, files, store, network and clock
// are not.

import type { SessionsApi } from "../../../src/api/kernel.ts";
import type { Clock } from "../../../src/base/clock.ts";
import { randomIdentifiers } from "../../../src/base/ids.ts";
import { silentLog } from "../../../src/base/log.ts";
import { meerkatDialect } from "../../../src/frontends/meerkat/dialect.ts";
import { type Serving, serve } from "../../../src/frontends/serve/serve.ts";
import { type HostApi, type HostDialect, noCompatibility } from "../../../src/frontends/shared/dialect.ts";
import { plainSessionOptions } from "../../../src/kernel/compose/session-options.ts";
import { Kernel } from "../../../src/kernel/hosting/kernel.ts";
import { SessionHost } from "../../../src/kernel/hosting/session-host.ts";
import { createSettingsDocuments } from "../../../src/kernel/hosting/settings-documents.ts";
import type { Files } from "../../../src/ports/files/port.ts";
import type { Fetch } from "../../../src/ports/network/network-settings.ts";
import type { Processes } from "../../../src/ports/processes/port.ts";
import type { LineTransport } from "../../../src/ports/rpc/transport.ts";
import type { SessionStore } from "../../../src/ports/store/session-store.ts";
import { createMemoryTransport, type MemoryClient } from "../../../src/ports/transports/memory.ts";
import { readConfiguration } from "../../../src/settings/config/configuration-reader.ts";
import { createHostServices } from "../host/host-services.ts";
import { plainNetwork } from "../host/network.ts";
import { noProcesses } from "./session-doubles.ts";

export interface HostedServer {
	readonly serving: Pick<Serving, "finish" | "ended">;
	readonly client: MemoryClient;
	/** Ends what is left after serving. */
	close(): Promise<void>;
}

export interface HostedServerOptions {
	readonly files: Files;
	readonly store: SessionStore;
	readonly clock: Clock;
	/** Answers for the provider `p` of the type `openai_legacy`; its default model is `m`. */
	readonly fetch: Fetch;
	/** The table `agentwire` of the settings. */
	readonly agentwire: object;
	/** Hooks of the settings. */
	readonly hooks?: readonly object[];
	/** Models that the settings list besides `m`. */
	readonly models?: readonly string[];
	/** What each model can do. */
	readonly capabilities?: Readonly<Record<string, readonly string[]>>;
	readonly outboxLimit?: number;
	/** Meerkat RPC when absent. */
	readonly dialect?: HostDialect;
	/** None are started when absent. */
	readonly processes?: Processes;
	/** Serves in place of the dialect. */
	readonly front?: (transport: LineTransport, host: HostApi, signal: AbortSignal) => Pick<Serving, "finish" | "ended">;
	/** The way of the dialect to the sessions; in this process when absent. */
	readonly reach?: (sessions: SessionsApi) => Promise<SessionsApi>;
}

/** Where its sessions work, and where settings and plans are stored. */
export const hostedPlace = { workDir: "/home/me/project", shareDir: "/home/me/share" } as const;

export async function createHostedServer(options: HostedServerOptions): Promise<HostedServer> {
	const {
		files,
		store,
		clock,
		fetch,
		agentwire,
		outboxLimit = 262_144,
		processes = noProcesses,
		dialect = meerkatDialect,
		reach = async (each: SessionsApi) => each,
	} = options;
	const { workDir, shareDir } = hostedPlace;
	const models = ["m", ...(options.models ?? [])].map((name) => [
		name,
		{ provider: "p", model: name, max_context_size: 1_000_000, capabilities: options.capabilities?.[name] ?? [] },
	]);
	await files.makeDirectory(workDir);
	const text = JSON.stringify({
		default_model: "m",
		models: Object.fromEntries(models),
		providers: { p: { type: "openai_legacy", base_url: "http://models.example/v1", api_key: "key" } },
		agentwire,
		hooks: options.hooks ?? [],
	});
	const { configuration } = await readConfiguration({ kind: "text", text }, files, silentLog);
	const kernel = new Kernel({
		store,
		configuration,
		hostServices: createHostServices({
			home: "/home/me",
			shareDir,
			files,
			processes,
			network: { ...plainNetwork, fetch, openConnection: async () => {} },
			clock,
			random: () => 0.5,
			version: "0.0.0",
		}),
	});
	const sessions = await reach(
		new SessionHost({
			kernel,
			configuration,
			environment: {},
			workDir,
			options: plainSessionOptions,
			clock,
			identifiers: randomIdentifiers,
			log: silentLog,
		}),
	);
	const documents = createSettingsDocuments({ files, clock, workDir, home: "/home/me" });
	const { transport, client } = createMemoryTransport(104_857_600, outboxLimit);
	const host = { account: null, sessions, documents, clock, identifiers: randomIdentifiers };
	const parts = { server: { name: "agentwire", version: "0.0.0" }, log: silentLog };
	const { signal } = new AbortController();
	const serving =
		options.front?.(transport, { ...host, ...parts }, signal) ??
		serve({
			...parts,
			transport,
			session: null,
			host: { ...host, dialects: [dialect] },
			compatibility: noCompatibility,
			maximumInFlight: configuration.agentwire.limits.requestsInFlight,
			signal,
		});
	return { serving, client, close: () => kernel.close() };
}
