// Composes the kernel from command line, environment and settings: everything except sessions.
import path from "node:path";
import type { SessionsApi } from "../../api/kernel.ts";
import { noModelText } from "../../api/values/model-advice.ts";
import { systemClock } from "../../base/clock.ts";
import type { AgentDefinition } from "../../core/definitions/agent-definition.ts";
import { isPlainMatcher } from "../../core/hooks/matchers.ts";
import { servesPlanMode } from "../../core/tools/tool-paths.ts";
import {
	type ComposedHost,
	composeHost,
	type HostParts,
	openHostFiles,
	type StoreOpening,
} from "../../host/create-host.ts";
import type { LogFile } from "../../host/log/log-file.ts";
import { builtInAgents } from "../../kernel/compose/built-in-agents.ts";
import type { SessionOptions } from "../../kernel/compose/session-options.ts";
import { readingPipes } from "../../ports/files/pipes.ts";
import type { Files } from "../../ports/files/port.ts";
import { admitByName } from "../../ports/files/secret-paths.ts";
import type { Configuration } from "../../settings/config/configuration.ts";
import { readConfiguration } from "../../settings/config/configuration-reader.ts";
import { withEnvironmentModels } from "../../settings/config/environment-models.ts";
import { readMcpServers } from "../../settings/config/mcp-servers.ts";
import { type Environment, selectModel } from "../../settings/config/model-selection.ts";
import type { ProgramOptions, RealmOptions } from "../arguments/command-line.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { toCompatibility } from "../compatibility.ts";
import { checkDirectory, checkFile, checkWorkDir } from "../paths.ts";
import { afterStart, type ProgramProcess } from "../process/program-process.ts";
import { writeNotice } from "../process/standard-error.ts";
import { makeThreadPool } from "../process/thread-pool.ts";
import { createHostOpener } from "./host-opening.ts";
import { withScriptedModel } from "./scripted-settings.ts";
import { listenForOthers } from "./session-socket.ts";
import { type RealmPlace, toRealmPlace, toSource } from "./source.ts";

export type SessionMode = Pick<
	SessionOptions,
	"unattended" | "expectsClients" | "passesUnknownCommands" | "confinesCommands" | "permissions" | "instructions"
>;

export interface HostStart {
	/** Absent means "patient". */
	readonly opening?: StoreOpening;
	/** Whether metrics are always collected. */
	readonly hasMetrics?: boolean;
	/** Adjusts the settings each time they are read. */
	readonly adjust?: (settings: Configuration) => Configuration;
	/** Whether requests wait for a client by default. */
	readonly expectsClients?: boolean;
}

