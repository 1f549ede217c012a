import type { Writable } from "node:stream";
import type { OutputCapture } from "./output-capture.ts";
import type { ChildStdio } from "./port.ts";

export function openStdio(conversation: ChildStdio, input: Writable): void {
	conversation.begin({
		write: (text) =>
			new Promise((resolve, reject) => {
				input.write(text, (error) => (error ? reject(error) : resolve()));
			}),
		close: () => void input.end(),
	});
}

export function createStdioCapture(conversation: ChildStdio): OutputCapture {
	let total = 0;
	return {
		push(source, bytes) {
			total += bytes.length;
			return conversation.hear(source, bytes) ?? null;
		},
		finish: async () => ({ output: "", errorOutput: "", outputBytes: total, truncated: false, spilledTo: null }),
	};
}
