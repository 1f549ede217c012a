// Ids of tool calls as one provider takes them: spelled with its letters, and each used once in a request.

export interface CallIds {
	/** The id of a call, in the order of the conversation. */
	ofCall(id: string): string;
	/** The id of a result: that of the last call before it with the same id. */
	ofResult(id: string): string;
}

/** `spell` maps an id to the provider's letters; ids that thereby fall together, or repeat, get a number. */
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
