// The last resort of an end: a small shell that kills this process when it has not gone in time, whatever it hangs in.
// A timer of our own would not do: it never comes while something computes for ever or waits within the system.
import { spawn } from "node:child_process";

/**
 * Waits for the end of the pipe at descriptor 3, which only this process holds open, and is gone with it. `kill 0` is for
 * its own group: itself and the `sleep`.
 */
const script =
	'(sleep "$2" 2>/dev/null || sleep 2; kill -s KILL "$1"; kill -s KILL 0) & read -r line <&3; kill -s KILL 0';

/** From now on this process has so many milliseconds. Where no shell can be started nothing is said: it is ending. */
export function killSelfAfter(milliseconds: number): void {
	try {
		const child = spawn(
			"/bin/sh",
			["-c", script, "agentwire-last-resort", String(process.pid), (milliseconds / 1000).toFixed(3)],
			{
				cwd: "/",
				// It must not carry the markers of runs that this process is part of.
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
		// The system refuses: the end is as good as without.
	}
}
