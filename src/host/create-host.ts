// Never reads argv or the process environment, handles signals, writes to stdout or exits.
import { uptime } from "node:os";
import path from "node:path";
import type { FaultOwner } from "../api/kernel.ts";
import { systemClock } from "../base/clock.ts";
import { errorText } from "../base/errors.ts";
import { randomIdentifiers } from "../base/ids.ts";
import type { Model } from "../core/models/model.ts";
import { protocolVersion } from "../formats/protocol-version.ts";
import type { HostServices } from "../kernel/compose/host-services.ts";
import { findRuleFiles, readRuleFiles } from "../kernel/compose/permissions.ts";
import { secretsOf } from "../kernel/compose/secrets.ts";
import { plainSessionOptions, type SessionOptions } from "../kernel/compose/session-options.ts";
import { Kernel } from "../kernel/hosting/kernel.ts";
import type { SessionHost, SessionHostParts } from "../kernel/hosting/session-host.ts";
import { boundFiles } from "../ports/files/bounded-files.ts";
import { createDiskFiles } from "../ports/files/disk-files.ts";
import type { Admit, Files } from "../ports/files/port.ts";
import { privateBelow } from "../ports/files/private-paths.ts";
import { admitByName } from "../ports/files/secret-paths.ts";
import { withoutSync } from "../ports/files/unsynced-files.ts";
import { createDiskStore } from "../ports/store/disk/disk-store.ts";
import type { PostgresStore } from "../ports/store/postgres/postgres-store.ts";
import type { SessionStore } from "../ports/store/session-store.ts";
import type { Configuration } from "../settings/config/configuration.ts";
import { readConfiguration } from "../settings/config/configuration-reader.ts";
import { withEnvironmentModels } from "../settings/config/environment-models.ts";
import { type CurrentSettings, createCurrentSettings } from "./current-settings.ts";
import { createHostServices, type HostSurroundings } from "./host-services.ts";
import type { Installation } from "./installation.ts";
import { createLogFile, type LogFile, logFile } from "./log/log-file.ts";
import { withStoreEnvironment } from "./store-environment.ts";
import type { Telemetry } from "./telemetry/telemetry.ts";

/** "expired" takes a session over only once the process that holds it has ended. */
export type StoreOpening = "patient" | "expired";

export interface HostFiles {
	readonly disk: Files;
	/** All other files. An unresponsive drive must not block writing program files. */
	readonly outside: Files;
}

/** `places` limits concurrent calls for files outside the program directory. */
export function openHostFiles(shareDir: string, places: number, realmDirectory: string | null = null): HostFiles {
	const disk = createDiskFiles(privateBelow(shareDir, ...(realmDirectory === null ? [] : [realmDirectory])));
	return { disk, outside: boundFiles(disk, { places, clock: systemClock }) };
}

export interface HostSettings {
	readonly configuration: Configuration;
	/** Null for settings without a file. */
	readonly file: string | null;
	readAgain(): Promise<Configuration>;
}

export interface HostParts {
	readonly surroundings: HostSurroundings;
	readonly files: HostFiles;
	readonly settings: HostSettings;
	readonly workDir: string;
	/** Replaces the configured store: an open store, or a directory on disk. */
	readonly store?: SessionStore | { readonly directory: string };
	readonly opening?: StoreOpening;
	readonly hasMetrics?: boolean;
	/** Models implemented by the caller, by alias. */
	readonly models?: ReadonlyMap<string, Model>;
}

export interface ComposedHost {
	readonly kernel: Kernel;
	readonly settings: CurrentSettings;
	readonly hostServices: HostServices;
	readonly own: Files;
	readonly admit: Admit;
	readonly telemetry: Telemetry | null;
	/** The store if shared between processes, else null. */
	readonly sharedStore: PostgresStore | null;
	openSessions(options: SessionOptions, more?: Pick<SessionHostParts, "endsInterruptedTurns">): Promise<SessionHost>;
}

