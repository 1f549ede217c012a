// Whether files can be written to a directory, without writing any.
import { constants } from "node:fs";
import { access, statfs } from "node:fs/promises";
import path from "node:path";
import { errorText, systemErrorCode } from "../../base/errors.ts";

/** Bytes below which a session soon ends with an error. */
const leastSpace = 1024 * 1024;

/** Why nothing can be written to a directory, or to where it would be created: a clause without full stop; null when it can. */
export async function whyUnwritable(directory: string): Promise<string | null> {
	try {
		await access(directory, constants.W_OK | constants.X_OK);
		const { bavail, bsize } = await statfs(directory);
		if (bavail * bsize >= leastSpace) return null;
		return `no space is left for ${directory}`;
	} catch (thrown) {
		const parent = path.dirname(directory);
		if (systemErrorCode(thrown) === "ENOENT" && parent !== directory) return await whyUnwritable(parent);
		return errorText(thrown);
	}
}
