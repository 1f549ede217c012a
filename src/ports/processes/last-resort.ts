// The last resort at exit: a small shell that kills this process when it has not exited in time. A timer in this
// process would not do: it never fires during an endless computation or a blocking system call.
import { spawn } from "node:child_process";

/**
 * Waits for the end of the pipe at descriptor 3, which closes with this process, the only holder. `kill 0` is for its
 * own group: itself and the `sleep`.
 */
const script =
	'(sleep "$2" 2>/dev/null || sleep 2; kill -s KILL "$1"; kill -s KILL 0) & read -r line <&3; kill -s KILL 0';

/**
 * Kills this process after so many milliseconds. A failure to start the shell is ignored: the process is exiting
 * anyway.
 */
export function killSelfAfter(milliseconds: number): void {
	try {
		const child = spawn(
			"/bin/sh",
			["-c", script, "agentwire-last-resort", String(process.pid), (milliseconds / 1000).toFixed(3)],
			{
				cwd: "/",
				// It must not inherit the markers of runs that this process is part of.
				env: { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C" },
				detached: true,
				stdio: ["ignore", "ignore", "ignore", "pipe"],
				windowsHide: true,
			},
		);
		child.on("error", () => undefined);
		child.unref();
		const [, , , pipe] = child.stdio;
		pipe?.on("error", () => undefined);
	} catch {
		// The system refuses: the process exits without it.
	}
}