/** Composes a kernel. Fails with a ConfigurationError for unusable settings or rules. */
export async function composeHost(parts: HostParts): Promise<ComposedHost> {
	const { surroundings, files, workDir, hasMetrics = false, models } = parts;
	const { configuration, file, readAgain } = parts.settings;
	const { environment, log } = surroundings;
	const settings = createCurrentSettings(configuration, readAgain);
	const synced = (each: Files) => (configuration.agentwire.sync === "off" ? withoutSync(each) : each);
	const own = synced(files.disk);
	const { passwordFile } = withStoreEnvironment(configuration.store, environment);
	const { hostServices, telemetry } = await createHostServices(
		{
			configuration,
			configurationFile: file,
			secretFiles: passwordFile === null ? [] : [passwordFile],
			files: synced(files.outside),
			own,
			hasMetrics,
			...(models === undefined ? {} : { models }),
		},
		surroundings,
	);
	// Reports unusable rules at startup, not with the first session.
	if (configuration.permission.rules.length > 0) {
		const { permission } = configuration;
		await readRuleFiles(await findRuleFiles(permission, workDir, hostServices), hostServices.home);
	}
	const { admit } = secretsOf(hostServices);
	const { store, sharedStore } = await openStore(parts, own.admitting(admit));
	const kernel = new Kernel({
		store,
		get configuration() {
			return settings.current();
		},
		hostServices,
		claimsAtOnce: parts.opening === "expired",
	});
	return {
		kernel,
		settings,
		hostServices,
		own,
		admit,
		telemetry,
		sharedStore,
		async openSessions(options, more = {}) {
			const { SessionHost: Host } = await import("../kernel/hosting/session-host.ts");
			return new Host({
				...more,
				kernel,
				get configuration() {
					return settings.current();
				},
				environment,
				workDir,
				options,
				clock: systemClock,
				identifiers: randomIdentifiers,
				log,
			});
		},
	};
}

async function openStore(
	{ store: given, surroundings, files, settings, opening = "patient" }: HostParts,
	own: Files,
): Promise<{ readonly store: SessionStore; readonly sharedStore: PostgresStore | null }> {
	const { place, shareDir, environment, log } = surroundings;
	const configured = withStoreEnvironment(settings.configuration.store, environment);
	if (given !== undefined && !("directory" in given)) return { store: given, sharedStore: null };
	if (given === undefined && configured.type === "postgres") {
		const { openConfiguredStore } = await import("./configured-store.ts");
		const scratch = { files: own, directory: path.join(shareDir, "scratch") };
		const sharedStore = await openConfiguredStore(configured, { files: files.outside, place, log, scratch }, opening);
		return { store: sharedStore, sharedStore };
	}
	const store = createDiskStore({
		files: own,
		shareDir: given?.directory ?? shareDir,
		log,
		clock: systemClock,
		protocolVersion,
		bootedAt: systemClock.now() - uptime() * 1000,
	});
	return { store, sharedStore: null };
}

export interface HostOptions {
	readonly home: string;
	/** The directory for `~`, with the user's skills and rules. Default: `home`. */
	readonly userHome?: string;
	/** Default working directory of sessions, absolute. Default: `home`. */
	readonly workDir?: string;
	/** Settings as an object shaped like config.toml, or as its text. Default: config.toml in `home`. */
	readonly settings?: string | Readonly<Record<string, unknown>>;
	/** Environment of commands, hooks and MCP servers, also searched for provider keys. Default: empty. */
	readonly environment?: Readonly<Record<string, string>>;
	/** Default: the configured store, which is the disk unless set otherwise. */
	readonly store?: SessionStore | "memory";
	readonly models?: Readonly<Record<string, Model>>;
	/** Defaults for options set neither by session creators nor settings. */
	readonly sessions?: Partial<SessionOptions>;
	readonly installation: Installation;
	/** Default: `logs/agentwire.log` in `home`. */
	readonly log?: LogFile;
	readonly onNotice?: (text: string) => void;
}

