import path from "node:path";
import type { ContextRow } from "../../api/values/conversation.ts";
import type { WhenUnattended } from "../../api/values/session-mode.ts";
import type { SkillPlace, SkillSet } from "../../core/definitions/skill-discovery.ts";
import { renderSystemPrompt, withRole } from "../../core/definitions/system-prompt.ts";
import { withPlacedProgram } from "../../core/hooks/placed-program.ts";
import type { ServerPool } from "../../core/mcp/server-pool.ts";
import type { FileFinder, FinderPlace } from "../../core/tools/search/file-finder.ts";
import type { ToolEnvironment, WebService } from "../../core/tools/tool.ts";
import { isBuiltInToolName, servesPlanMode } from "../../core/tools/tool-paths.ts";
import { guardEditor } from "../../ports/files/editor-files.ts";
import type { Files } from "../../ports/files/port.ts";
import { withTrustedPath } from "../../ports/processes/search-path.ts";
import { toCommandEnvironment } from "../../ports/sandbox/environment.ts";
import type { SharedSession } from "../../ports/store/shared-session.ts";
import type { HistorySpace } from "../../ports/workspace/history-space.ts";
import type { Configuration, ServiceSettings } from "../../settings/config/configuration.ts";
import { selectDefaultProvider, selectModel } from "../../settings/config/model-selection.ts";
import { composeBudgets } from "../budgets/budget-options.ts";
import type { SessionOperations } from "../session/operations.ts";
import type { ModelChange } from "../session/session-model.ts";
import type { SessionParts } from "../session/session-parts.ts";
import type { LoadServers } from "../session/tool-servers.ts";
import { runsCommands } from "./agent-restriction.ts";
import { builtInAgents } from "./built-in-agents.ts";
import { composeUnaskedSandbox, providerKeys } from "./command-sandbox.ts";
import type { HostServices } from "./host-services.ts";
import { createKeyRing, type KeyRing } from "./key-ring.ts";
import { chooseModel, composeModel, type ModelServices, type ModelWish, toChosen } from "./models.ts";
import { composePermissions, type RuleFile } from "./permissions.ts";
import { loadPluginTools } from "./plugins.ts";
import { describeRepository } from "./repository.ts";
import { secretsOf } from "./secrets.ts";
import type { SessionOptions } from "./session-options.ts";

export interface SessionLinks {
	/** Client name and version, for requests that name the client. */
	clientName(): string | null;
	readContext(sessionId: string): Promise<readonly ContextRow[] | null>;
	findRuleFiles(workDir: string): Promise<readonly RuleFile[]>;
	findSkills(place: SkillSearch): Promise<SkillSet>;
	withModel(creationOptions: unknown, change: ModelChange): Promise<object>;
	serverPool(): Promise<Pick<ServerPool, "acquire">>;
}

/** Where to search for skills; `files` returns the file access for one search. */
export type SkillSearch = Omit<SkillPlace, "files" | "builtIn"> & {
	readonly files: () => Files;
	/** Root directories of the session's rules, which may block files from the search. Null for a search without rules. */
	readonly ruled: readonly string[] | null;
};

