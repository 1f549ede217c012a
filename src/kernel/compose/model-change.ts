// Changes a session's model: checks that the choice is usable, then creates the model. Loaded on the first change.
import { KernelError } from "../../base/errors.ts";
import type { ModelSelection, SelectedProvider } from "../../settings/config/model-selection.ts";
import type { ProviderType } from "../../settings/config/schema.ts";
import type { ChosenModel, ModelChange } from "../session/session-model.ts";
import { withModelError } from "./model-errors.ts";
import { whetherItThinks } from "./model-options.ts";
import { chooseModel, composeModel, type ModelPlace, type ModelServices, type ModelWish, toChosen } from "./models.ts";

export interface WishedModel {
	readonly wish: ModelWish;
	readonly chosen: ChosenModel & { readonly choice: NonNullable<ChosenModel["choice"]> };
}

type Selected = Extract<ModelSelection, { kind: "model" }>;

/** Provider types that work without a key: they send no requests or sign in themselves. */
const worksWithoutKey: Readonly<Record<ProviderType, boolean>> = {
	kimi: false,
	openai_legacy: false,
	openai_responses: false,
	anthropic: false,
	google_genai: false,
	gemini: false,
	vertexai: true,
	_echo: true,
	_scripted_echo: true,
	_chaos: true,
};

/** Fails with `model-not-set` (unknown alias, no address or key) or `invalid-input` (thinking mode not allowed). */
export function changeModel(change: ModelChange, place: ModelPlace): Promise<WishedModel> {
	return withModelError(async () => {
		const { settings, services, maxAnswerTokens } = place;
		const wish = toWish(change, place);
		const { selection } = chooseModel(wish, settings, services.hostServices.environment);
		if (selection.kind === "none") throw new KernelError("model-not-set", unreachable(selection.alias));
		checkThinking(change.thinking, selection);
		await checkKey(selection.provider, services);
		const chosen = toChosen(selection, await composeModel(selection, services, maxAnswerTokens), settings);
		const { choice } = chosen;
		if (choice === null) throw new KernelError("model-not-set", unreachable(selection.alias));
		return { wish, chosen: { ...chosen, choice } };
	});
}

function toWish({ model, thinking }: ModelChange, { wish, settings }: ModelPlace): ModelWish {
	const wished = { thinking: thinking ?? wish.thinking };
	if (model === null) return { ...wish, ...wished };
	if (Object.hasOwn(settings.models, model)) return { model, ...wished };
	const known = Object.keys(settings.models).join(", ") || "none";
	throw new KernelError(
		"model-not-set",
		`There is no model ${JSON.stringify(model)} in the settings. Their models: ${known}.`,
		{
			data: { model },
		},
	);
}

function unreachable(alias: string | null): string {
	return alias === null
		? "No model is chosen: name one."
		: `The model ${JSON.stringify(alias)} cannot be used: it is not in the settings, or the base_url of its provider is empty.`;
}

function checkThinking(wanted: boolean | null, { alias, model }: Selected): void {
	if (wanted === null) return;
	const thinks = whetherItThinks(model);
	const named = JSON.stringify(alias ?? model.name);
	if (wanted && thinks === "never") {
		const why = 'its capabilities in the settings lack "thinking"';
		throw new KernelError("invalid-input", `The model ${named} never thinks, because ${why}.`);
	}
	if (!wanted && thinks === "always") {
		throw new KernelError("invalid-input", `The model ${named} always thinks: it cannot be switched off.`);
	}
}

async function checkKey(provider: SelectedProvider, { keys, hostServices }: ModelServices): Promise<void> {
	const { type, name, customHeaders, apiKeySource, oauth } = provider;
	// A header may contain the key.
	if (worksWithoutKey[type] || Object.keys(customHeaders).length > 0) return;
	if ((await keys.keyOf(provider)) !== "") return;
	const remedy =
		oauth === null
			? `set ${apiKeySource} (any text if the server needs no key)`
			: `sign in with \`${hostServices.loginCommand}\``;
	throw new KernelError("model-not-set", `The model's provider ${JSON.stringify(name)} has no key: ${remedy}.`);
}
