// Requests that the provider accepts, whatever a session's context has in it, and answers that name tools as the program does.
import { changedChunks } from "../chunk-streams.ts";
import type { Model } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import type { Acceptance } from "./acceptance.ts";
import { withAcceptedMedia } from "./accepted-media.ts";
import { withAcceptedNames } from "./tool-names.ts";
import { withAcceptedParameters } from "./tool-parameters.ts";

/** The same stream for such requests; the request of the caller stays as it is. */
export function withAcceptedRequests(
	stream: Model["stream"],
	{ media, isReserved }: Acceptance,
	{ capabilities }: Pick<ModelSettings, "capabilities">,
): Model["stream"] {
	return (given, signal) => {
		const tools = given.tools.map(withAcceptedParameters);
		const messages = withAcceptedMedia(given.messages, media, capabilities);
		const { request, named } = withAcceptedNames({ ...given, tools, messages }, isReserved);
		return changedChunks(stream(request, signal), (chunk) =>
			chunk.type === "parts" ? { type: "parts", parts: chunk.parts.map(named) } : chunk,
		);
	};
}
