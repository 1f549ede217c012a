export interface AgentFileProblem {
	readonly file: string;
	/** A key path like `agent.name`, a place like `line 3`, or empty for the whole file. */
	readonly key: string;
	/** A clause without a full stop. */
	readonly reason: string;
}

/** The message has one line per problem. The program exits with code 1 at startup. */
export class AgentFileError extends Error {
	override readonly name = "AgentFileError";
	readonly problems: readonly AgentFileProblem[];

	constructor(problems: readonly AgentFileProblem[]) {
		// A file may be reached in several ways.
		const byLine = new Map(problems.map((problem) => [toLine(problem), problem]));
		super(`Invalid agent file:\n${[...byLine.keys()].join("\n")}`);
		this.problems = [...byLine.values()];
	}
}

const toLine = ({ file, key, reason }: AgentFileProblem) => `  ${[file, key, reason].filter(Boolean).join(": ")}`;
