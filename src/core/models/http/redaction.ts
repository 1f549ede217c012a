import { redactSecrets } from "../../../base/redaction.ts";
import type { ModelFailure } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";

const shortestSecret = 8;

function createRedaction(secrets: readonly string[]): (text: string) => string {
	// Values too short to be secrets ("1", "true") would only garble the text.
	const known = secrets.filter((secret) => secret.length >= shortestSecret).sort((a, b) => b.length - a.length);
	return (text) => redactSecrets(known.reduce((redacted, secret) => redacted.replaceAll(secret, "[redacted]"), text));
}

export function withoutSecrets(
	failure: ModelFailure,
	{ apiKey, customHeaders }: Pick<ModelSettings, "apiKey" | "customHeaders">,
): ModelFailure {
	return { ...failure, message: createRedaction([apiKey, ...Object.values(customHeaders)])(failure.message) };
}
