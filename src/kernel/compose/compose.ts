import path from "node:path";
import type { ContextRow } from "../../api/values/conversation.ts";
import type { CommandHook } from "../../api/values/hooks/hook.ts";
import type { AgentDefinition } from "../../core/definitions/agent-definition.ts";
import type { SkillPlace, SkillSet } from "../../core/definitions/skill-discovery.ts";
import { renderSystemPrompt, withRole } from "../../core/definitions/system-prompt.ts";
import { withPlacedProgram } from "../../core/hooks/placed-program.ts";
import type { ServerPool } from "../../core/mcp/server-pool.ts";
import { servesPlanMode } from "../../core/tools/tool-paths.ts";
import { guardEditor } from "../../ports/files/editor-files.ts";
import type { Files } from "../../ports/files/port.ts";
import { withTrustedPath } from "../../ports/processes/search-path.ts";
import type { SharedSession } from "../../ports/store/shared-session.ts";
import type { Configuration } from "../../settings/config/configuration.ts";
import { composeBudgets } from "../budgets/budget-options.ts";
import type { DecisionParts, LimitParts, SessionParts } from "../session/session-parts.ts";
import { builtInAgents } from "./built-in-agents.ts";
import type { HostServices } from "./host-services.ts";
import { type ModelLinks, SessionModels } from "./models.ts";
import { composePermissions, type RuleFile, toUnattended } from "./permissions.ts";
import { describeRepository } from "./repository.ts";
import { composeAccess, type SessionAccess } from "./session-access.ts";
import type { SessionOptions } from "./session-options.ts";
import { composeServers, loadPluginTools, SessionTools } from "./session-tools.ts";

export interface SessionLinks extends ModelLinks {
	readContext(sessionId: string): Promise<readonly ContextRow[] | null>;
	findRuleFiles(workDir: string): Promise<readonly RuleFile[]>;
	findSkills(place: SkillSearch): Promise<SkillSet>;
	serverPool(): Promise<Pick<ServerPool, "acquire">>;
	readonly allRunning: Set<object>;
}

/** Where to search for skills; `files` returns the file access for one search. */
export type SkillSearch = Pick<SkillPlace, "workDir" | "skillsDirs"> & {
	readonly files: () => Files;
	/** Root directories of the session's rules, which may block files from the search. Null for a search without rules. */
	readonly ruled: readonly string[] | null;
};

interface Composition {
	readonly stored: SharedSession;
	readonly options: SessionOptions;
	readonly configuration: Configuration;
	readonly hostServices: HostServices;
	readonly agent: AgentDefinition;
	readonly access: SessionAccess;
	readonly skills: SkillSet;
}

export async function composeSession(
	stored: SharedSession,
	options: SessionOptions,
	settings: Configuration,
	hostServices: HostServices,
	links: SessionLinks,
): Promise<SessionParts> {
	const { workDir } = stored;
	const { agent = builtInAgents.default, skillsDirs, editorFiles } = options;
	const roots = { workDir, additionalDirs: () => stored.state().additionalDirs };
	const grants = () => stored.state().approval.autoApproveActions;
	const permissions = await composePermissions(await links.findRuleFiles(workDir), { ...roots, grants }, hostServices);
	const models = new SessionModels(options, settings, hostServices, links);
	const { configuration } = models;
	const access = await composeAccess(roots, permissions, agent, options, configuration, hostServices);
	const { environment, filesForMany, sandbox } = access;
	const loadPlugins = () => {
		const place = { environment, processes: sandbox.pluginProcesses, files: filesForMany() };
		return loadPluginTools({ ...hostServices, ...place }, () => models.defaultAccess());
	};
	const [chosen, skills, plugins] = await Promise.all([
		models.choose(),
		links.findSkills({ files: filesForMany, ruled: [workDir, ...roots.additionalDirs()], workDir, skillsDirs }),
		options.plugins === false ? [] : loadPlugins(),
	]);
	const { observe, clock, identifiers, random, log } = hostServices;
	const editor = editorFiles === undefined ? null : guardEditor(editorFiles, { clock, log });
	const given = { plugins, skillDirs: skills.roots, editor };
	const tools = new SessionTools(stored, access, models, hostServices, given);
	const composition = { stored, options, configuration, hostServices, agent, access, skills };
	return {
		stored,
		takesOver: options.takesOver ?? false,
		allRunning: links.allRunning,
		readContext: links.readContext,
		chosen,
		models,
		createTools: (operations) => tools.create(agent.toolPaths, operations),
		findFiles: (query) => tools.findFiles(query),
		subagents: {
			types: agent.types,
			createTools: (toolPaths, operations) => tools.create(toolPaths, operations),
			findModel: (alias) => models.find(alias),
			describeRepository: (signal) =>
				describeRepository(workDir, { environment, processes: sandbox.processes }, signal),
			parallel: configuration.agentwire.parallelSubagents,
		},
		...(observe === undefined ? {} : { observation: { observe, providerType: models.providerType } }),
		background: {
			settings: configuration.background,
			startWorker: async (directory, task) =>
				hostServices.startWorker(directory, task, environment, await sandbox.confinementOf(task.outsideSandbox)),
			claimStaleAfter: configuration.notifications.claimStaleAfterMs,
		},
		openHistory: composeHistory(composition),
		loadServers: composeServers(workDir, configuration, hostServices, links.serverPool),
		mcpServers: options.mcpServers,
		...composeLimits(composition),
		...composeDecisions(composition),
		isOneOfMany: options.isOneOfMany === true,
		passesUnknownCommands: options.passesUnknownCommands === true,
		titles: configuration.agentwire.titles,
		skills: skills.skills,
		startNotices: skills.leftOut.map(({ path: file, reason }) => {
			return { title: "A skill was left out", body: `${file}: ${reason}.` };
		}),
		turns: options.turns ?? {},
		keys: models.keys,
		systemPrompt: composeSystemPrompt(composition),
		...{ clock, identifiers, random, log },
	};
}

