import { changedChunks } from "./chunk-streams.ts";
import type { Model } from "./model.ts";
import { takeUnusedName } from "./requests/unused-name.ts";

/** Adds a number to a call id that repeats an earlier one of the answer. */
export function withUniqueCallIds(stream: Model["stream"]): Model["stream"] {
	return (request, signal) => {
		const used = new Set<string>();
		return changedChunks(stream(request, signal), (chunk) =>
			chunk.type === "parts"
				? {
						type: "parts",
						parts: chunk.parts.map((part) =>
							part.type === "function" ? { ...part, id: takeUnusedName(part.id, used) } : part,
						),
					}
				: chunk,
		);
	};
}
