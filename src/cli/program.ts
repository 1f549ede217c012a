// What all modes of the program share: the kernel, composed from command line, environment and settings, and the
// orderly end.

import { type as osType } from "node:os";
import path from "node:path";
import { unlessLate } from "../base/abort.ts";
import { sleep, systemClock } from "../base/clock.ts";
import type { ContractVersion } from "../base/contract-version.ts";
import { errorText } from "../base/errors.ts";
import { randomIdentifiers } from "../base/ids.ts";
import { redactSecrets } from "../base/redaction.ts";
import type { Configuration, StoreSettings } from "../config/configuration.ts";
import { ConfigurationError, type ConfigurationErrorCategory } from "../config/configuration-error.ts";
import { readConfiguration } from "../config/configuration-reader.ts";
import { withEnvironmentModels } from "../config/environment-models.ts";
import { readMcpServers } from "../config/mcp-servers.ts";
import type { AgentDefinition } from "../definitions/agent-definition.ts";
import type { Account, Compatibility } from "../dialects/dialect.ts";
import { boundFiles } from "../files/bounded-files.ts";
import { createDiskFiles } from "../files/disk-files.ts";
import { readingPipes } from "../files/pipes.ts";
import type { Files } from "../files/port.ts";
import { privateBelow } from "../files/private-paths.ts";
import { admitByName } from "../files/secret-paths.ts";
import { withoutSync } from "../files/unsynced-files.ts";
import type { Setup } from "../gateway/setup.ts";
import { isPlainMatcher } from "../hooks/matchers.ts";
import type { FaultOwner } from "../kernel/api.ts";
import { builtInAgents } from "../kernel/compose/built-in-agents.ts";
import type { SessionOptions } from "../kernel/compose/compose.ts";
import type { HostServices } from "../kernel/compose/host-services.ts";
import { secretsOf } from "../kernel/compose/secrets.ts";
import { Kernel } from "../kernel/hosting/kernel.ts";
import type { SessionHostParts } from "../kernel/hosting/session-host.ts";
import type { Session } from "../kernel/session/session.ts";
import { protocolVersion } from "../messages/protocol-version.ts";
import { createNetwork } from "../network/network.ts";
import { createLazyProcesses } from "../processes/lazy-processes.ts";
import { createLazySandbox } from "../sandbox/lazy-sandbox.ts";
import type { HostOfferName } from "../server/host-dialects.ts";
import type { HostOffer } from "../server/serve.ts";
import { createDiskStore } from "../store/disk/disk-store.ts";
import { isSessionId } from "../store/disk/work-dir.ts";
import type { PostgresStore } from "../store/postgres/postgres-store.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import { servesPlanMode } from "../tools/tool-paths.ts";
import { createPageReader } from "../tools/web/page-reader.ts";
import type { NamedSession, ProgramOptions, RealmOptions } from "./arguments/command-line.ts";
import type { RealmChoice } from "./arguments/realm.ts";
import { UsageError } from "./arguments/usage-error.ts";
import { toCompatibility } from "./compatibility.ts";
import { createCurrentSettings } from "./current-settings.ts";
import type { SetupParts } from "./gateway/setup.ts";
import type { LogFile } from "./log/log-file.ts";
import {
	checkDirectory,
	checkFile,
	checkWorkDir,
	managedPermissionsFile,
	type Place,
	toAbsolutePath,
} from "./paths.ts";
import { endInTime } from "./process/process-exit.ts";
import type { ProgramProcess } from "./process/program-process.ts";
import { flushNotices, writeNotice } from "./process/standard-error.ts";
import { makeThreadPool } from "./process/thread-pool.ts";
import { sandboxPlace } from "./sandbox-place.ts";
import { withoutPrefix } from "./sessions/session-prefix.ts";
import type { AccountSettings } from "./sign-in/account.ts";
import type { StorePlace } from "./store/configured-store.ts";
import { withStoreEnvironment } from "./store/store-environment.ts";
import { productName, productVersion } from "./version.ts";
import { createWorkerStarter } from "./worker-start.ts";

/** Milliseconds of the end after which a client that does not read is no longer waited for. */
const readingBudget = 1500;

