// Maps tool call ids to characters the provider accepts, unique per request.
import { takeUnusedName } from "./unused-name.ts";

export interface CallIds {
	/** The ids for a message's calls; call in conversation order. */
	ofCalls(ids: readonly string[]): string[];
	/** The id for a result: the latest call with the same original id; several in one message are used in order. */
	ofResult(id: string): string;
}

/** `spell` maps an id to allowed characters; colliding or repeated ids get a number. */
export function createCallIds(spell: (id: string) => string): CallIds {
	const used = new Set<string>();
	/** By original id, the ids from the last message that has it; each result takes the first, but the last one stays. */
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
