// Asking the person at the terminal: questions on stderr, each answer a line of stdin.
import { createInterface } from "node:readline";

export interface Questions {
	/** The line that was typed; null when the input ended without one, or the signal aborted. */
	ask(question: string): Promise<string | null>;
	/** Lets go of stdin. */
	close(): void;
}

/** Takes stdin until it is closed. */
export function openQuestions(signal: AbortSignal): Questions {
	const lines = createInterface({ input: process.stdin, output: process.stderr });
	// Answers typed ahead wait here for their questions.
	const answers = lines[Symbol.asyncIterator]();
	signal.addEventListener("abort", () => lines.close(), { once: true });
	return {
		async ask(question) {
			process.stderr.write(question);
			const next = await answers.next();
			if (next.done !== true) return next.value;
			// Whoever ended the question without an answer is still on its line.
			process.stderr.write("\n");
			return null;
		},
		close: () => lines.close(),
	};
}