export async function prepare(
	executable: string,
	options: ProgramOptions & Partial<RealmOptions>,
	mode: SessionMode,
	taken: ProgramProcess,
	{ opening = "patient", hasMetrics = false, adjust = (settings) => settings }: HostStart,
) {
	const { place, environment, shareDir, log } = taken;
	const realm = toRealmPlace(options.realm ?? null, place, shareDir);
	const surroundings = { ...taken, loginCommand: `${path.basename(executable)} login`, notice: writeNotice };
	const files = openHostFiles(shareDir, makeThreadPool(), realm?.directory ?? null);
	const paths = await checkPaths(options, taken, files.outside);
	const { workDir, agentFile, mcpFiles, additionalDirs, skillsDirs } = paths;
	const source = await toSource(options, place, shareDir, files.outside);
	// Settings may be read, unless a link leads to a secret. A shell's `<(command)` is a pipe.
	const settingsFiles = files.outside.admitting(admitByName);
	const named = (...given: string[]) => readingPipes(settingsFiles, new Set(given), systemClock);
	const { configuration: written, path: configurationFile } = await readConfiguration(
		source,
		source.kind === "file" ? named(source.path) : settingsFiles,
		log,
	);
	const withModels = (settings: Configuration) =>
		adjust(withScriptedModel(withEnvironmentModels(settings, environment).configuration, options.model));
	const configuration = withModels(written);
	const readAgain = async () => withModels((await readConfiguration(source, settingsFiles, log)).configuration);
	const compatibility = toCompatibility(configuration.agentwire, configurationFile, environment);
	const mcpSources = { files: mcpFiles, texts: options.mcpConfigs, shareDir };
	const mcpServers = await readMcpServers(mcpSources, named(...mcpFiles), log);
	const host = await composeHost({
		surroundings,
		files,
		settings: { configuration, file: configurationFile, readAgain },
		workDir,
		opening,
		hasMetrics,
		...(await toRealmStore(realm)),
	});
	const agent = agentFile === null ? builtInAgents[options.agent] : await loadAgentFile(agentFile, workDir, host, log);
	if (options.plan && !servesPlanMode(agent.toolPaths)) {
		throw new UsageError(
			`--plan: the agent '${agent.name}' has no tools for plan mode (plan:ExitPlanMode, plan.enter:EnterPlanMode).`,
		);
	}
	const sessionOptions: SessionOptions = {
		model: options.model,
		thinking: options.thinking,
		yolo: options.yolo,
		takesOver: options.takeOver,
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
	let endListening = () => {};
	const listen = (sessions: SessionsApi) => {
		// The workers of a shared store have their own connections, and a realm its own store.
		if (host.sharedStore !== null || realm !== null) return;
		endListening = listenForOthers({ shareDir, files: host.own, log }, sessions);
	};
	reportUnusableMatchers(configuration, configurationFile, log);
	if (!mode.unattended) reportMissingModel(configuration, options.model, environment);
	return {
		kernel: host.kernel,
		configuration,
		compatibility,
		telemetry: host.telemetry,
		openHost: createHostOpener({
			host,
			source,
			realm,
			userConfigRoot: paths.userConfigRoot,
			workDir,
			sessionOptions,
			log,
			listen,
		}),
		listen,
		endListening: () => endListening(),
		sharedStore: host.sharedStore,
		hasMcpServers: mcpServers.length > 0,
		workDir,
		sessionOptions,
	};
}

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

async function toRealmStore(realm: RealmPlace | null): Promise<Pick<HostParts, "store">> {
	if (realm === null) return {};
	if (realm.backend !== "memory") return { store: { directory: realm.directory } };
	const { createMemoryStore } = await import("../../ports/store/memory/memory-store.ts");
	return { store: createMemoryStore() };
}

/** Checked after the first responses: compiling matchers must not delay startup. */
function reportUnusableMatchers({ hooks }: Configuration, file: string | null, log: LogFile): void {
	if (hooks.every(({ matcher }) => isPlainMatcher(matcher))) return;
	setTimeout(async () => {
		const { describeUnusableMatchers } = await import("./hook-matchers.ts");
		for (const sentence of await describeUnusableMatchers(hooks, file ?? "--config")) report(sentence, log);
	}, afterStart).unref();
}

/** Clients may show only part of a failure, so the advice always goes to stderr. */
function reportMissingModel(configuration: Configuration, alias: string | null, environment: Environment): void {
	let isMissing: boolean;
	try {
		isMissing = selectModel({ configuration, alias, thinking: null, environment }).kind === "none";
	} catch {
		// The session reports invalid variables.
		return;
	}
	if (!isMissing) return;
	const known = Object.keys(configuration.models).join(", ");
	const text =
		alias !== null && known !== ""
			? `The settings have no usable model ${JSON.stringify(alias)}; they have: ${known}.`
			: noModelText;
	setTimeout(() => writeNotice(`${text}\n`), afterStart).unref();
}

function report(sentence: string, log: LogFile): void {
	log.warn(sentence);
	writeNotice(`${sentence}\n`);
}

async function loadAgentFile(
	file: string,
	workDir: string,
	{ hostServices, admit }: ComposedHost,
	log: LogFile,
): Promise<AgentDefinition> {
	const { loadAgent } = await import("../../kernel/compose/agent-file.ts");
	const admitting = { ...hostServices, files: hostServices.files.admitting(admit) };
	return await loadAgent(file, workDir, admitting, (sentence) => {
		// After the first responses, like settings problems.
		setTimeout(() => report(sentence, log), afterStart).unref();
	});
}
