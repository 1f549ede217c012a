// The error for an invalid agent file or a file that it names, as data and as a text for people.

export interface AgentFileProblem {
	/** Absolute path of the file at fault. */
	readonly file: string;
	/** Key path like `agent.name`, a place like `line 3`, or empty for the whole file. */
	readonly key: string;
	/** A clause without full stop. */
	readonly reason: string;
}

/** The message has one line per problem. The program does not start with such a file (exit code 1). */
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
