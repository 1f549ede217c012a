// Settings that fail to produce a model are not a bug: the error goes to the client that requested the model.
import { KernelError } from "../../base/errors.ts";
import { ModelConfigurationError } from "../../core/models/model-settings.ts";
import { ConfigurationError } from "../../settings/config/configuration-error.ts";

export async function withModelError<T>(work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (thrown) {
		if (thrown instanceof ModelConfigurationError) {
			throw new KernelError("model-not-set", thrown.message, { cause: thrown });
		}
		// The settings were valid at process start, so the session environment is at fault.
		if (thrown instanceof ConfigurationError) {
			throw new KernelError("invalid-input", thrown.message, { cause: thrown });
		}
		throw thrown;
	}
}
