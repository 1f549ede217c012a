import { changedChunks } from "../chunk-streams.ts";
import type { Model, ToolSpecification } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import type { Acceptance } from "./acceptance.ts";
import { withAcceptedMedia } from "./accepted-media.ts";
import { withAcceptedNames } from "./tool-names.ts";
import { withAcceptedParameters } from "./tool-parameters.ts";

/** Wraps the stream; the caller's request is not changed. */
export function withAcceptedRequests(
	stream: Model["stream"],
	{ media, mostTools, isReserved }: Acceptance,
	settings: Pick<ModelSettings, "capabilities" | "log" | "model">,
): Model["stream"] {
	const withinLimit = createToolLimit(mostTools, settings);
	return (given, signal) => {
		const tools = withinLimit(given.tools).map(withAcceptedParameters);
		const messages = withAcceptedMedia(given.messages, media, settings.capabilities);
		const { request, named } = withAcceptedNames({ ...given, tools, messages }, isReserved);
		return changedChunks(stream(request, signal), (chunk) =>
			chunk.type === "parts" ? { type: "parts", parts: chunk.parts.map(named) } : chunk,
		);
	};
}

/** Keeps the first tools, which are the program's own; logs the dropped ones whenever they change. */
function createToolLimit(most: number | null, { log, model }: Pick<ModelSettings, "log" | "model">) {
	let logged = "";
	return (tools: readonly ToolSpecification[]): readonly ToolSpecification[] => {
		if (most === null || tools.length <= most) return tools;
		const others = tools.slice(most).map(({ name }) => name);
		if (others.join() !== logged) {
			logged = others.join();
			const message = "The provider accepts no more tools per request: the last ones are left out.";
			log.warn(message, { model, most, tools: others });
		}
		return tools.slice(0, most);
	};
}