function composeLimits({ options, configuration: { loopControl, agentwire } }: Composition): LimitParts {
	return {
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
		loopIterations: options.maxLoopIterations ?? loopControl.maxRalphIterations,
	};
}

function composeDecisions(composition: Composition): DecisionParts {
	const { stored, options, configuration, hostServices, agent, access } = composition;
	const { home, shareDir, network } = hostServices;
	const { mode = {} } = options;
	const { judge, forbiddenModes } = access.permissions;
	const settingsDir = path.dirname(hostServices.settingsFile ?? `${shareDir}/-`);
	const startsInPlan = options.plan || (configuration.defaultPlanMode && !stored.existed);
	return {
		// The state from the start of the session wins, because it may have changed since.
		yolo: mode.approvesEverything === undefined && (options.yolo || configuration.defaultYolo),
		afk: (mode.isAway === undefined && options.afk) || options.unattended,
		remindsOfAbsence: !configuration.skipAfkPromptInjection,
		whenUnattended: toUnattended(options, configuration.agentwire.unattended, forbiddenModes),
		judge,
		policies: access.sandbox.policies,
		sandbox: access.sandbox.description,
		forbiddenModes,
		planPlace: {
			files: access.files,
			shareDir,
			home,
			isSupported: servesPlanMode(agent.toolPaths),
			startsOn: mode.planMode === undefined ? startsInPlan : mode.planMode && !stored.existed,
		},
		hooks: configuration.hooks.map(({ event, matcher, command, timeout, failClosed }): CommandHook => {
			const placed = withPlacedProgram(command, settingsDir);
			return { kind: "command", event, matcher, command: placed, timeout, failClosed };
		}),
		hookPlace: {
			environment: withTrustedPath(access.environment),
			processes: access.sandbox.hookProcesses,
			fetch: network.fetch,
			sessionHooks: options.hooks ?? [],
		},
	};
}

function composeSystemPrompt(composition: Composition): SessionParts["systemPrompt"] {
	const { options, hostServices, agent, access, skills } = composition;
	const { workDir, additionalDirs } = access.roots;
	const services = { ...hostServices, files: access.files };
	return async (type) => {
		const { gatherPromptVariables } = await import("./prompt-environment.ts");
		const variables = await gatherPromptVariables(workDir, additionalDirs(), skills.skills, services);
		if (type !== null) return (type.prompt ?? renderSystemPrompt)(variables);
		const prompt = withRole((agent.prompt ?? renderSystemPrompt)(variables), agent.role);
		return [prompt, ...(options.instructions ?? [])].filter((text) => text !== "").join("\n\n");
	};
}

/** Loaded with the first call that may change something. */
function composeHistory({ stored, configuration, hostServices }: Composition): SessionParts["openHistory"] {
	const { rewind } = configuration.agentwire;
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
		const space = HistorySpace.shared({ sessions, limit: rewind.maxTotalBytes, clock, log });
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
