// Requests whose tools every provider accepts, and answers that name them as the program does.
import { changedChunks } from "../chunk-streams.ts";
import type { Model } from "../model.ts";
import { withAcceptedNames } from "./tool-names.ts";
import { withAcceptedParameters } from "./tool-parameters.ts";

/** The same stream for such requests. `isReserved` recognises a name that the provider itself gives a meaning. */
export function withAcceptedTools(stream: Model["stream"], isReserved: (name: string) => boolean): Model["stream"] {
	return (given, signal) => {
		const tools = given.tools.map(withAcceptedParameters);
		const { request, named } = withAcceptedNames({ ...given, tools }, isReserved);
		return changedChunks(stream(request, signal), (chunk) =>
			chunk.type === "parts" ? { type: "parts", parts: chunk.parts.map(named) } : chunk,
		);
	};
}
