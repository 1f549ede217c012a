// Maps the ids of tool calls to the letters that a provider accepts, each unique in a request.
import { takeUnusedName } from "./unused-name.ts";

export interface CallIds {
	/** The ids for the calls of a message; call it in the order of the conversation. */
	ofCalls(ids: readonly string[]): string[];
	/**
	 * The id for a result: that of the last calls before it with the same original id, in their order where several of one
	 * message have it.
	 */
	ofResult(id: string): string;
}

/** `spell` maps an id to the provider's letters; ids that become equal, or repeat, get a number. */
export function createCallIds(spell: (id: string) => string): CallIds {
	const used = new Set<string>();
	/** Of each original id, those of the last message that has it; a result takes the first, but for the last one. */
	const current = new Map<string, string[]>();
	return {
		ofCalls(ids) {
			for (const id of ids) current.delete(id);
			return ids.map((id) => {
				const unique = takeUnusedName(spell(id) || "call", used);
				const others = current.get(id);
				if (others === undefined) current.set(id, [unique]);
				else others.push(unique);
				return unique;
			});
		},
		ofResult(id) {
			const known = current.get(id) ?? [];
			return (known.length > 1 ? known.shift() : known[0]) ?? (spell(id) || "call");
		},
	};
}
