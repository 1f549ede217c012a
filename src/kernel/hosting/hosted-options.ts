// The options of a hosted session: a client request or persisted creation options, merged with options common to the process.

import type { ModelList } from "../../api/models.ts";
import type { CreationOptions, OpeningOptions } from "../../api/session-options.ts";
import type { UserInput } from "../../api/values/content.ts";
import type { AnswerForm } from "../../api/values/turn-options.ts";
import { KernelError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import type { AgentDefinition } from "../../core/definitions/agent-definition.ts";
import { compileJsonSchema } from "../../core/tools/json-schema.ts";
import { servesPlanMode } from "../../core/tools/tool-paths.ts";
import type { Configuration } from "../../settings/config/configuration.ts";
import { type FoundModel, findModel } from "../../settings/config/model-lookup.ts";
import { narrowAgent } from "../compose/agent-restriction.ts";
import { builtInAgents } from "../compose/built-in-agents.ts";
import { chooseModel, toChoice } from "../compose/models.ts";
import { type SessionOptions, withEnvironment } from "../compose/session-options.ts";
import { findUnreadableOption, readCreationOptions, toPersistedCreationOptions } from "./creation-options.ts";
import type { Kernel } from "./kernel.ts";

export interface ChosenOptions {
	/** Absolute. */
	readonly workDir: string;
	readonly options: SessionOptions;
	/** Model name sent to the provider, and the provider key. Empty for none. */
	readonly model: string;
	readonly provider: string;
	readonly labels: Readonly<Record<string, string>>;
	readonly stagedInput?: UserInput;
}

export interface CommonOptions {
	readonly kernel: Pick<Kernel, "findAgent" | "checkDirectory">;
	readonly configuration: Configuration;
	readonly environment: Readonly<Record<string, string>>;
	/** Default working directory of new sessions; absolute. */
	readonly workDir: string;
	readonly options: SessionOptions;
	readonly log: Log;
}

/** Options that persist the request. Fails with `model-not-set`, or `invalid-input` (missing directory or agent). */
export async function chooseOptions(common: CommonOptions, request: CreationOptions): Promise<ChosenOptions> {
	const { kernel } = common;
	const { workDir: named } = request;
	const unreadable = findUnreadableOption(request);
	if (unreadable !== null)
		throw new KernelError("invalid-input", `The creation options cannot be used: ${unreadable}.`);
	await checkGrants(request.permissions?.grants ?? []);
	await checkAnswerForm(request.turns?.answerForm);
	const workDir = named === undefined ? common.workDir : await kernel.checkDirectory(named, "The work directory");
	const added = await checkDirectories(common, request.additionalDirs);
	const options = toOptions(common, request, await findAgent(common, workDir, request.agent), added);
	if (request.mode?.planMode === true && !servesPlanMode(options.agent?.toolPaths ?? [])) {
		throw new KernelError("unsupported", `The agent ${options.agent?.name ?? ""} has no tools for plan mode.`);
	}
	const creationOptions = toPersistedCreationOptions(request);
	return { ...choose(common, workDir, { ...options, creationOptions }), ...toRemarks(request) };
}

async function checkDirectories({ kernel }: CommonOptions, named: readonly string[] = []): Promise<readonly string[]> {
	const checked: string[] = [];
	for (const directory of named) checked.push(await kernel.checkDirectory(directory, "The added directory"));
	return checked;
}

async function checkGrants(grants: readonly string[]): Promise<void> {
	if (grants.length === 0) return;
	const { parseRulePattern } = await import("../../core/permissions/rules/pattern.ts");
	for (const grant of grants) {
		// Soundness does not depend on the home directory.
		const parsed = parseRulePattern(grant, "/");
		if (!parsed.ok)
			throw new KernelError("invalid-input", `The grant ${JSON.stringify(grant)} cannot be used: ${parsed.reason}.`);
	}
}

async function checkAnswerForm(form: AnswerForm | undefined): Promise<void> {
	if (form === undefined) return;
	const compiled = await compileJsonSchema(form.schema, "answer");
	if (!compiled.ok)
		throw new KernelError("invalid-input", `The schema of the answer cannot be used: ${compiled.reason}.`);
}

export function choosePlainOptions(common: CommonOptions, workDir: string, opening: OpeningOptions): ChosenOptions {
	return choose(common, workDir, toOptions(common, { ...plainRequest, ...opening }, null));
}

export interface StoredOptions {
	readonly id: string;
	readonly workDir: string;
	readonly creationOptions: unknown;
}

/** Options of an earlier process, where they still apply. A missing agent is `invalid-input`: another might do more. */
export async function chooseOptionsAgain(
	common: CommonOptions,
	{ id, workDir, creationOptions }: StoredOptions,
	opening: OpeningOptions,
): Promise<ChosenOptions> {
	const { log } = common;
	const stored = readCreationOptions(creationOptions);
	const isReadable = creationOptions === null || stored !== null;
	if (!isReadable) log.warn("What a session was made with is not readable.", { session: id });
	const added = await checkDirectories(common, opening.additionalDirs);
	const tools = stored?.tools ?? (isReadable ? (opening.defaultTools ?? "all") : plainRequest.tools);
	const creation = stored ?? plainRequest;
	const request = { ...creation, tools, ...opening };
	const agent = await findAgent(common, workDir, creation.agent);
	const toChosen = (wished: CreationOptions): ChosenOptions => {
		return { ...choose(common, workDir, toOptions(common, wished, agent, added)), ...toRemarks(creation) };
	};
	try {
		return toChosen(request);
	} catch (thrown) {
		if (!(thrown instanceof KernelError)) throw thrown;
		const { model, provider } = request;
		log.warn("A session gets the default model in place of its own.", { session: id, model, provider, error: thrown });
		return toChosen({ ...request, model: null, provider: null });
	}
}

/** Stored annotations of the session creator that do not affect how the session runs. */
function toRemarks({ labels = {}, stagedInput }: Pick<CreationOptions, "labels" | "stagedInput">) {
	return { labels, ...(stagedInput === undefined ? {} : { stagedInput }) };
}

/** Options for reloading a session, with its later model choice. */
export function withStoredModel(common: CommonOptions, chosen: ChosenOptions, persisted: unknown): ChosenOptions {
	const stored = isRecord(persisted) ? readCreationOptions(persisted) : null;
	if (!isRecord(persisted) || stored === null) return chosen;
	const found = findModel(common.configuration, stored);
	const { unlistedModel: before, ...others } = chosen.options;
	const thinking = stored.thinking ?? others.thinking;
	const wish =
		found.kind === "none" ? (before === undefined ? {} : { unlistedModel: before }) : toWish(found, common.options);
	const { turns = {} } = stored;
	const again = choose(common, chosen.workDir, { ...others, ...wish, thinking, turns, creationOptions: persisted });
	return { ...again, ...toRemarks(chosen) };
}

function toWish(
	found: Exclude<FoundModel, { kind: "none" }>,
	{ model }: SessionOptions,
): Pick<SessionOptions, "unlistedModel"> | Pick<SessionOptions, "model"> {
	return found.kind === "unlisted" ? { unlistedModel: found.model } : { model: found.alias ?? model };
}

export async function listModels({ configuration, environment, options }: CommonOptions): Promise<ModelList> {
	const { listModelOptions } = await import("../compose/model-options.ts");
	const { selection } = chooseModel(options, configuration, environment);
	return {
		options: listModelOptions(configuration, environment),
		chosen: toChoice(selection, configuration)?.alias ?? null,
	};
}

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

async function findAgent({ kernel }: CommonOptions, workDir: string, named?: string): Promise<AgentDefinition | null> {
	return named === undefined ? null : await kernel.findAgent(named, workDir);
}

function choose(common: CommonOptions, workDir: string, options: SessionOptions): ChosenOptions {
	const { configuration, environment } = common;
	const { selection } = chooseModel(options, configuration, withEnvironment(environment, options));
	const isSet = selection.kind === "model";
	const model = isSet ? selection.model.name : "";
	return { workDir, options, model, provider: isSet ? selection.provider.name : "", labels: {} };
}

/** `agent` is the requested agent; null for the process default. */
function toOptions(
	{ configuration, options }: CommonOptions,
	request: CreationOptions,
	agent: AgentDefinition | null,
	addedDirs: readonly string[] = [],
): SessionOptions {
	const found = findModel(configuration, request);
	if (found.kind === "none") throw new KernelError("model-not-set", found.reason);
	const {
		maxAnswerTokens,
		maxSteps,
		budgets,
		tools,
		systemPrompt,
		mode,
		permissions,
		rules,
		environment,
		isWholeEnvironment,
		passesUnknownCommands,
		editorFiles,
		thinking,
		instructions = [],
		turns,
		hooks,
	} = request;
	// Plugins and MCP servers run commands too.
	const isFree = tools === "all";
	const { addedMcpServers = [], mcpServers = isFree ? options.mcpServers : [] } = request;
	const isReplaced = (name: string) => addedMcpServers.some((server) => server.name === name);
	return {
		...options,
		isOneOfMany: true,
		additionalDirs: [...options.additionalDirs, ...addedDirs],
		...toWish(found, options),
		...(thinking === undefined ? {} : { thinking }),
		...(maxAnswerTokens === null ? {} : { maxAnswerTokens }),
		maxSteps: maxSteps ?? options.maxSteps,
		budgets,
		agent: narrowAgent(agent ?? options.agent ?? builtInAgents.default, tools, systemPrompt),
		plugins: isFree,
		mcpServers: [...mcpServers.filter(({ name }) => !isReplaced(name)), ...addedMcpServers],
		...(mode === undefined ? {} : { mode }),
		...(permissions === undefined ? {} : { permissions }),
		...(rules === undefined ? {} : { rules }),
		...(environment === undefined ? {} : { environment }),
		...(isWholeEnvironment === undefined ? {} : { isWholeEnvironment }),
		...(passesUnknownCommands === undefined ? {} : { passesUnknownCommands }),
		...(editorFiles === undefined ? {} : { editorFiles }),
		...(turns === undefined ? {} : { turns }),
		...(hooks === undefined ? {} : { hooks }),
		instructions,
	};
}
