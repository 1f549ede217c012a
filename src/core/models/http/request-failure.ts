// Ends a request inside an adapter. Never leaves models/: the stream turns it into its last chunk.
import { errorText } from "../../../base/errors.ts";
import { createFailure, type ModelFailure } from "../model.ts";

export class RequestFailure extends Error {
	override readonly name = "RequestFailure";
	readonly failure: ModelFailure;

	constructor(failure: ModelFailure) {
		super(failure.message);
		this.failure = failure;
	}
}

export function requestFailure(...parts: Parameters<typeof createFailure>): RequestFailure {
	return new RequestFailure(createFailure(...parts));
}

export function toModelFailure(thrown: unknown): ModelFailure {
	return thrown instanceof RequestFailure ? thrown.failure : createFailure("defect", errorText(thrown));
}