/** Milliseconds of the end until which spans are sent, and at least. */
const telemetryBudget = 1600;
const leastTelemetryTime = 100;

/** Milliseconds for a start that was stopped to end. */
const startPatience = 1000;

/** Milliseconds after the start at which the log's writer is loaded. */
const logOpeningDelay = 100;

/** A host of many sessions. */
interface OpenHost extends HostOffer {
	/** How somebody without a model gets one; null where the settings are not those of the share directory. */
	readonly setup: Setup | null;
	/** What an uncaught exception belongs to; null without sessions. Call it where the exception is first reported. */
	faultOwner(): FaultOwner | null;
}

/** A started kernel, whatever it serves. */
export interface StartedKernel {
	readonly kernel: Kernel;
	readonly configuration: Configuration;
	readonly compatibility: Compatibility;
	/**
	 * Loads dialects for clients of many sessions; null for none. `contract` is the version of Meerkat's contract that was asked for; null
	 * for that of the settings.
	 */
	openHost(
		offer: HostOfferName | null,
		contract: ContractVersion | null,
		host?: Pick<SessionHostParts, "endsInterruptedTurns">,
	): Promise<OpenHost>;
	/** The store, where other processes share it; null for one of this machine alone. */
	readonly sharedStore: PostgresStore | null;
	readonly hasMcpServers: boolean;
	/** Null where nothing is observed. */
	readonly telemetry: Telemetry | null;
	readonly log: LogFile;
}

/** A program with a session. */
export interface Program extends StartedKernel {
	readonly session: Session;
}

/** A start that failed and was reported. */
export interface FailedStart {
	readonly exitCode: number;
}

/**
 * Opens the session that the options name. A failure is reported on stderr; throws UsageError. Null when it was stopped
 * and hung.
 */
export async function startProgram(
	executable: string,
	options: ProgramOptions & { readonly session: NamedSession },
	mode: Pick<SessionOptions, "unattended">,
	taken: ProgramProcess,
	stopped: AbortSignal,
): Promise<Program | FailedStart | null> {
	return await reported(taken, stopped, async () => {
		const { kernel, workDir, sessionOptions, ...others } = await prepare(executable, options, mode, taken, {});
		return { kernel, ...others, session: await openSession(kernel, workDir, options.session, sessionOptions) };
	});
}

/** The same without a session: clients create theirs. */
export async function startHost(
	executable: string,
	options: ProgramOptions & Partial<RealmOptions>,
	taken: ProgramProcess,
	stopped: AbortSignal,
	start: HostStart = {},
): Promise<StartedKernel | FailedStart | null> {
	return await reported(taken, stopped, () => prepare(executable, options, { unattended: false }, taken, start));
}

/** Starts; a failure is reported on stderr. */
async function reported<Started extends object>(
	{ log }: ProgramProcess,
	stopped: AbortSignal,
	start: () => Promise<Started>,
): Promise<(Started & { readonly log: LogFile }) | FailedStart | null> {
	const starting = start().catch((thrown: unknown) => {
		log.error("The start failed.", { error: thrown });
		return startupFailure(thrown);
	});
	const started = await unlessLate(starting, stopped, startPatience, systemClock);
	if (started === null) {
		log.warn("A start that was stopped did not end and is given up.");
		await log.flush();
		return null;
	}
	if (isFailure(started)) {
		writeNotice(`${started.text}\n`);
		await log.flush();
		return { exitCode: started.code };
	}
	// Loaded once the first answers are out: the start does not wait for it.
	setTimeout(() => void log.open(), logOpeningDelay).unref();
	return { ...started, log };
}

/** The work at the end, and the exit code. */
export interface ProgramEnd {
	/** Stops the session and sends what is still owed to the client; not waited for beyond its time. */
	finish(): Promise<void>;
	exitCode(): number;
	/** Whether nobody would see the hint on how to continue. */
	isUnheard?(): boolean;
}

