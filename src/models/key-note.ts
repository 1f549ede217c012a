// Whose key a provider refused: its own words do not say which of the settings to mend.
import { withAdmissionNote } from "../base/client-admission.ts";
import { sentences } from "../base/sentence.ts";
import type { ModelFailure } from "./model.ts";
import type { ModelSettings } from "./model-settings.ts";

type KeySettings = Pick<ModelSettings, "apiKey" | "keyHolder" | "providerType">;

/**
 * Adds to a failure for want of rights which provider of the settings it is and what holds its key; and that Kimi's
 * platform may have looked at the client's name instead.
 */
export function withKeyNote(failure: ModelFailure, settings: KeySettings): ModelFailure {
	const { kind, statusCode, message } = failure;
	if (kind !== "status" || (statusCode !== 401 && statusCode !== 403)) return failure;
	const named = keyNote(settings);
	const reported = named === null ? message : sentences(message, named);
	const noted = settings.providerType === "kimi" ? withAdmissionNote(statusCode, reported) : reported;
	return { ...failure, message: noted === message ? message : sentences(noted) };
}

function keyNote({ apiKey, keyHolder }: KeySettings): string | null {
	if (keyHolder === null) return null;
	const { provider, setting } = keyHolder;
	const whose = provider === "" ? "the provider" : `the provider ${JSON.stringify(provider)}`;
	return apiKey === ""
		? `There is no key for ${whose}: put it into ${setting}.`
		: `The key for ${whose} is that of ${setting}.`;
}
