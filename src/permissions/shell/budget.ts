// Bounds the work on one script: what a script costs to read must not depend on who wrote it.

/** Thrown inside the reading of a script, and caught there. */
export class BudgetExceeded extends Error {
	override readonly name = "BudgetExceeded";
}

export interface Budget {
	/** Counts one node of the syntax tree, and looks at the time now and then. Throws BudgetExceeded. */
	visit(): void;
	/** Runs `work` one level deeper. Throws BudgetExceeded. */
	nested<T>(work: () => T): T;
}

const mostNodes = 50_000;
const deepest = 100;

/** `milliseconds` of work count from now. */
export function createBudget(milliseconds: number): Budget {
	const end = performance.now() + milliseconds;
	const before = process.cpuUsage();
	let nodes = 0;
	let depth = 0;
	const checkTime = () => {
		if (performance.now() <= end) return;
		// On a machine that is busy with other work, time passes in which nothing of this is done.
		const { user, system } = process.cpuUsage(before);
		if (user + system > milliseconds * 1000) throw new BudgetExceeded("reading the script takes too long");
	};
	return {
		visit() {
			nodes += 1;
			if (nodes > mostNodes) throw new BudgetExceeded("the script has too many parts");
			if (nodes % 64 === 0) checkTime();
		},
		nested(work) {
			if (depth >= deepest) throw new BudgetExceeded("the script is nested too deeply");
			checkTime();
			depth += 1;
			try {
				return work();
			} finally {
				depth -= 1;
			}
		},
	};
}
