import { createInterface } from "node:readline";
import { Writable } from "node:stream";

export interface Questions {
	/** Returns the typed line; null if the input ended or the signal aborted. */
	ask(question: string): Promise<string | null>;
	askHidden(question: string): Promise<string | null>;
	close(): void;
}

export function openQuestions(signal: AbortSignal): Questions {
	let isHidden = false;
	const output = new Writable({
		write(chunk, _encoding, done) {
			if (!isHidden) process.stderr.write(chunk);
			done();
		},
	});
	const lines = createInterface({
		input: process.stdin,
		output,
		terminal: process.stdin.isTTY && process.stderr.isTTY,
	});
	// Queues answers typed ahead.
	const answers = lines[Symbol.asyncIterator]();
	signal.addEventListener("abort", () => lines.close(), { once: true });
	const ask = async (question: string) => {
		process.stderr.write(question);
		const next = await answers.next();
		if (next.done !== true) return next.value;
		// The cursor is still on the line of the unanswered question.
		process.stderr.write("\n");
		return null;
	};
	return {
		ask,
		async askHidden(question) {
			isHidden = true;
			const answer = await ask(question);
			isHidden = false;
			if (answer !== null) process.stderr.write("\n");
			return answer;
		},
		close: () => lines.close(),
	};
}
