// The options that a hosted session is opened with: a client's request, or its persisted creation options, merged with
// the options common to all sessions of the process.
import { KernelError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Configuration } from "../../config/configuration.ts";
import { findModel } from "../../config/model-lookup.ts";
import type { CreationOptions } from "../api.ts";
import { narrowAgent } from "../compose/agent-restriction.ts";
import { builtInAgents } from "../compose/built-in-agents.ts";
import { chooseModel, type SessionOptions } from "../compose/compose.ts";
import { readCreationOptions, toPersistedCreationOptions } from "./creation-options.ts";

/** The options to open a session with. */
export interface ChosenOptions {
	readonly options: SessionOptions;
	/** The name sent to the provider, and the provider's key; empty when there is none. */
	readonly model: string;
	readonly provider: string;
}

export interface CommonOptions {
	readonly configuration: Configuration;
	readonly environment: Readonly<Record<string, string>>;
	/** Common to all sessions. */
	readonly options: SessionOptions;
	readonly log: Log;
}

/** For a new session; the request is persisted with it. Fails `model-not-set` when there is no such model. */
export function chooseOptions(common: CommonOptions, request: CreationOptions): ChosenOptions {
	return choose(common, { ...toOptions(common, request), creationOptions: toPersistedCreationOptions(request) });
}

/** For a session whose creation options are not known yet. */
export function choosePlainOptions(common: CommonOptions): ChosenOptions {
	return choose(common, toOptions(common, plainRequest));
}

/** For a session that an earlier process created: its creation options, as far as they can still be met. */
export function chooseOptionsAgain(common: CommonOptions, id: string, persisted: unknown): ChosenOptions {
	const { log } = common;
	const creationOptions = readCreationOptions(persisted);
	if (persisted !== null && creationOptions === null)
		log.warn("What a session was made with is not readable.", { session: id });
	if (creationOptions === null) return choosePlainOptions(common);
	try {
		return choose(common, toOptions(common, creationOptions));
	} catch (thrown) {
		if (!(thrown instanceof KernelError)) throw thrown;
		const { model, provider } = creationOptions;
		const fields = { session: id, model, provider, error: thrown };
		log.warn("A session gets the default model in place of its own.", fields);
		return choose(common, toOptions(common, { ...creationOptions, model: null, provider: null }));
	}
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

function choose({ configuration, environment }: CommonOptions, options: SessionOptions): ChosenOptions {
	const { selection } = chooseModel(options, configuration, environment);
	const isSet = selection.kind === "model";
	return { options, model: isSet ? selection.model.name : "", provider: isSet ? selection.provider.name : "" };
}

function toOptions({ configuration, options }: CommonOptions, request: CreationOptions): SessionOptions {
	const found = findModel(configuration, request);
	if (found.kind === "none") throw new KernelError("model-not-set", found.reason);
	const { maxAnswerTokens, maxSteps, budgets, tools, systemPrompt } = request;
	return {
		...options,
		isOneOfMany: true,
		...(found.kind === "unlisted" ? { unlistedModel: found.model } : { model: found.alias ?? options.model }),
		...(maxAnswerTokens === null ? {} : { maxAnswerTokens }),
		maxSteps: maxSteps ?? options.maxSteps,
		budgets,
		agent: narrowAgent(options.agent ?? builtInAgents.default, tools, systemPrompt),
		// Plugins run commands, and so do MCP servers.
		plugins: tools === "all",
		mcpServers: tools === "all" ? options.mcpServers : [],
	};
}
