// Whether the process whose id is in a file still runs.
import { systemErrorCode } from "../base/errors.ts";

export function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (thrown) {
		// A process of another user may not be signalled, but it exists.
		return systemErrorCode(thrown) !== "ESRCH";
	}
}
