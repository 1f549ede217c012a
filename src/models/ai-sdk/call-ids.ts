// Maps the ids of tool calls to the letters that a provider accepts, each unique in a request.

export interface CallIds {
	/** The id for a call; call it in the order of the conversation. */
	ofCall(id: string): string;
	/** The id for a result: that of the last call before it with the same original id. */
	ofResult(id: string): string;
}

/** `spell` maps an id to the provider's letters; ids that become equal, or repeat, get a number. */
export function createCallIds(spell: (id: string) => string): CallIds {
	const used = new Set<string>();
	const current = new Map<string, string>();
	return {
		ofCall(id) {
			const spelled = spell(id) || "call";
			let unique = spelled;
			for (let number = 2; used.has(unique); number++) unique = `${spelled}_${number}`;
			used.add(unique);
			current.set(id, unique);
			return unique;
		},
		ofResult: (id) => current.get(id) ?? (spell(id) || "call"),
	};
}
