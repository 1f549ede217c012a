// Composes the kernel from command line, environment and settings: everything but the sessions.
import { uptime } from "node:os";
import path from "node:path";
import { systemClock } from "../../base/clock.ts";
import type { AgentDefinition } from "../../core/definitions/agent-definition.ts";
import { isPlainMatcher } from "../../core/hooks/matchers.ts";
import { servesPlanMode } from "../../core/tools/tool-paths.ts";
import { protocolVersion } from "../../formats/protocol-version.ts";
import type { LogFile } from "../../host/log/log-file.ts";
import { builtInAgents } from "../../kernel/compose/built-in-agents.ts";
import type { HostServices } from "../../kernel/compose/host-services.ts";
import { findRuleFiles, readRuleFiles } from "../../kernel/compose/permissions.ts";
import { secretsOf } from "../../kernel/compose/secrets.ts";
import type { SessionOptions } from "../../kernel/compose/session-options.ts";
import { Kernel } from "../../kernel/hosting/kernel.ts";
import { boundFiles } from "../../ports/files/bounded-files.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { readingPipes } from "../../ports/files/pipes.ts";
import type { Admit, Files } from "../../ports/files/port.ts";
import { privateBelow } from "../../ports/files/private-paths.ts";
import { admitByName } from "../../ports/files/secret-paths.ts";
import { withoutSync } from "../../ports/files/unsynced-files.ts";
import { createDiskStore } from "../../ports/store/disk/disk-store.ts";
import type { PostgresStore } from "../../ports/store/postgres/postgres-store.ts";
import type { SessionStore } from "../../ports/store/session-store.ts";
import type { Configuration, StoreSettings } from "../../settings/config/configuration.ts";
import { readConfiguration } from "../../settings/config/configuration-reader.ts";
import { withEnvironmentModels } from "../../settings/config/environment-models.ts";
import { readMcpServers } from "../../settings/config/mcp-servers.ts";
import type { ProgramOptions, RealmOptions } from "../arguments/command-line.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { toCompatibility } from "../compatibility.ts";
import { createCurrentSettings } from "../current-settings.ts";
import { checkDirectory, checkFile, checkWorkDir } from "../paths.ts";
import type { ProgramProcess } from "../process/program-process.ts";
import { writeNotice } from "../process/standard-error.ts";
import { makeThreadPool } from "../process/thread-pool.ts";
import { withStoreEnvironment } from "../store/store-environment.ts";
import { createHostOpener } from "./host-opening.ts";
import { createHostServices } from "./host-services.ts";
import { type RealmPlace, toRealmPlace, toSource } from "./source.ts";

/** Milliseconds after which what the start does not need is done: the first answers are out by then. */
export const afterStart = 100;

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
	/** Whether what needs an answer waits for a client, where nothing says otherwise. */
	readonly expectsClients?: boolean;
}

/** Fails with a UsageError or a ConfigurationError for what a person has to correct. */
export async function prepare(
	executable: string,
	options: ProgramOptions & Partial<RealmOptions>,
	mode: Pick<SessionOptions, "unattended" | "expectsClients">,
	taken: ProgramProcess,
	{ opening = "patient", hasMetrics = false }: HostStart,
) {
	const { place, environment, shareDir, log, watch } = taken;
	const places = makeThreadPool();
	const realm = toRealmPlace(options.realm ?? null, place, shareDir);
	const disk = createDiskFiles(privateBelow(shareDir, ...(realm === null ? [] : [realm.directory])));
	/** For everything but the sessions: a drive that does not respond must not keep those from being written. */
	const outside = watch(boundFiles(disk, { places, clock: systemClock }));
	const paths = await checkPaths(options, taken, outside);
	const { workDir, agentFile, mcpFiles, additionalDirs, skillsDirs } = paths;
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
	const mcpSources = { files: mcpFiles, texts: options.mcpConfigs, shareDir };
	const mcpServers = await readMcpServers(mcpSources, named(...mcpFiles), log);
	const synced = (files: Files) => (configuration.agentwire.sync === "off" ? withoutSync(files) : files);
	const own = synced(disk);
	const storeSettings = withStoreEnvironment(configuration.store, environment);
	const { passwordFile } = storeSettings;
	const { hostServices, telemetry } = await createHostServices(
		{
			executable,
			configuration,
			configurationFile,
			secretFiles: passwordFile === null ? [] : [passwordFile],
			files: synced(outside),
			own,
			hasMetrics,
		},
		taken,
	);
	if (configuration.permission.rules.length > 0) await checkRules(configuration, workDir, hostServices);
	const { admit } = secretsOf(hostServices);
	const agent =
		agentFile === null
			? builtInAgents[options.agent]
			: await loadAgentFile(agentFile, workDir, admit, hostServices, log);
	if (options.plan && !servesPlanMode(agent.toolPaths)) {
		throw new UsageError(
			`--plan: the agent '${agent.name}' has no tools for plan mode (plan:ExitPlanMode, plan.enter:EnterPlanMode).`,
		);
	}
	const { store, sharedStore } = await openStore(storeSettings, realm, opening, { outside, own, admit }, taken);
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
	return {
		kernel,
		configuration,
		compatibility,
		telemetry,
		openHost: createHostOpener({
			kernel,
			settings,
			source,
			realm,
			userConfigRoot: paths.userConfigRoot,
			workDir,
			sessionOptions,
			hostServices,
			own,
			admit,
			log,
		}),
		sharedStore,
		hasMcpServers: mcpServers.length > 0,
		workDir,
		sessionOptions,
	};
}

