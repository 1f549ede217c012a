// The options that a hosted session is opened with: a client's request, or its persisted creation options, merged with
// the options common to all sessions of the process.
import { KernelError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Configuration } from "../../config/configuration.ts";
import { findModel } from "../../config/model-lookup.ts";
import type { AgentDefinition } from "../../definitions/agent-definition.ts";
import { servesPlanMode } from "../../tools/tool-paths.ts";
import type { CreationOptions, OpeningOptions } from "../api.ts";
import { narrowAgent } from "../compose/agent-restriction.ts";
import { builtInAgents } from "../compose/built-in-agents.ts";
import { chooseModel, type SessionOptions } from "../compose/compose.ts";
import { findUnreadableOption, readCreationOptions, toPersistedCreationOptions } from "./creation-options.ts";
import type { Kernel } from "./kernel.ts";

/** The options to open a session with. */
export interface ChosenOptions {
	/** Absolute. */
	readonly workDir: string;
	readonly options: SessionOptions;
	/** The name sent to the provider, and the provider's key; empty when there is none. */
	readonly model: string;
	readonly provider: string;
}

export interface CommonOptions {
	readonly kernel: Pick<Kernel, "findAgent" | "checkDirectory">;
	readonly configuration: Configuration;
	readonly environment: Readonly<Record<string, string>>;
	/** The work directory of sessions whose creation names none; absolute. */
	readonly workDir: string;
	/** Common to all sessions. */
	readonly options: SessionOptions;
	readonly log: Log;
}

/**
 * For a new session; the request is persisted with it. Fails `model-not-set` when there is no such model,
 * `invalid-input` for a directory or an agent that there is not.
 */
export async function chooseOptions(common: CommonOptions, request: CreationOptions): Promise<ChosenOptions> {
	const { kernel } = common;
	const { workDir: named, additionalDirs = [] } = request;
	const unreadable = findUnreadableOption(request);
	if (unreadable !== null)
		throw new KernelError("invalid-input", `The creation options cannot be used: ${unreadable}.`);
	await checkGrants(request.permissions?.grants ?? []);
	const workDir = named === undefined ? common.workDir : await kernel.checkDirectory(named, "The work directory");
	const added: string[] = [];
	for (const directory of additionalDirs) added.push(await kernel.checkDirectory(directory, "The added directory"));
	const options = toOptions(common, request, await findAgent(common, workDir, request));
	if (request.mode?.planMode === true && !servesPlanMode(options.agent?.toolPaths ?? [])) {
		throw new KernelError("unsupported", `The agent ${options.agent?.name ?? ""} has no tools for plan mode.`);
	}
	return choose(common, workDir, {
		...options,
		additionalDirs: [...options.additionalDirs, ...added],
		creationOptions: toPersistedCreationOptions(request),
	});
}

async function checkGrants(grants: readonly string[]): Promise<void> {
	if (grants.length === 0) return;
	const { parseRulePattern } = await import("../../permissions/rules/pattern.ts");
	for (const grant of grants) {
		// The home directory plays no part in whether it is sound.
		const parsed = parseRulePattern(grant, "/");
		if (!parsed.ok)
			throw new KernelError("invalid-input", `The grant ${JSON.stringify(grant)} cannot be used: ${parsed.reason}.`);
	}
}

/** For a session whose creation options are not known yet. */
export function choosePlainOptions(common: CommonOptions, workDir: string, opening: OpeningOptions): ChosenOptions {
	return choose(common, workDir, toOptions(common, { ...plainRequest, ...opening }, null));
}

/**
 * For a session that an earlier process created: its creation options, as far as they can still be met. Fails
 * `invalid-input` when its agent is not there any more: another one might do more than that one may.
 */
export async function chooseOptionsAgain(
	common: CommonOptions,
	{ id, workDir, creationOptions: persisted }: StoredOptions,
	opening: OpeningOptions,
): Promise<ChosenOptions> {
	const { log } = common;
	const creationOptions = readCreationOptions(persisted);
	if (persisted !== null && creationOptions === null)
		log.warn("What a session was made with is not readable.", { session: id });
	if (creationOptions === null) return choosePlainOptions(common, workDir, opening);
	const agent = await findAgent(common, workDir, creationOptions);
	const request = { ...creationOptions, ...opening };
	try {
		return choose(common, workDir, toOptions(common, request, agent));
	} catch (thrown) {
		if (!(thrown instanceof KernelError)) throw thrown;
		const { model, provider } = creationOptions;
		const fields = { session: id, model, provider, error: thrown };
		log.warn("A session gets the default model in place of its own.", fields);
		return choose(common, workDir, toOptions(common, { ...request, model: null, provider: null }, agent));
	}
}

/** What a stored session says of itself. */
export interface StoredOptions {
	readonly id: string;
	readonly workDir: string;
	readonly creationOptions: unknown;
}

/** A request without options. */
export const plainRequest: CreationOptions = {
	model: null,
	provider: null,
	maxAnswerTokens: null,
	systemPrompt: null,
	maxSteps: null,
	budgets: {
		sessionTokens: null,
		sessionSeconds: null,
		sessionToolCalls: null,
		turnTokens: null,
		turnSeconds: null,
		turnToolCalls: null,
	},
	tools: "none",
};

async function findAgent(
	{ kernel }: CommonOptions,
	workDir: string,
	{ agent }: CreationOptions,
): Promise<AgentDefinition | null> {
	return agent === undefined ? null : await kernel.findAgent(agent, workDir);
}

function choose(
	{ configuration, environment }: CommonOptions,
	workDir: string,
	options: SessionOptions,
): ChosenOptions {
	const { selection } = chooseModel(options, configuration, { ...environment, ...options.environment });
	const isSet = selection.kind === "model";
	const model = isSet ? selection.model.name : "";
	return { workDir, options, model, provider: isSet ? selection.provider.name : "" };
}

/** `agent` is the one that the request names; null for that of the process. */
function toOptions(
	{ configuration, options }: CommonOptions,
	request: CreationOptions,
	agent: AgentDefinition | null,
): SessionOptions {
	const found = findModel(configuration, request);
	if (found.kind === "none") throw new KernelError("model-not-set", found.reason);
	const { maxAnswerTokens, maxSteps, budgets, tools, systemPrompt, mode, permissions, environment } = request;
	// Plugins run commands, and so do MCP servers.
	const isFree = tools === "all";
	return {
		...options,
		isOneOfMany: true,
		...(found.kind === "unlisted" ? { unlistedModel: found.model } : { model: found.alias ?? options.model }),
		...(maxAnswerTokens === null ? {} : { maxAnswerTokens }),
		maxSteps: maxSteps ?? options.maxSteps,
		budgets,
		agent: narrowAgent(agent ?? options.agent ?? builtInAgents.default, tools, systemPrompt),
		plugins: isFree,
		mcpServers: request.mcpServers ?? (isFree ? options.mcpServers : []),
		...(mode === undefined ? {} : { mode }),
		...(permissions === undefined ? {} : { permissions }),
		...(environment === undefined ? {} : { environment }),
	};
}