/** Ends within two seconds; returns the exit code. `executable` is named in the hint on how to continue. */
export async function endProgram(
	executable: string,
	{ kernel, session, telemetry, log }: StartedKernel & { readonly session: Session | null },
	{ finish, exitCode, isUnheard = () => false }: ProgramEnd,
): Promise<number> {
	endInTime(exitCode, log);
	const begun = performance.now();
	await Promise.race([finish(), sleep(systemClock, readingBudget, new AbortController().signal)]);
	const resumable = session?.hasHistory === true ? session.id : null;
	const left = Math.max(leastTelemetryTime, telemetryBudget - (performance.now() - begun));
	await Promise.all([kernel.close(), telemetry?.end(left)]);
	const isHintDue = resumable !== null && !isUnheard();
	if (isHintDue) writeNotice(`\nTo resume this session: ${path.basename(executable)} -r ${resumable}\n`);
	await Promise.all([log.flush(), flushNotices()]);
	return exitCode();
}

/**
 * What happens to a session in a database that another process has: it is taken over after a while, or, with "expired", only once that
 * process is gone.
 */
type StoreOpening = "patient" | "expired";

export interface HostStart {
	/** Absent for "patient". */
	readonly opening?: StoreOpening;
	/** Whether what happens is counted in any case. */
	readonly hasMetrics?: boolean;
}

