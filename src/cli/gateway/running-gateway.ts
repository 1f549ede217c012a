import path from "node:path";
import * as v from "valibot";
import { parseJsonFile } from "../../base/json.ts";
import { livenessOf, ownProcess, processIdSchema, storedOriginSchema } from "../../ports/files/living-process.ts";
import type { Files } from "../../ports/files/port.ts";

const fileName = "gateway-running.json";
/** File size limit in bytes. */
const sizeLimit = 65_536;

const runningSchema = v.object({ pid: processIdSchema, origin: storedOriginSchema, url: v.string() });
export type RunningGateway = v.InferOutput<typeof runningSchema>;

export async function findRunningGateway(
	shareDir: string,
	files: Pick<Files, "status" | "read">,
): Promise<RunningGateway | null> {
	const file = path.join(shareDir, fileName);
	if ((await files.status(file)) === null) return null;
	try {
		const found = v.parse(runningSchema, parseJsonFile((await files.read(file, sizeLimit)) ?? Buffer.alloc(0)));
		return livenessOf(found) === "alive" ? found : null;
	} catch {
		// An unreadable file names no gateway; the next gateway replaces it.
		return null;
	}
}

/** Returns a function that removes the record unless a later gateway has replaced it. */
export async function noteRunningGateway(
	shareDir: string,
	url: string,
	files: Pick<Files, "status" | "read" | "replace" | "remove">,
): Promise<() => Promise<void>> {
	const file = path.join(shareDir, fileName);
	await files.replace(file, `${JSON.stringify({ ...ownProcess(), url })}\n`, { mode: 0o600 });
	return async () => {
		const found = await findRunningGateway(shareDir, files);
		if (found?.pid === process.pid) await files.remove(file);
	};
}
