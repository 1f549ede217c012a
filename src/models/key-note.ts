// Whose key a provider refused: its own words do not say which of the settings to mend.
import { sentences } from "../base/sentence.ts";
import type { ModelFailure } from "./model.ts";
import type { ModelSettings } from "./model-settings.ts";

/** Adds to a failure for want of rights which provider of the settings it is and what holds its key. */
export function withKeyNote(
	failure: ModelFailure,
	{ apiKey, keyHolder }: Pick<ModelSettings, "apiKey" | "keyHolder">,
): ModelFailure {
	const isRefusal = failure.kind === "status" && (failure.statusCode === 401 || failure.statusCode === 403);
	if (!isRefusal || keyHolder === null) return failure;
	const { provider, setting } = keyHolder;
	const whose = provider === "" ? "the provider" : `the provider ${JSON.stringify(provider)}`;
	const note =
		apiKey === ""
			? `There is no key for ${whose}: put it into ${setting}.`
			: `The key for ${whose} is that of ${setting}.`;
	return { ...failure, message: sentences(failure.message, note) };
}