export async function composeSession(
	stored: SharedSession,
	options: SessionOptions,
	settings: Configuration,
	hostServices: HostServices,
	links: SessionLinks,
): Promise<SessionParts> {
	const { environment, files: allFiles, network, home, clock, identifiers, random, log } = hostServices;
	const permissions = await composePermissions(
		await links.findRuleFiles(stored.workDir),
		{
			workDir: stored.workDir,
			additionalDirs: () => stored.state().additionalDirs,
			grants: () => stored.state().approval.autoApproveActions,
		},
		hostServices,
	);
	const secrets = permissions.withDeniedReads(secretsOf(hostServices));
	// Reads for prompts, users and tools go through this; the program reads its own files through `allFiles`.
	const files = allFiles.admitting(secrets.admit);
	// For reads across all plugins: inspects the plugins once instead of once per file.
	const filesForMany = () => allFiles.admitting(secrets.forMany().admit);
	const { configuration, selection } = chooseModel(options, settings, environment);
	let wish: ModelWish = options;
	const { loopControl, agentwire } = configuration;
	const { agent = builtInAgents.default, mode = {} } = options;
	const roots = { workDir: stored.workDir, additionalDirs: () => stored.state().additionalDirs };
	const isApprovedByCreator = options.permissions?.whenUnattended === "creator" && runsCommands(agent);
	const isConfining = options.confinesCommands === true && !options.yolo && !configuration.defaultYolo;
	const { creatorSandbox, confiningSandbox } = hostServices;
	const unaskedSandbox = isApprovedByCreator ? creatorSandbox : isConfining ? confiningSandbox : undefined;
	const sandbox = await composeUnaskedSandbox(configuration.sandbox, unaskedSandbox, hostServices, roots);
	const commandEnvironment = toCommandEnvironment(
		environment,
		configuration.sandbox.environment,
		providerKeys(configuration),
	);
	const keys = createKeyRing({ ...hostServices, fetch: network.fetch, platform: agentwire });
	const modelServices: ModelServices = { hostServices, clientName: links.clientName, keys };
	const loadPlugins = () => {
		// Built on demand: most sessions have no plugins.
		const pluginServices = {
			...hostServices,
			environment: commandEnvironment,
			processes: sandbox.pluginProcesses,
			files: filesForMany(),
		};
		return loadPluginTools(pluginServices, async () => {
			const provider = selectDefaultProvider(configuration, environment);
			return { api_key: await keys.keyOf(provider), base_url: provider.baseUrl };
		});
	};
	const [model, skills, pluginTools] = await Promise.all([
		composeModel(selection, modelServices, options.maxAnswerTokens),
		links.findSkills({
			files: filesForMany,
			ruled: [stored.workDir, ...stored.state().additionalDirs],
			workDir: stored.workDir,
			home,
			shareDir: hostServices.shareDir,
			skillsDirs: options.skillsDirs,
			extraSkillDirs: configuration.extraSkillDirs,
			mergeAll: configuration.mergeAllAvailableSkills,
			log,
		}),
		options.plugins === false ? [] : loadPlugins(),
	]);
	const editor = options.editorFiles === undefined ? null : guardEditor(options.editorFiles, { clock, log });
	const toolEnvironment = (operations: SessionOperations): ToolEnvironment => ({
		...operations,
		workDir: stored.workDir,
		additionalDirs: () => stored.state().additionalDirs,
		skillDirs: skills.roots,
		environment: commandEnvironment,
		home,
		outputDir: `${stored.directory ?? stored.workDir}/output`,
		files,
		allFiles,
		editor,
		secrets,
		processes: sandbox.processes,
		sandbox: sandbox.tool,
		web: {
			network,
			allowed: agentwire.fetchAllow,
			async refuses(url) {
				const subjects = [{ kind: "network", url: url.href }] as const;
				const verdict = await permissions.judge.decide({ action: "fetch page", subjects, byDefault: "allow" });
				return verdict?.decision === "deny" ? verdict.reason : null;
			},
			fetchService: toWebService(configuration.services.moonshotFetch, hostServices.version, keys),
			searchService: toWebService(configuration.services.moonshotSearch, hostServices.version, keys),
			readPage: hostServices.readPage,
		},
		findRipgrep: hostServices.findRipgrep,
		clock,
		todos: {
			read: () => stored.state().todos,
			write: async (todos) => void (await stored.commit({ state: { todos } })),
		},
	});
	const composeTools = async (toolPaths: readonly string[], operations: SessionOperations) => {
		const { createTools } = await import("../../core/tools/built-in-tools.ts");
		return [...createTools(toolPaths, toolEnvironment(operations)), ...pluginTools];
	};
	return {
		stored,
		takesOver: options.takesOver ?? false,
		readContext: links.readContext,
		chosen: toChosen(selection, model, settings),
		models: {
			prepare: async (change) => {
				const { changeModel } = await import("./model-change.ts");
				const { maxAnswerTokens } = options;
				const changed = await changeModel(change, { wish, settings, services: modelServices, maxAnswerTokens });
				return {
					chosen: changed.chosen,
					creationOptions: await links.withModel(stored.state().creationOptions, change),
					take() {
						wish = changed.wish;
					},
				};
			},
			options: async () => (await import("./model-options.ts")).listModelOptions(settings, environment),
		},
		createTools: (operations) => composeTools(agent.toolPaths, operations),
		subagents: {
			types: agent.types,
			createTools: composeTools,
			findModel: async (alias) => {
				const isKnown = Object.hasOwn(configuration.models, alias);
				const chosen = { configuration, alias, thinking: wish.thinking, environment };
				return isKnown ? await composeModel(selectModel(chosen), modelServices) : null;
			},
			describeRepository: (signal) =>
				describeRepository(stored.workDir, { environment: commandEnvironment, processes: sandbox.processes }, signal),
			parallel: agentwire.parallelSubagents,
		},
		...(hostServices.observe === undefined
			? {}
			: { observation: { observe: hostServices.observe, providerType: createProviderTypes(configuration) } }),
		background: {
			settings: configuration.background,
			startWorker: async (directory, task) =>
				hostServices.startWorker(directory, task, commandEnvironment, await sandbox.confinementOf(task.outsideSandbox)),
			claimStaleAfter: configuration.notifications.claimStaleAfterMs,
		},
		openHistory: composeHistory(stored, configuration, hostServices),
		loadServers: composeServers(stored.workDir, configuration, hostServices, links),
		mcpServers: options.mcpServers,
		limits: {
			maxSteps: options.maxSteps ?? loopControl.maxStepsPerTurn,
			maxAttempts: options.maxAttempts ?? loopControl.maxRetriesPerStep,
		},
		budgets: composeBudgets(agentwire.limits, options.budgets ?? {}),
		compaction: {
			triggerRatio: loopControl.compactionTriggerRatio,
			reservedTokens: loopControl.reservedContextSize,
		},
		deadlines: {
			approval: agentwire.approvalTimeout ?? 0,
			question: agentwire.questionTimeout ?? 0,
			"client-tool": agentwire.clientToolTimeout ?? 0,
		},
		// The state from the start of the session wins, because it may have changed since.
		yolo: mode.approvesEverything === undefined && (options.yolo || configuration.defaultYolo),
		afk: (mode.isAway === undefined && options.afk) || options.unattended,
		whenUnattended: toUnattended(options, agentwire.unattended, permissions.forbiddenModes),
		judge: permissions.judge,
		policies: sandbox.policies,
		sandbox: sandbox.description,
		forbiddenModes: permissions.forbiddenModes,
		remindsOfAbsence: !configuration.skipAfkPromptInjection,
		isOneOfMany: options.isOneOfMany === true,
		passesUnknownCommands: options.passesUnknownCommands === true,
		titles: agentwire.titles,
		hooks: configuration.hooks.map(({ event, matcher, command, timeout, failClosed }) => ({
			kind: "command",
			event,
			matcher,
			command: withPlacedProgram(command, path.dirname(hostServices.settingsFile ?? `${hostServices.shareDir}/-`)),
			timeout,
			failClosed,
		})),
		findFiles: createFileSearch({
			workDir: stored.workDir,
			files,
			secrets,
			processes: sandbox.processes,
			environment: commandEnvironment,
			findRipgrep: hostServices.findRipgrep,
			clock,
		}),
		hookPlace: {
			environment: withTrustedPath(commandEnvironment),
			processes: sandbox.hookProcesses,
			fetch: network.fetch,
			sessionHooks: options.hooks ?? [],
		},
		planPlace: {
			files,
			shareDir: hostServices.shareDir,
			home,
			isSupported: servesPlanMode(agent.toolPaths),
			startsOn:
				mode.planMode === undefined
					? options.plan || (configuration.defaultPlanMode && !stored.existed)
					: mode.planMode && !stored.existed,
		},
		skills: skills.skills,
		startNotices: skills.leftOut.map(({ path, reason }) => ({
			title: "A skill was left out",
			body: `${path}: ${reason}.`,
		})),
		turns: options.turns ?? {},
		loopIterations: options.maxLoopIterations ?? loopControl.maxRalphIterations,
		keys,
		systemPrompt: async (type) => {
			const { gatherPromptVariables } = await import("./prompt-environment.ts");
			const variables = await gatherPromptVariables(stored.workDir, stored.state().additionalDirs, skills.skills, {
				...hostServices,
				files,
			});
			if (type !== null) return (type.prompt ?? renderSystemPrompt)(variables);
			const prompt = withRole((agent.prompt ?? renderSystemPrompt)(variables), agent.role);
			const { instructions = [] } = options;
			return [prompt, ...instructions].filter((text) => text !== "").join("\n\n");
		},
		clock,
		identifiers,
		random,
		log,
	};
}

