// Whether the process that left its number in a file is still there.
import { systemErrorCode } from "../base/errors.ts";

export function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (thrown) {
		// A process of another user may not be signalled, but it is there.
		return systemErrorCode(thrown) !== "ESRCH";
	}
}
