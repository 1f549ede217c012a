// Starts a kernel over this machine: its files, store, settings, network and sandbox. The command line, the library and tests
// start kernels through it. Nothing here reads argv or the process's environment, handles signals, writes to stdout or exits.
import { uptime } from "node:os";
import path from "node:path";
import { systemClock } from "../base/clock.ts";
import { errorText } from "../base/errors.ts";
import { randomIdentifiers } from "../base/ids.ts";
import type { Model } from "../core/models/model.ts";
import { protocolVersion } from "../formats/protocol-version.ts";
import type { FaultOwner } from "../kernel/api.ts";
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

/**
 * What happens to a session in a database that another process has: it is taken over after a while, or, with "expired", only
 * once that process is gone.
 */
export type StoreOpening = "patient" | "expired";

/** The files of a host. */
export interface HostFiles {
	/** The program's own files: sessions, settings, logs. */
	readonly disk: Files;
	/** Everything else. A drive that does not respond must not keep the own files from being written. */
	readonly outside: Files;
}

/** `places` is how many calls may wait for files that are not the host's own. */
export function openHostFiles(shareDir: string, places: number, realmDirectory: string | null = null): HostFiles {
	const disk = createDiskFiles(privateBelow(shareDir, ...(realmDirectory === null ? [] : [realmDirectory])));
	return { disk, outside: boundFiles(disk, { places, clock: systemClock }) };
}

export interface HostSettings {
	readonly configuration: Configuration;
	/** Null for settings that are in no file. */
	readonly file: string | null;
	/** Reads them again, for models that a sign-in added. */
	readAgain(): Promise<Configuration>;
}

export interface HostParts {
	readonly surroundings: HostSurroundings;
	readonly files: HostFiles;
	readonly settings: HostSettings;
	/** Of sessions that name none. */
	readonly workDir: string;
	/** In place of the store of the settings: one that is open, or a directory on disk. */
	readonly store?: SessionStore | { readonly directory: string };
	readonly opening?: StoreOpening;
	/** Whether what happens is counted in any case. */
	readonly hasMetrics?: boolean;
	/** Models that the caller implements, by their aliases. */
	readonly models?: ReadonlyMap<string, Model>;
}

/** A kernel with everything it was made of. */
export interface ComposedHost {
	readonly kernel: Kernel;
	readonly settings: CurrentSettings;
	readonly hostServices: HostServices;
	/** The program's own files, synced as the settings say. */
	readonly own: Files;
	/** Which files may be shown to a model. */
	readonly admit: Admit;
	/** Null where nothing is observed. */
	readonly telemetry: Telemetry | null;
	/** The store, where other processes share it; null for one of this machine alone. */
	readonly sharedStore: PostgresStore | null;
	/** The sessions of clients that create as many as they like. */
	openSessions(options: SessionOptions, more?: Pick<SessionHostParts, "endsInterruptedTurns">): Promise<SessionHost>;
}

/** Composes a kernel. Fails with a ConfigurationError for settings or rules that cannot be used. */
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
	// Unusable rules are reported at the start, and not with the first session.
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

/** How an embedder starts a kernel. */
export interface HostOptions {
	/** The absolute path of the directory for sessions, settings and logs. */
	readonly home: string;
	/** The directory that stands for `~`, where skills and rules of the user are looked for; absent for `home`. */
	readonly userHome?: string;
	/** The absolute path of the work directory for sessions that name none; absent for `home`. */
	readonly workDir?: string;
	/** The settings as an object of the form of config.toml, or as its text; absent for config.toml in `home`. */
	readonly settings?: string | Readonly<Record<string, unknown>>;
	/** The environment of commands, hooks and MCP servers, and where keys of providers are looked for; absent for an empty one. */
	readonly environment?: Readonly<Record<string, string>>;
	/** Absent for what the settings say, which is the disk by default. */
	readonly store?: SessionStore | "memory";
	/** Models of the caller's own, by the alias under which sessions choose them. The first is the default if no other is set. */
	readonly models?: Readonly<Record<string, Model>>;
	/** How sessions are opened where neither their creator nor the settings say. */
	readonly sessions?: Partial<SessionOptions>;
	/** Where the program finds the rest of itself. */
	readonly installation: Installation;
	/** Absent for `logs/agentwire.log` in `home`. */
	readonly log?: LogFile;
	/** Called with what is written for people, such as the trace of a scripted model; absent to drop it. */
	readonly onNotice?: (text: string) => void;
}

/** A running kernel. */
export interface Host {
	readonly sessions: SessionHost;
	readonly settings: CurrentSettings;
	/**
	 * The session whose work threw what the embedder's handler of uncaught exceptions was given; null when that is unknown.
	 * Call it in the handler itself, then `fail` it, and only that session's turn ends.
	 */
	faultOwner(): FaultOwner | null;
	/** Ends every turn and child process, closes the store and flushes the log. Idempotent. */
	close(): Promise<void>;
}

/** Starts a kernel. Fails with a ConfigurationError for settings that cannot be used. */
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

/** The provider that stands for the caller's own models in the settings. Nothing is sent to it. */
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
