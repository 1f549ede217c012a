// Whether the holder of a lease lives that runs elsewhere, where its process id cannot be looked up: a newcomer puts a
// question next to the lease, an empty file, and the holder removes it when it sees it. Costs nothing while nobody asks.
import path from "node:path";
import { never } from "../../../base/abort.ts";
import { type Clock, sleep } from "../../../base/clock.ts";
import type { Files } from "../../files/port.ts";

const pollInterval = 20;

/** One of a temporary file: what an asking process leaves that was killed is removed with those. */
function questionName(token: string): string {
	return `.${token}.tmp`;
}

/** Whether the holder with this token answers within this time, in milliseconds. */
export async function isAnswered(
	{ files, clock, path: leasePath }: { readonly files: Files; readonly clock: Clock; readonly path: string },
	token: string,
	patience: number,
): Promise<boolean> {
	const question = path.join(path.dirname(leasePath), questionName(token));
	const started = clock.monotonic();
	// Where another newcomer has put it, the answer is for both.
	await files.create(question, "");
	while ((await files.status(question)) !== null) {
		if (clock.monotonic() - started >= patience) {
			await files.remove(question);
			return false;
		}
		await sleep(clock, pollInterval, never);
	}
	return true;
}

/** Answers for the holder with this token if it is asked; `names` are those in the directory of the leases. */
export async function answer(
	files: Pick<Files, "remove">,
	leasePath: string,
	token: string,
	names: ReadonlySet<string>,
): Promise<void> {
	const name = questionName(token);
	if (names.has(name)) await files.remove(path.join(path.dirname(leasePath), name));
}