/** The paths that the command line names, absolute; fails with a UsageError for one that is not there. */
async function checkPaths(options: ProgramOptions & Partial<RealmOptions>, { place }: ProgramProcess, files: Files) {
	const checkOne = (flag: string, typed: string) => checkDirectory(flag, typed, place, files);
	const checkAll = (flag: string, typed: readonly string[]) =>
		Promise.all(typed.map((directory) => checkOne(flag, directory)));
	const { agentFile, userConfigRoot = null, mcpConfigFiles } = options;
	return {
		workDir: await checkWorkDir(options.workDir, place, files),
		additionalDirs: await checkAll("--add-dir", options.additionalDirs),
		skillsDirs: await checkAll("--skills-dir", options.skillsDirs),
		agentFile: agentFile === null ? null : await checkFile("--agent-file", agentFile, place, files),
		userConfigRoot: userConfigRoot === null ? null : await checkOne("--user-config-root", userConfigRoot),
		mcpFiles: await Promise.all(mcpConfigFiles.map((file) => checkFile("--mcp-config-file", file, place, files))),
	};
}

/** The store that settings and realm name. A realm has a directory of its own, whatever the settings say. */
async function openStore(
	settings: StoreSettings,
	realm: RealmPlace | null,
	opening: StoreOpening,
	{ outside, own, admit }: { readonly outside: Files; readonly own: Files; readonly admit: Admit },
	{ place, shareDir, log }: ProgramProcess,
): Promise<{ readonly store: SessionStore; readonly sharedStore: PostgresStore | null }> {
	if (settings.type === "postgres" && realm === null) {
		const { openConfiguredStore } = await import("../store/configured-store.ts");
		const scratch = { files: own, directory: path.join(shareDir, "scratch") };
		const sharedStore = await openConfiguredStore(settings, { files: outside, place, log, scratch }, opening);
		return { store: sharedStore, sharedStore };
	}
	if (realm?.backend === "memory") {
		const { createMemoryStore } = await import("../../ports/store/memory/memory-store.ts");
		return { store: createMemoryStore(), sharedStore: null };
	}
	const store = createDiskStore({
		files: own.admitting(admit),
		shareDir: realm?.directory ?? shareDir,
		log,
		clock: systemClock,
		protocolVersion,
		bootedAt: systemClock.now() - uptime() * 1000,
	});
	return { store, sharedStore: null };
}

/** Checks them after the first answers: few need to be compiled, and that must not delay the start. */
function reportUnusableMatchers({ hooks }: Configuration, file: string | null, log: LogFile): void {
	if (hooks.every(({ matcher }) => isPlainMatcher(matcher))) return;
	setTimeout(async () => {
		const { describeUnusableMatchers } = await import("../hook-matchers.ts");
		for (const sentence of await describeUnusableMatchers(hooks, file ?? "--config")) report(sentence, log);
	}, afterStart).unref();
}

/** In the log and on stderr. */
function report(sentence: string, log: LogFile): void {
	log.warn(sentence);
	writeNotice(`${sentence}\n`);
}

/** Unsound rules are reported at the start, and not with the first session. */
async function checkRules({ permission }: Configuration, workDir: string, hostServices: HostServices): Promise<void> {
	await readRuleFiles(await findRuleFiles(permission, workDir, hostServices), hostServices.home);
}

async function loadAgentFile(
	file: string,
	workDir: string,
	admit: Admit,
	hostServices: HostServices,
	log: LogFile,
): Promise<AgentDefinition> {
	const { loadAgent } = await import("../../kernel/compose/agent-file.ts");
	const admitting = { ...hostServices, files: hostServices.files.admitting(admit) };
	return await loadAgent(file, workDir, admitting, (sentence) => {
		// After the first answers, like what is found in the settings.
		setTimeout(() => report(sentence, log), afterStart).unref();
	});
}
