// Bounds the work on one script: what a script costs to judge must not depend on who wrote it.

/** Thrown inside the work on a script, and caught there. */
export class BudgetExceeded extends Error {
	override readonly name = "BudgetExceeded";
}

export interface Budget {
	/** Counts parts of the script that are looked at, each of a bounded cost. Throws BudgetExceeded. */
	visit(parts?: number): void;
	/** Says that other work was done since the last visit. */
	resume(): void;
	/** Runs `work` one level deeper. Throws BudgetExceeded. */
	nested<T>(work: () => T): T;
}

/** Milliseconds in which a script must be read, and those in which what was read must be judged. */
export const readingTime = 35;
export const judgingTime = 15;

const mostParts = 50_000;
const deepest = 100;
/** Milliseconds between two visits that count: in a longer time the machine does other work than this. */
const longestStep = 3;

/** `milliseconds` of work count from now. */
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
