export interface LineQueue {
	read(): Promise<string | null>;
}

/** `listen` calls back with each line that is not empty, then once with the end. */
export function lineQueue(listen: (onLine: (line: string) => void, onEnd: () => void) => void): LineQueue {
	const lines: (string | null)[] = [];
	let wake = () => {};
	const arrive = (line: string | null) => {
		lines.push(line);
		wake();
	};
	listen(
		(line) => {
			if (line.trim() !== "") arrive(line);
		},
		() => arrive(null),
	);
	return {
		async read() {
			while (lines.length === 0) {
				await new Promise<void>((resolve) => {
					wake = resolve;
				});
			}
			return lines[0] === null ? null : (lines.shift() ?? null);
		},
	};
}
