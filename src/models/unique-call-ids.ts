// Gives every call of an answer an id of its own: events, approvals and results name a call by its id.
import { changedChunks } from "./chunk-streams.ts";
import type { Model } from "./model.ts";

/** The same stream, in which a call with the id of an earlier one of the answer has a number after it. */
export function withUniqueCallIds(stream: Model["stream"]): Model["stream"] {
	return (request, signal) => {
		const used = new Set<string>();
		const unused = (id: string): string => {
			let unique = id;
			for (let number = 2; used.has(unique); number++) unique = `${id}_${number}`;
			used.add(unique);
			return unique;
		};
		return changedChunks(stream(request, signal), (chunk) =>
			chunk.type === "parts"
				? {
						type: "parts",
						parts: chunk.parts.map((part) => (part.type === "function" ? { ...part, id: unused(part.id) } : part)),
					}
				: chunk,
		);
	};
}
