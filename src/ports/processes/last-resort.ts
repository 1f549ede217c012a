import { spawn } from "node:child_process";

/** Waits for the pipe at descriptor 3 to close. `kill 0` targets its own group: itself and the `sleep`. */
const script =
	'(sleep "$2" 2>/dev/null || sleep 2; kill -s KILL "$1"; kill -s KILL 0) & read -r line <&3; kill -s KILL 0';

/** Kills this process after this many milliseconds. Ignores a failure to start the shell: the process is exiting anyway. */
export function killSelfAfter(milliseconds: number): void {
	try {
		const child = spawn(
			"/bin/sh",
			["-c", script, "agentwire-last-resort", String(process.pid), (milliseconds / 1000).toFixed(3)],
			{
				cwd: "/",
				// It must not inherit the markers of enclosing runs.
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
		// The system refuses: exit without it.
	}
}
