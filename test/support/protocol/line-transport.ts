// A line transport without bytes: a test hands lines in and looks at what was sent, at once.
import { createDeferred } from "../../../src/base/deferred.ts";
import type { Line } from "../../../src/base/text/lines.ts";
import { wholeText } from "../../../src/base/text/long-text.ts";
import type { LineTransport } from "../../../src/ports/rpc/transport.ts";

export interface LineHarness {
	readonly transport: LineTransport;
	/** What was sent, parsed. */
	readonly sent: unknown[];
	/** Takes what was sent so far. */
	take(): unknown[];
	receive(...lines: readonly (string | object)[]): void;
	receiveOversized(): void;
	end(): void;
}

export function createLineHarness(): LineHarness {
	const sent: unknown[] = [];
	const ended = createDeferred<void>();
	let deliver: (line: Line) => void = () => {};
	return {
		transport: {
			receive(onLine, onEnd) {
				deliver = onLine;
				void ended.promise.then(onEnd);
			},
			send: (line) => void sent.push(JSON.parse(wholeText(line))),
			ready: () => Promise.resolve(),
			isFull: () => false,
			flush: () => Promise.resolve(),
			gone: new AbortController().signal,
			close: () => ended.resolve(),
		},
		sent,
		take: () => sent.splice(0),
		receive(...lines) {
			for (const line of lines) deliver({ kind: "line", text: typeof line === "string" ? line : JSON.stringify(line) });
		},
		receiveOversized: () => deliver({ kind: "oversized" }),
		end: () => ended.resolve(),
	};
}
