// Lists the configured models for front ends. Loaded on demand.

import type { ModelOption } from "../../api/models.ts";
import { acceptanceOf } from "../../core/models/requests/acceptance.ts";
import { thinkingBudgets } from "../../core/models/thinking-budgets.ts";
import type { Configuration } from "../../settings/config/configuration.ts";
import { type Environment, type SelectedModel, selectModel } from "../../settings/config/model-selection.ts";
import { shownName } from "./models.ts";

/** Configured models in order, with environment overrides applied. */
export function listModelOptions(settings: Configuration, environment: Environment): readonly ModelOption[] {
	return Object.entries(settings.models).flatMap(([alias, { provider, price }]) => {
		const selection = selectModel({ configuration: settings, alias, thinking: null, environment });
		if (selection.kind === "none") return [];
		const { model } = selection;
		const budgets = thinkingBudgets(selection.provider.type, model.name);
		const { media } = acceptanceOf(selection.provider.type, selection.provider.baseUrl);
		return {
			alias,
			name: shownName(alias, model.name, settings),
			provider,
			maxContextSize: model.maxContextSize,
			thinking: whetherItThinks(model),
			...(budgets === null ? {} : { thinkingBudgets: budgets }),
			accepts: {
				image: model.capabilities.has("image_in"),
				audio: media.audio,
				video: media.videos && model.capabilities.has("video_in"),
			},
			price,
		};
	});
}

export function whetherItThinks({ capabilities }: Pick<SelectedModel, "capabilities">): ModelOption["thinking"] {
	if (capabilities.has("always_thinking")) return "always";
	return capabilities.has("thinking") ? "optional" : "never";
}