/** File history space shared by the sessions of a kernel. */
const historySpaces = new WeakMap<HostServices, HistorySpace>();

/** Loaded with the first call that may change something. */
function composeHistory(
	stored: SharedSession,
	{ agentwire: { rewind } }: Configuration,
	hostServices: HostServices,
): SessionParts["openHistory"] {
	const { environment, files, home, shareDir, processes, clock, log } = hostServices;
	const { directory, workDir } = stored;
	if (!rewind.enabled) return "File changes are not recorded: agentwire.rewind.enabled is false in the settings.";
	if (directory === null) {
		return "File changes are only recorded if sessions are stored on disk or in PostgreSQL; the conversation can be rewound alone.";
	}
	return async (hasBackgroundWork) => {
		const { FileHistory } = await import("../../ports/workspace/file-history.ts");
		const { HistorySpace, historyDirectory } = await import("../../ports/workspace/history-space.ts");
		const { HistoryMirror } = await import("../../ports/workspace/history-place.ts");
		const own = path.join(directory, historyDirectory);
		const { historyPlace: place } = stored;
		const limit = rewind.maxDatabaseBytes;
		const sessions = path.resolve(directory, "../..");
		const space =
			historySpaces.get(hostServices) ?? new HistorySpace({ sessions, limit: rewind.maxTotalBytes, clock, log });
		historySpaces.set(hostServices, space);
		return new FileHistory({
			directory: own,
			mirror: place === undefined ? undefined : new HistoryMirror({ place, directory: own, limit, log }),
			workDir,
			roots: () => [workDir, ...stored.state().additionalDirs],
			home,
			excluded: [shareDir, await files.resolve(shareDir)],
			limits: {
				files: rewind.maxFiles,
				fileBytes: rewind.maxFileBytes,
				storeBytes: rewind.maxStoreBytes,
				turns: rewind.turns,
				patience: rewind.patience * 1000,
			},
			space,
			git: { environment, processes },
			hasBackgroundWork,
			clock,
			log,
		});
	};
}

