/** Thrown and caught within the work on a script. */
export class BudgetExceeded extends Error {
	override readonly name = "BudgetExceeded";
}

export interface Budget {
	/** Counts visited parts of the script, each of bounded cost. Throws BudgetExceeded. */
	visit(parts?: number): void;
	/** Excludes the time since the last visit, which was spent on other work. */
	resume(): void;
	nested<T>(work: () => T): T;
}

export const readingTime = 35;
export const judgingTime = 15;

const mostParts = 50_000;
const deepest = 100;
/** Maximum milliseconds between two visits that count; a longer gap was spent on other work. */
const longestStep = 3;

/** The limit of `milliseconds` starts now. */
export function createBudget(milliseconds: number, now: () => number = () => performance.now()): Budget {
	let last = now();
	let spent = 0;
	let visited = 0;
	let depth = 0;
	return {
		visit(parts = 1) {
			visited += parts;
			if (visited > mostParts) throw new BudgetExceeded("the script has too many parts");
			const at = now();
			spent += Math.min(at - last, longestStep);
			last = at;
			if (spent > milliseconds) throw new BudgetExceeded("judging the script takes too long");
		},
		resume() {
			last = now();
		},
		nested(work) {
			if (depth >= deepest) throw new BudgetExceeded("the script is nested too deeply");
			depth += 1;
			try {
				return work();
			} finally {
				depth -= 1;
			}
		},
	};
}
