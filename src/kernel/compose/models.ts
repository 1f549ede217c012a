import type { ModelChoice, ModelOption } from "../../api/models.ts";
import type { HostValues } from "../../core/definitions/plugin.ts";
import type { Model } from "../../core/models/model.ts";
import { type ModelSettings, standardTimeouts } from "../../core/models/model-settings.ts";
import { createModel } from "../../core/models/registry.ts";
import { createSignedInModel } from "../../core/models/signed-in-model.ts";
import type { Configuration } from "../../settings/config/configuration.ts";
import { listModel, type UnlistedModel } from "../../settings/config/model-lookup.ts";
import { type ModelSelection, selectDefaultProvider, selectModel } from "../../settings/config/model-selection.ts";
import type { ChosenModel, ModelChange, PreparedChange } from "../session/session-model.ts";
import type { HostServices } from "./host-services.ts";
import { createKeyRing, type KeyRing } from "./key-ring.ts";

export interface ModelWish {
	/** An alias, or null for the default model. */
	readonly model: string | null;
	/** Null to use the setting. */
	readonly thinking: boolean | null;
	/** An unlisted model of a configured provider; overrides `model`. */
	readonly unlistedModel?: UnlistedModel;
}

/** Chooses the model of a session. The returned `configuration` lists it even when the settings do not. */
export function chooseModel(
	{ model, thinking, unlistedModel }: ModelWish,
	settings: Configuration,
	environment: HostServices["environment"],
): { readonly configuration: Configuration; readonly selection: ModelSelection } {
	const configuration = unlistedModel === undefined ? settings : listModel(settings, unlistedModel);
	const alias = unlistedModel?.name ?? model;
	return { configuration, selection: selectModel({ configuration, alias, thinking, environment }) };
}

export function toChosen(selection: ModelSelection, model: Model | null, settings: Configuration): ChosenModel {
	const isSet = selection.kind === "model";
	return {
		model,
		unsetModelAlias: isSet ? null : selection.alias,
		choice: toChoice(selection, settings),
		sentName: isSet ? selection.model.name : "",
	};
}

/** The selected model for front ends; `settings` excludes unlisted models. */
export function toChoice(selection: ModelSelection, settings: Configuration): ModelChoice | null {
	if (selection.kind === "none") return null;
	const { alias, model, provider, thinking } = selection;
	const listed = alias !== null && Object.hasOwn(settings.models, alias) ? alias : null;
	return {
		alias: listed,
		name: shownName(listed, model.name, settings),
		provider: provider.name,
		thinking: thinking === "on",
	};
}

/** Display name, unless an environment variable overrides the model. */
export function shownName(alias: string | null, name: string, { models }: Configuration): string {
	const listed = alias === null ? undefined : models[alias];
	return listed?.model === name ? (listed.displayName ?? name) : name;
}

export interface ModelServices {
	readonly hostServices: HostServices;
	/** Client name and version, for requests that name the client. */
	clientName(): string | null;
	readonly keys: Pick<KeyRing, "source" | "keyOf">;
}

export interface ModelPlace {
	readonly wish: ModelWish;
	readonly settings: Configuration;
	readonly services: ModelServices;
	readonly maxAnswerTokens: number | undefined;
}

export async function composeModel(
	selection: ModelSelection,
	{ hostServices, clientName, keys }: ModelServices,
	maxAnswerTokens?: number,
): Promise<Model | null> {
	if (selection.kind === "none") return null;
	const own = selection.alias === null ? undefined : hostServices.models?.get(selection.alias);
	if (own !== undefined) return own;
	const { environment, files, network, home, clock, trace, log, version } = hostServices;
	const { provider, model, sampling, thinking } = selection;
	const cap = maxAnswerTokens ?? sampling.maxCompletionTokens;
	const settings: ModelSettings = {
		providerType: provider.type,
		baseUrl: provider.baseUrl,
		apiKey: provider.apiKey,
		keyHolder: { provider: provider.name, setting: provider.apiKeySource },
		network: hostServices.modelNetwork ?? network,
		environment: { ...environment, ...provider.env },
		customHeaders: provider.customHeaders,
		reasoningKey: provider.reasoningKey ?? "",
		model: model.name,
		maxContextSize: model.maxContextSize,
		capabilities: model.capabilities,
		thinking,
		sampling: {
			temperature: sampling.temperature,
			topP: sampling.topP,
			maxCompletionTokens: cap === "automatic" ? null : cap === "off" ? 0 : cap,
			thinkingKeep: sampling.thinkingKeep,
		},
		timeouts: standardTimeouts,
		clientName,
		readFile: (path) => files.read(path),
		trace,
		log,
		version,
		home,
		clock,
	};
	const source = await keys.source(provider);
	return source === null ? await createModel(settings) : await createSignedInModel(settings, source);
}

export interface ModelLinks extends Pick<ModelServices, "clientName"> {
	withModel(change: ModelChange): Promise<object>;
}

export class SessionModels {
	/** Lists the chosen model even when the settings do not. */
	readonly configuration: Configuration;
	readonly keys: KeyRing;
	readonly #selection: ModelSelection;
	readonly #links: ModelLinks;
	#place: ModelPlace;

	constructor(
		wish: ModelWish & { readonly maxAnswerTokens?: number },
		settings: Configuration,
		hostServices: HostServices,
		links: ModelLinks,
	) {
		const { configuration, selection } = chooseModel(wish, settings, hostServices.environment);
		const { fetch } = hostServices.network;
		this.configuration = configuration;
		this.keys = createKeyRing({ ...hostServices, fetch, platform: configuration.agentwire });
		this.#selection = selection;
		this.#links = links;
		const services = { hostServices, clientName: links.clientName, keys: this.keys };
		this.#place = { wish, settings, services, maxAnswerTokens: wish.maxAnswerTokens };
	}

	async choose(): Promise<ChosenModel> {
		const { services, maxAnswerTokens, settings } = this.#place;
		return toChosen(this.#selection, await composeModel(this.#selection, services, maxAnswerTokens), settings);
	}

	async prepare(change: ModelChange): Promise<PreparedChange> {
		const { changeModel } = await import("./model-change.ts");
		const { chosen, wish } = await changeModel(change, this.#place);
		const take = () => {
			this.#place = { ...this.#place, wish };
		};
		return { chosen, creationOptions: await this.#links.withModel(change), take };
	}

	async options(): Promise<readonly ModelOption[]> {
		const { listModelOptions } = await import("./model-options.ts");
		const { settings, services } = this.#place;
		return listModelOptions(settings, services.hostServices.environment);
	}

	async find(alias: string): Promise<Model | null> {
		const { configuration } = this;
		if (!Object.hasOwn(configuration.models, alias)) return null;
		const { wish, services } = this.#place;
		const { environment } = services.hostServices;
		return await composeModel(selectModel({ configuration, alias, thinking: wish.thinking, environment }), services);
	}

	/** Key and address of the default provider, for plugins. */
	async defaultAccess(): Promise<HostValues> {
		const provider = selectDefaultProvider(this.configuration, this.#place.services.hostServices.environment);
		return { api_key: await this.keys.keyOf(provider), base_url: provider.baseUrl };
	}

	/** The provider type for a key, or without a key, of a provider with a model of this name. */
	readonly providerType = (model: string, provider: string | null): string => {
		const { models, providers } = this.configuration;
		const key = provider ?? Object.values(models).find((each) => each.model === model)?.provider ?? "";
		return Object.hasOwn(providers, key) ? (providers[key]?.type ?? "") : "";
	};
}
