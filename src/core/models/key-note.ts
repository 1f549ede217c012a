// Adds the affected key or model to a refusal, because the provider's message does not name the setting to correct.
import { withAdmissionNote } from "../../base/client-admission.ts";
import { sentences } from "../../base/text/sentence.ts";
import type { ModelFailure } from "./model.ts";
import type { ModelSettings } from "./model-settings.ts";

type KeySettings = Pick<ModelSettings, "apiKey" | "keyHolder" | "providerType">;

/** Adds the provider's name and key source to an authorization failure, because the message lacks them. */
export function withKeyNote(failure: ModelFailure, settings: KeySettings): ModelFailure {
	const { kind, statusCode, message } = failure;
	if (kind !== "status" || (statusCode !== 401 && statusCode !== 403)) return failure;
	const named = keyNote(settings);
	const reported = named === null ? message : sentences(message, named);
	const noted = settings.providerType === "kimi" ? withAdmissionNote(statusCode, reported) : reported;
	return { ...failure, message: noted === message ? message : sentences(noted) };
}

/** Explains the bare model name that Anthropic returns for an unknown model: `model: claude-x`. */
export function withModelNote(
	failure: ModelFailure,
	{ model, baseUrl }: Pick<ModelSettings, "model" | "baseUrl">,
): ModelFailure {
	const { kind, statusCode, message } = failure;
	if (kind !== "status" || statusCode !== 404 || !/^model: \S+$/i.test(message)) return failure;
	const where = URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
	return { ...failure, message: `The model ${JSON.stringify(model)} was not found at ${where}.` };
}

function keyNote({ apiKey, keyHolder, providerType }: KeySettings): string | null {
	if (keyHolder === null || (providerType === "vertexai" && apiKey === "")) return null;
	const { provider, setting } = keyHolder;
	const whose = provider === "" ? "the provider" : `the provider ${JSON.stringify(provider)}`;
	return apiKey === ""
		? `There is no key for ${whose}: set ${setting}.`
		: `The key for ${whose} comes from ${setting}.`;
}
