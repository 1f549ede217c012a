// A hostile page may take any time and memory, so pages are read in a worker thread, one at a time.
import { createKeyedQueue } from "../../../base/keyed-queue.ts";
import type { PageSource, PageText } from "./page-text.ts";

export type ReadPageOutcome =
	| { readonly kind: "read"; readonly page: PageText | null }
	/** A clause without a full stop. */
	| { readonly kind: "failed"; readonly reason: string }
	| { readonly kind: "cancelled" };

export type ReadPage = (source: PageSource, signal: AbortSignal) => Promise<ReadPageOutcome>;

export interface PageReaderLimits {
	/** Milliseconds per page. */
	readonly time: number;
	/** Megabytes. */
	readonly memory: number;
}

const standardLimits: PageReaderLimits = { time: 10_000, memory: 160 };

/** `file` is the built worker program, `web-page-thread.ts`. */
export function createPageReader(file: string, limits: PageReaderLimits = standardLimits): ReadPage {
	const queue = createKeyedQueue();
	return (source, signal) =>
		queue.run("", async () => {
			const { runThread } = await import("../../../ports/processes/thread.ts");
			const outcome = await runThread(file, source, limits, signal);
			switch (outcome.kind) {
				case "done":
					return { kind: "read", page: toPageText(outcome.value) };
				case "timed-out":
					return { kind: "failed", reason: `it takes longer than ${limits.time / 1000} s to read` };
				case "out-of-memory":
					return { kind: "failed", reason: `it takes more than ${limits.memory} MB to read` };
				case "failed":
					return { kind: "failed", reason: `it could not be read: ${outcome.error.message}` };
				case "aborted":
					return { kind: "cancelled" };
			}
		});
}

function toPageText(value: unknown): PageText | null {
	if (typeof value !== "object" || value === null || !("title" in value) || !("markdown" in value)) return null;
	const { title, markdown } = value;
	if (typeof markdown !== "string") return null;
	return { title: typeof title === "string" ? title : null, markdown };
}