/** Everything but the sessions. */
async function prepare(
	executable: string,
	options: ProgramOptions & Partial<RealmOptions>,
	mode: Pick<SessionOptions, "unattended">,
	{ place, environment, shareDir, installation, log, watch }: ProgramProcess,
	{ opening = "patient", hasMetrics = false }: HostStart,
) {
	const places = makeThreadPool();
	const realm = toRealmPlace(options.realm ?? null, place, shareDir);
	const disk = createDiskFiles(privateBelow(shareDir, ...(realm === null ? [] : [realm.directory])));
	/** For everything but the sessions: a drive that does not respond must not keep those from being written. */
	const outside = watch(boundFiles(disk, { places, clock: systemClock }));
	const workDir = await checkWorkDir(options.workDir, place, outside);
	const checkAll = (flag: string, typed: readonly string[]) =>
		Promise.all(typed.map((directory) => checkDirectory(flag, directory, place, outside)));
	const additionalDirs = await checkAll("--add-dir", options.additionalDirs);
	const skillsDirs = await checkAll("--skills-dir", options.skillsDirs);
	const agentFile =
		options.agentFile === null ? null : await checkFile("--agent-file", options.agentFile, place, outside);
	const userConfigRoot =
		(options.userConfigRoot ?? null) === null
			? null
			: await checkDirectory("--user-config-root", options.userConfigRoot ?? "", place, outside);
	const source = await toSource(options, place, shareDir, outside);
	// Settings may be read, unless a link leads to a secret. A shell's `<(command)` is a pipe.
	const settingsFiles = outside.admitting(admitByName);
	const named = (...given: string[]) => readingPipes(settingsFiles, new Set(given), systemClock);
	const { configuration: written, path: configurationFile } = await readConfiguration(
		source,
		source.kind === "file" ? named(source.path) : settingsFiles,
		log,
	);
	const withModels = (settings: Configuration) => withEnvironmentModels(settings, environment).configuration;
	const configuration = withModels(written);
	const readAgain = async () => withModels((await readConfiguration(source, settingsFiles, log)).configuration);
	const settings = createCurrentSettings(configuration, readAgain);
	const compatibility = toCompatibility(configuration.agentwire, configurationFile, environment);
	const mcpFiles = await Promise.all(
		options.mcpConfigFiles.map((file) => checkFile("--mcp-config-file", file, place, outside)),
	);
	const mcpSources = { files: mcpFiles, texts: options.mcpConfigs, shareDir };
	const mcpServers = await readMcpServers(mcpSources, named(...mcpFiles), log);
	const synced = (files: Files) => (configuration.agentwire.sync === "off" ? withoutSync(files) : files);
	const files = synced(outside);
	const own = synced(disk);
	const { caFile } = configuration.agentwire;
	const storeSettings = withStoreEnvironment(configuration.store, environment);
	const { passwordFile } = storeSettings;
	const { sandbox } = configuration;
	const createProgramSandbox = (settings: Configuration["sandbox"]) =>
		createLazySandbox(async () => {
			const [{ createSandbox }, { createProcesses }] = await Promise.all([
				import("../sandbox/sandbox.ts"),
				import("../processes/children.ts"),
			]);
			return createSandbox(settings, {
				...sandboxPlace(place.home, shareDir, configurationFile),
				environment,
				processId: process.pid,
				files: own,
				processes: createProcesses({ log }),
				clock: systemClock,
				identifiers: randomIdentifiers,
				log,
			});
		});
	const network = createNetwork({
		environment,
		caFile: caFile === null ? null : toAbsolutePath(caFile, place),
		readFile: (file) => outside.read(file),
		clock: systemClock,
		log,
	});
	const telemetry = hasMetrics || namesCollector(environment) ? await openTelemetry(environment, network, log) : null;
	const hostServices: HostServices = {
		environment,
		home: place.home,
		shareDir,
		settingsFile: configurationFile,
		secretFiles: passwordFile === null ? [] : [toAbsolutePath(passwordFile, place)],
		managedPermissionsFile,
		builtInSkillsDir: installation.skillsDir,
		os: osType() === "Darwin" ? "macOS" : osType(),
		files,
		ownFiles: watch(own),
		processes: createLazyProcesses(async () => {
			const { createProcesses } = await import("../processes/children.ts");
			const { contain } = configuration.agentwire;
			return createProcesses({ openSink: (file) => openOutput(own, file), contain, log });
		}),
		...(sandbox.mode === "off" ? {} : { sandbox: createProgramSandbox(sandbox) }),
		...(sandbox.mode === "off" && sandbox.creators
			? { creatorSandbox: createProgramSandbox({ ...sandbox, mode: "workspace-write" }) }
			: {}),
		startWorker: createWorkerStarter(installation, configuration.agentwire.contain, sandbox.allowedDomains),
		readPage: createPageReader(installation.pageThread),
		findRipgrep: () => installation.findRipgrep(),
		network,
		...(telemetry === null ? {} : { observe: telemetry.observe }),
		clock: systemClock,
		identifiers: randomIdentifiers,
		random: Math.random,
		log,
		trace: (line) => writeNotice(`${line}\n`),
		version: productVersion,
		loginCommand: `${path.basename(executable)} login`,
	};
	if (configuration.permission.rules.length > 0) await checkRules(configuration, workDir, hostServices);
	const { admit } = secretsOf(hostServices);
	const agent =
		agentFile === null
			? builtInAgents[options.agent]
			: await loadAgentFile(agentFile, workDir, { ...hostServices, files: files.admitting(admit) });
	if (options.plan && !servesPlanMode(agent.toolPaths)) {
		throw new UsageError(
			`--plan: the agent '${agent.name}' has no tools for plan mode (plan:ExitPlanMode, plan.enter:EnterPlanMode).`,
		);
	}
	const createFileStore = () =>
		createDiskStore({
			files: own.admitting(admit),
			shareDir: realm?.directory ?? shareDir,
			log,
			clock: systemClock,
			protocolVersion,
		});
	/** A realm has a directory of its own. */
	const isInDatabase = storeSettings.type === "postgres" && realm === null;
	const sharedStore = isInDatabase
		? await openDatabaseStore(
				storeSettings,
				{ files: outside, place, log, scratch: { files: own, directory: path.join(shareDir, "scratch") } },
				opening,
			)
		: null;
	const store =
		sharedStore ??
		(realm?.backend === "memory"
			? (await import("../store/memory/memory-store.ts")).createMemoryStore()
			: createFileStore());
	const kernel = new Kernel({
		store,
		get configuration() {
			return settings.current();
		},
		hostServices,
	});
	const sessionOptions: SessionOptions = {
		model: options.model,
		thinking: options.thinking,
		yolo: options.yolo,
		plan: options.plan,
		afk: options.afk,
		...mode,
		additionalDirs,
		skillsDirs,
		maxSteps: options.maxStepsPerTurn,
		maxAttempts: options.maxRetriesPerStep,
		maxLoopIterations: options.maxLoopIterations,
		mcpServers,
		agent,
	};
	reportUnusableMatchers(configuration, configurationFile, log);
	const { clock, identifiers } = hostServices;
	const openHost: StartedKernel["openHost"] = async (name, asked, hostOptions = {}) => {
		const contract = asked ?? configuration.agentwire.contract;
		const [{ SessionHost }, { createSettingsDocuments }, dialects] = await Promise.all([
			import("../kernel/hosting/session-host.ts"),
			import("../kernel/hosting/settings-documents.ts"),
			name === null
				? []
				: import("../server/host-dialects.ts").then(({ hostOffers }) => hostOffers[name]({ contract, realm })),
		]);
		const sessions = new SessionHost({
			...hostOptions,
			kernel,
			get configuration() {
				return settings.current();
			},
			environment,
			workDir,
			options: sessionOptions,
			clock,
			identifiers,
			log,
		});
		const documents = createSettingsDocuments({
			files: files.admitting(admit),
			clock,
			workDir,
			home: userConfigRoot ?? place.home,
			...(realm === null ? {} : { only: realm.directory }),
		});
		const faultOwner = () => sessions.faultOwner();
		const account = createProgramAccount(source, {
			environment,
			files: own,
			shareDir,
			network,
			log,
			reload: () => settings.reload(),
		});
		const setup =
			account === null
				? null
				: createLazySetup({
						files: own,
						clock,
						shareDir,
						network,
						account,
						reload: () => settings.reload(),
						extend: (added) => settings.extend(added),
					});
		return { dialects, sessions, account, setup, documents, clock, identifiers, faultOwner };
	};
	const hasMcpServers = mcpServers.length > 0;
	return {
		kernel,
		configuration,
		compatibility,
		telemetry,
		openHost,
		sharedStore,
		hasMcpServers,
		workDir,
		sessionOptions,
	};
}

