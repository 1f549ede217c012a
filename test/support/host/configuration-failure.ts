// What settings are refused with.
import { ConfigurationError } from "../../../src/settings/config/configuration-error.ts";

/** The error of work that is to end with one about settings; throws when it ends otherwise. */
export async function configurationFailure(work: Promise<unknown>): Promise<ConfigurationError> {
	const outcome = await work.then(
		() => null,
		(error: unknown) => error,
	);
	if (outcome instanceof ConfigurationError) return outcome;
	throw new Error(`expected a ConfigurationError, got ${String(outcome)}`);
}
