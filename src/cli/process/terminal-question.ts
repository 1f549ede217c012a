// Asks the person at the terminal: questions on stderr, each answer a line of stdin.
import { createInterface } from "node:readline";

export interface Questions {
	/** The typed line; null when the input ended without one, or the signal aborted. */
	ask(question: string): Promise<string | null>;
	/** Releases stdin. */
	close(): void;
}

/** Reads stdin until it is closed. */
export function openQuestions(signal: AbortSignal): Questions {
	const lines = createInterface({ input: process.stdin, output: process.stderr });
	// Answers typed ahead are queued here.
	const answers = lines[Symbol.asyncIterator]();
	signal.addEventListener("abort", () => lines.close(), { once: true });
	return {
		async ask(question) {
			process.stderr.write(question);
			const next = await answers.next();
			if (next.done !== true) return next.value;
			// The cursor is still on the line of the unanswered question.
			process.stderr.write("\n");
			return null;
		},
		close: () => lines.close(),
	};
}
