// Converts what a package throws to a failure. Error answers of the provider are handled before the package sees them;
// what is left are requests that the package refuses to send and events that it cannot parse.
import { errorText } from "../../../base/errors.ts";
import { isRecord } from "../../../base/json.ts";
import { beginning } from "../../../base/well-formed.ts";
import { RequestFailure } from "../http/request-failure.ts";
import { createFailure, type ModelFailure } from "../model.ts";

const messageLimit = 2000;

/** Converts anything thrown by a package or by its callbacks. */
export function toModelFailure(thrown: unknown): ModelFailure {
	for (const error of withCauses(thrown)) if (error instanceof RequestFailure) return error.failure;
	const message = beginning(errorText(thrown), messageLimit);
	if (!isPackageError(thrown)) return createFailure("defect", message);
	const status = thrown["statusCode"];
	// With a success status the body could not be parsed.
	return typeof status === "number" && status >= 400
		? createFailure("status", message, status)
		: createFailure("provider", message);
}

// By name, so that the classes need not be loaded.
function isPackageError(thrown: unknown): thrown is Error & Record<string, unknown> {
	return thrown instanceof Error && thrown.name.startsWith("AI_") && isRecord(thrown);
}

function* withCauses(thrown: unknown): Generator<unknown> {
	const seen = new Set<unknown>();
	let current = thrown;
	while (current instanceof Error && !seen.has(current)) {
		seen.add(current);
		yield current;
		current = current.cause;
	}
}
