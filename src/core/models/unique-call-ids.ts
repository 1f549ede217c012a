// Gives every call of an answer an id of its own: events, approvals and results name a call by its id.
import { changedChunks } from "./chunk-streams.ts";
import type { Model } from "./model.ts";
import { takeUnusedName } from "./requests/unused-name.ts";

/** The same stream, in which a call with the id of an earlier one of the answer has a number after it. */
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
