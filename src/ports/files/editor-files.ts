// Access to workspace files through an editor that may hang, fail or return invalid answers.

import type { EditorFiles } from "../../api/editor-files.ts";
import { unlessAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";

export type Editor = Required<EditorFiles>;

/** Milliseconds an editor gets for one file. */
const patience = 10_000;

/** A failure, a timeout of ten seconds and a non-text answer count as refusals: the disk is used. */
export function guardEditor(files: EditorFiles, { clock, log }: { readonly clock: Clock; readonly log: Log }): Editor {
	const ask = async <T>(
		what: string,
		path: string,
		signal: AbortSignal,
		work: (signal: AbortSignal) => Promise<T>,
	): Promise<T | null> => {
		if (signal.aborted) return null;
		const asking = new AbortController();
		const abort = () => asking.abort();
		signal.addEventListener("abort", abort, { once: true });
		const withdraw = clock.after(patience, () => {
			log.warn(`The editor did not ${what} a file in time; the disk is used.`, { path });
			abort();
		});
		try {
			return await unlessAborted(work(asking.signal), asking.signal);
		} catch (thrown) {
			log.warn(`The editor could not ${what} a file; the disk is used.`, { path, error: thrown });
			return null;
		} finally {
			withdraw();
			signal.removeEventListener("abort", abort);
		}
	};
	return {
		async read(path, signal) {
			if (files.read === undefined) return null;
			const text = await ask("read", path, signal, async (until) => (await files.read?.(path, until)) ?? null);
			if (text === null || isText(text)) return text;
			log.warn("What the editor gave of a file is not text; the disk is used.", { path });
			return null;
		},
		async write(path, text, signal) {
			if (files.write === undefined) return false;
			const answer = await ask("write", path, signal, async (until) => await files.write?.(path, text, until));
			return answer === true;
		},
	};
}

/** Front ends translate what comes from outside; half a surrogate pair could not be written to a file again. */
function isText(value: unknown): value is string {
	return typeof value === "string" && Buffer.from(value).toString("utf8") === value;
}
