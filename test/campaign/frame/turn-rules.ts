// What holds of the turns of a session in any dialect: every begin is closed, nothing is outside its turn, and who requested
// a turn is answered once, after its end.

/** What a message means for the turns of its session. */
export type TurnFact =
	/** `mayNest`: a turn may begin within this one. */
	| { readonly kind: "begin"; readonly name: string; readonly mayNest?: boolean }
	| { readonly kind: "end"; readonly what: string }
	/** A message that belongs to a turn. */
	| { readonly kind: "inside"; readonly what: string }
	/** The response to a request for a turn; `mayLackTurn`: there may be none, because nothing of it could be persisted. */
	| { readonly kind: "answered"; readonly mayLackTurn: boolean };

export interface PlacedFact<T> {
	readonly session: string;
	/** Index into the transcript. */
	readonly at: number;
	readonly fact: TurnFact;
	/** What the dialect has there; null for what is of no turn. */
	readonly content: T | null;
}

export interface Turn<T> {
	readonly session: string;
	readonly name: string;
	/** Index of its first message in the transcript. */
	readonly at: number;
	/** What came after its begin, its end included. */
	readonly contents: T[];
	/** The last of it; null while it is open. */
	end: PlacedFact<T> | null;
}

export interface Turns<T> {
	readonly turns: readonly Turn<T>[];
	readonly faults: readonly string[];
}

interface Session<T> {
	/** The open turn, and how deep turns are nested in it. */
	open: Turn<T> | null;
	depth: number;
	mayNest: boolean;
	ended: number;
	answered: number;
}

/** Walks through the facts; `isComplete` says that the client read to the end. */
export function findTurns<T>(facts: readonly PlacedFact<T>[], isComplete: boolean): Turns<T> {
	const sessions = new Map<string, Session<T>>();
	const turns: Turn<T>[] = [];
	const faults: string[] = [];
	for (const placed of facts) {
		const { session: name, at, fact, content } = placed;
		const session = sessions.get(name) ?? { open: null, depth: 0, mayNest: false, ended: 0, answered: 0 };
		sessions.set(name, session);
		const where = `at ${at}${name === "" ? "" : ` of ${name}`}`;
		switch (fact.kind) {
			case "begin": {
				if (session.depth > (session.mayNest ? 1 : 0)) faults.push(`a turn begins within another ${where}`);
				session.depth += 1;
				if (session.open !== null) {
					if (content !== null) session.open.contents.push(content);
					break;
				}
				session.mayNest = fact.mayNest ?? false;
				session.open = { session: name, name: fact.name, at, contents: [], end: null };
				turns.push(session.open);
				break;
			}
			case "end":
			case "inside":
				if (session.open === null) {
					faults.push(`${fact.what} outside a turn ${where}`);
					break;
				}
				if (content !== null) session.open.contents.push(content);
				if (fact.kind === "inside") break;
				session.depth -= 1;
				if (session.depth > 0) break;
				session.open.end = placed;
				session.open = null;
				session.ended += 1;
				break;
			case "answered":
				if (fact.mayLackTurn && session.answered === session.ended) break;
				session.answered += 1;
				if (session.open !== null) faults.push(`a request is answered ${where} while its turn is open`);
				if (session.answered > session.ended) faults.push(`a request is answered ${where} without a turn`);
				break;
		}
	}
	for (const [name, { open, ended, answered }] of isComplete ? sessions : []) {
		const where = name === "" ? "" : ` of ${name}`;
		if (open !== null) faults.push(`a turn${where} has no end`);
		if (ended !== answered) faults.push(`${ended} turns${where}, but ${answered} requests for one answered`);
	}
	return { turns, faults };
}
