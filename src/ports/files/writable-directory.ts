import { constants } from "node:fs";
import { access, statfs } from "node:fs/promises";
import path from "node:path";
import { errorText, systemErrorCode } from "../../base/errors.ts";

/** Minimum free bytes; with less a session soon ends with an error. */
const leastSpace = 1024 * 1024;

/** Why a directory, or its future location, is not writable: a clause without a full stop; null if it is writable. */
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