/** Whether the environment names a collector of traces: nothing of telemetry is loaded otherwise. */
function namesCollector(environment: HostServices["environment"]): boolean {
	const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = environment;
	return Boolean(base) || Boolean(own);
}

async function openTelemetry(
	environment: HostServices["environment"],
	{ fetch }: HostServices["network"],
	log: LogFile,
): Promise<Telemetry> {
	const { startTelemetry } = await import("../telemetry/telemetry.ts");
	return startTelemetry({
		environment,
		service: { name: productName, version: productVersion },
		fetch,
		identifiers: randomIdentifiers,
		random: Math.random,
		clock: systemClock,
		log,
	});
}

async function openDatabaseStore(
	settings: StoreSettings,
	given: StorePlace,
	opening: StoreOpening,
): Promise<PostgresStore> {
	const { openConfiguredStore } = await import("./store/configured-store.ts");
	return await openConfiguredStore(settings, given, opening);
}

/** The realm with its directory; a new one gets a name that no other has. */
function toRealmPlace(choice: RealmChoice | null, place: Place, shareDir: string) {
	if (choice === null) return null;
	const { name, stateRoot, backend, instance } = choice;
	const id = name ?? `realm-${randomIdentifiers.uuid()}`;
	const root = stateRoot === null ? path.join(shareDir, "realms") : toAbsolutePath(stateRoot, place);
	return { id, instance, backend, directory: path.join(root, id) };
}

/** Signs in for the settings of the share directory; with other settings a sign-in would change nothing. */
function createProgramAccount(
	source: Awaited<ReturnType<typeof toSource>>,
	{ network, ...settings }: Omit<AccountSettings, "fetch" | "clock" | "version"> & Pick<HostServices, "network">,
): Account | null {
	if (source.kind !== "default") return null;
	const load = async () => {
		const { createAccount } = await import("./sign-in/account.ts");
		return createAccount({ ...settings, fetch: network.fetch, clock: systemClock, version: productVersion });
	};
	return {
		signIn: async (show, signal) => (await load()).signIn(show, signal),
		signOut: async () => (await load()).signOut(),
	};
}