function createFileSearch(place: FinderPlace): SessionParts["findFiles"] {
	let finder: Promise<FileFinder> | null = null;
	return async (query) => {
		finder ??= import("../../core/tools/search/file-finder.ts").then(({ FileFinder }) => new FileFinder(place));
		return await (await finder).find(query);
	};
}

/** Returns the provider type for a key, or without a key, of a provider with a model of this name. */
function createProviderTypes({ models, providers }: Configuration) {
	return (model: string, provider: string | null): string => {
		const key = provider ?? Object.values(models).find((each) => each.model === model)?.provider ?? "";
		return Object.hasOwn(providers, key) ? (providers[key]?.type ?? "") : "";
	};
}

/** The configured service. Requests to it carry our name. */
function toWebService(settings: ServiceSettings | null, version: string, keys: KeyRing): WebService | null {
	if (settings === null) return null;
	const { baseUrl, customHeaders } = settings;
	return {
		baseUrl,
		customHeaders: { "user-agent": `agentwire/${version}`, ...customHeaders },
		token: () => keys.keyOf(settings),
	};
}

function composeServers(
	workDir: string,
	{ mcp, agentwire }: Configuration,
	{ environment, clock, log, ownFiles, shareDir }: HostServices,
	links: SessionLinks,
): LoadServers {
	return async ({ questions, isTaken }, servers) => {
		// A directory where project files cannot influence which program runs.
		const startDir = (await ownFiles.status(shareDir).catch(() => null))?.kind === "directory" ? shareDir : "/";
		const [{ ServerSet }, pool] = await Promise.all([import("../../core/mcp/server-set.ts"), links.serverPool()]);
		return new ServerSet({
			servers,
			acquire: (server) => pool.acquire(server, { workDir, startDir, environment }),
			isTaken: (name) => isBuiltInToolName(name) || isTaken(name),
			questions,
			callTimeout: mcp.client.toolCallTimeoutMs,
			startTimeout: agentwire.mcpStartTimeout,
			clock,
			log,
		});
	};
}

/**
 * Settings that reject or delay unattended calls, or forbid an auto-approving mode, also bind session creators. Mode `auto` would
 * approve such calls; where it is forbidden, no setting approves them either.
 */
function toUnattended(
	{ permissions, expectsClients = false }: Pick<SessionOptions, "permissions" | "expectsClients">,
	setting: Configuration["agentwire"]["unattended"],
	forbiddenModes: SessionParts["forbiddenModes"],
): WhenUnattended {
	const wish = permissions?.whenUnattended ?? setting ?? (expectsClients ? "wait" : "reject");
	const isRefused = {
		creator: setting === "reject" || setting === "wait" || forbiddenModes.size > 0,
		approve: forbiddenModes.has("auto"),
		reject: false,
		wait: setting === "reject",
	};
	if (!isRefused[wish]) return wish;
	return setting === "wait" ? "wait" : "reject";
}