export interface Host {
	readonly sessions: SessionHost;
	readonly settings: CurrentSettings;
	/** The session whose work threw the current uncaught exception; null if unknown. `fail` ends only its turn. */
	faultOwner(): FaultOwner | null;
	/** Ends every turn and child process, closes the store and flushes the log. Idempotent. */
	close(): Promise<void>;
}

/** Starts a kernel. Fails with a ConfigurationError for unusable settings. */
export async function createHost(options: HostOptions): Promise<Host> {
	const { home, userHome = home, workDir = home, environment = {}, installation, onNotice = () => {} } = options;
	const log = options.log ?? createLogFile(logFile(home), false);
	const surroundings: HostSurroundings = {
		place: { currentDir: workDir, home: userHome },
		environment,
		shareDir: home,
		installation,
		log,
		loginCommand: "agentwire login",
		notice: onNotice,
	};
	const files = openHostFiles(home, 1);
	const models = new Map(Object.entries(options.models ?? {}));
	const settings = await readHostSettings(options, files.outside.admitting(admitByName), log, models);
	const host = await composeHost({
		surroundings,
		files,
		settings,
		workDir,
		models,
		...(options.store === undefined ? {} : { store: await toStore(options.store) }),
	});
	const sessions = await host.openSessions({ ...plainSessionOptions, expectsClients: true, ...options.sessions });
	let closing: Promise<void> | null = null;
	return {
		sessions,
		settings: host.settings,
		faultOwner: () => sessions.faultOwner(),
		close() {
			closing ??= close(sessions, host, log);
			return closing;
		},
	};
}

async function close(sessions: SessionHost, { kernel, telemetry }: ComposedHost, log: LogFile): Promise<void> {
	await sessions.stop().catch((thrown: unknown) => {
		log.warn("A session could not be stopped.", { cause: errorText(thrown) });
	});
	await Promise.all([kernel.close(), telemetry?.end(1000)]);
	await log.flush();
}

async function toStore(store: SessionStore | "memory"): Promise<SessionStore> {
	if (store !== "memory") return store;
	const { createMemoryStore } = await import("../ports/store/memory/memory-store.ts");
	return createMemoryStore();
}

async function readHostSettings(
	{ home, settings, environment = {} }: HostOptions,
	files: Files,
	log: LogFile,
	models: ReadonlyMap<string, Model>,
): Promise<HostSettings> {
	const source =
		settings === undefined
			? ({ kind: "default", shareDir: home } as const)
			: ({ kind: "text", text: typeof settings === "string" ? settings : JSON.stringify(settings) } as const);
	const read = async () => {
		const { configuration, path: file } = await readConfiguration(source, files, log);
		const withModels = withEnvironmentModels(configuration, environment).configuration;
		return { configuration: withOwnModels(withModels, models), file };
	};
	const { configuration, file } = await read();
	return { configuration, file, readAgain: async () => (await read()).configuration };
}

/** The settings provider for the caller's models. It receives no requests. */
const ownProvider = "embedded";

function withOwnModels(configuration: Configuration, models: ReadonlyMap<string, Model>): Configuration {
	if (models.size === 0) return configuration;
	const listed = [...models].map(([alias, { maxContextSize, capabilities }]) => [
		alias,
		{
			provider: ownProvider,
			model: alias,
			maxContextSize,
			capabilities: [...capabilities],
			displayName: null,
			price: null,
		},
	]);
	return {
		...configuration,
		defaultModel: configuration.defaultModel || ([...models.keys()][0] ?? ""),
		models: { ...configuration.models, ...Object.fromEntries(listed) },
		providers: {
			...configuration.providers,
			[ownProvider]: {
				type: "_echo",
				baseUrl: "",
				apiKey: "",
				env: {},
				customHeaders: {},
				reasoningKey: null,
				oauth: null,
			},
		},
	};
}
