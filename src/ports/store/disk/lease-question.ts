// Asks whether a lease holder on another machine or in a container lives: it removes the question file that the newcomer creates.
import path from "node:path";
import { never } from "../../../base/abort.ts";
import { type Clock, sleep } from "../../../base/clock.ts";
import type { Files } from "../../files/port.ts";

const pollInterval = 20;

/** Named like a temporary file, so that the cleanup also removes the question of a killed process. */
function questionName(token: string): string {
	return `.${token}.tmp`;
}

/** Whether the holder with this token answers in time; milliseconds. */
export async function isAnswered(
	{ files, clock, path: leasePath }: { readonly files: Files; readonly clock: Clock; readonly path: string },
	token: string,
	patience: number,
): Promise<boolean> {
	const question = path.join(path.dirname(leasePath), questionName(token));
	const started = clock.monotonic();
	// If another newcomer has already asked, the answer serves both.
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

export async function answer(
	files: Pick<Files, "remove">,
	leasePath: string,
	token: string,
	names: ReadonlySet<string>,
): Promise<void> {
	const name = questionName(token);
	if (names.has(name)) await files.remove(path.join(path.dirname(leasePath), name));
}
