// What a package throws, as a failure. Answers of the provider are read before the package sees them; what is left are
// requests the package refuses to make and events it cannot read.
import { errorText } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { RequestFailure } from "../http/request-failure.ts";
import { createFailure, type ModelFailure } from "../model.ts";

const messageLimit = 2000;

/** Anything thrown by a package, or by what it was given to call. */
export function toModelFailure(thrown: unknown): ModelFailure {
	for (const error of withCauses(thrown)) if (error instanceof RequestFailure) return error.failure;
	const message = errorText(thrown).slice(0, messageLimit);
	if (!isPackageError(thrown)) return createFailure("defect", message);
	const status = thrown["statusCode"];
	// A status of success means that what followed could not be read.
	return typeof status === "number" && status >= 400
		? createFailure("status", message, status)
		: createFailure("provider", message);
}

// By name: the classes themselves would have to be loaded for it.
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