/** Loaded when it is used for the first time. */
function createLazySetup(parts: SetupParts): Setup {
	const load = async () => (await import("./gateway/setup.ts")).createSetup(parts);
	return {
		offered: async (entry) => (await load()).offered(entry),
		add: async (entry) => (await load()).add(entry),
		signIn: async (show, signal) => (await load()).signIn(show, signal),
		createDemo: async () => (await load()).createDemo(),
	};
}

/** Checks them after the first answers: few need to be compiled, and that must not delay the start. */
function reportUnusableMatchers({ hooks }: Configuration, file: string | null, log: LogFile): void {
	if (hooks.every(({ matcher }) => isPlainMatcher(matcher))) return;
	setTimeout(async () => {
		const { describeUnusableMatchers } = await import("./hook-matchers.ts");
		for (const sentence of await describeUnusableMatchers(hooks, file ?? "--config")) {
			log.warn(sentence);
			writeNotice(`${sentence}\n`);
		}
	}, logOpeningDelay).unref();
}

/** Unsound rules are reported at the start, and not with the first session. */
async function checkRules({ permission }: Configuration, workDir: string, hostServices: HostServices): Promise<void> {
	const { findRuleFiles, readRuleFiles } = await import("../kernel/compose/permissions.ts");
	await readRuleFiles(await findRuleFiles(permission, workDir, hostServices), hostServices.home);
}

async function loadAgentFile(file: string, workDir: string, hostServices: HostServices): Promise<AgentDefinition> {
	const { loadAgent } = await import("../kernel/compose/agent-file.ts");
	return await loadAgent(file, workDir, hostServices);
}

async function openOutput(files: Files, file: string) {
	await files.makeDirectory(path.dirname(file));
	return await files.openAppend(file);
}

async function openSession(
	kernel: Kernel,
	workDir: string,
	choice: NamedSession,
	sessionOptions: SessionOptions,
): Promise<Session> {
	switch (choice.kind) {
		case "new":
			return await kernel.create(workDir, sessionOptions);
		case "id":
			if (!isSessionId(choice.id)) {
				throw new UsageError(
					`--session: ${JSON.stringify(choice.id)} cannot be the id of a session: an id is one name without slashes, of at most 200 bytes.`,
				);
			}
			return await kernel.openOrCreate(workDir, await toStoredId(kernel, choice.id), sessionOptions);
		case "anywhere": {
			const { id } = choice;
			const home = await kernel.workDirOf(id);
			if (home === null) throw new Error(`no work directory listed in kimi.json has a session ${id}`);
			return await kernel.openOrCreate(home, id, sessionOptions);
		}
		case "last": {
			const id = await kernel.lastSessionId(workDir);
			if (id === null) throw new UsageError(`--continue: there is no earlier session in ${workDir}.`);
			return await kernel.openOrCreate(workDir, id, sessionOptions);
		}
	}
}

/** The id without the prefix of kimi-code, unless there is a session of that name with it. */
async function toStoredId(kernel: Kernel, id: string): Promise<string> {
	const bare = withoutPrefix(id);
	return bare === null || (await kernel.workDirOf(id)) !== null ? id : bare;
}

async function toSource(options: ProgramOptions, place: Place, shareDir: string, files: Files) {
	switch (options.configuration.kind) {
		case "default":
			return { kind: "default", shareDir } as const;
		case "text":
			return options.configuration;
		case "file":
			return {
				kind: "file",
				path: await checkFile("--config-file", options.configuration.path, place, files),
			} as const;
	}
}

/** Invalid settings that are errors of the command line (agent-kernel §1.2). */
const usageCategories: ReadonlySet<ConfigurationErrorCategory> = new Set(["text", "mcp-syntax"]);

interface StartupFailure {
	readonly code: number;
	readonly text: string;
}

function isFailure(started: object | StartupFailure): started is StartupFailure {
	return "text" in started;
}

function startupFailure(thrown: unknown): StartupFailure {
	if (thrown instanceof UsageError) throw thrown;
	if (thrown instanceof ConfigurationError)
		return { code: usageCategories.has(thrown.category) ? 2 : 1, text: thrown.message };
	return { code: 1, text: redactSecrets(`agentwire could not start: ${errorText(thrown)}`) };
}
