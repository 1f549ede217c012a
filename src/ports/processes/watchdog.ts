// Ends the command when this process dies suddenly, for example by SIGKILL.
import { type ChildProcess, spawn } from "node:child_process";
import { Writable } from "node:stream";
import { type Clock, sleep } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { toMountSpelling } from "./confinement/placeholders.ts";

export interface Watchdog {
	/** Sets the process group to kill, and the placeholders to remove after it. */
	watch(groupId: number, placeholders?: readonly string[]): void;
	dismiss(clock: Clock): Promise<void>;
}

/**
 * Reads orders from descriptor 3. At the end of the pipe it kills the group and all processes with marker $1 for about
 * two seconds, because a process in fork or exec cannot be found yet, then removes placeholders.
 */
const script = `
group=
while IFS=" " read -r word value <&3; do
	case $word in
		group) group=$value ;;
		placeholder) set -- "$@" "$value" ;;
		done) exit 0 ;;
	esac
done
for pause in 0.02 0.05 0.1 0.2 0.4 0.6 0.6; do
	if [ -n "$group" ]; then
		kill -s KILL -- "-$group" 2>/dev/null || group=
	fi
	tries=0
	while [ -d /proc/self ] && [ "$tries" -lt 20 ]; do
		tries=$((tries + 1))
		found=$(grep -l -F -e "$1" /proc/[0-9]*/environ 2>/dev/null)
		[ -n "$found" ] || break
		for file in $found; do
			process=\${file#/proc/}
			kill -s KILL "\${process%/environ}" 2>/dev/null
		done
	done
	sleep "$pause" 2>/dev/null || sleep 1
done
shift
for placeholder do
	grep -q -s -F -e " \${placeholder%% *} " /proc/[0-9]*/mountinfo && continue
	place=\${placeholder#* }
	if [ -f "$place" ] && [ ! -L "$place" ] && [ ! -s "$place" ]; then rm -f -- "$place"; else rmdir -- "$place"; fi 2>/dev/null
done
`;

/** Milliseconds to wait for a dismissed watchdog. */
const patience = 200;

const noWatchdog: Watchdog = { watch: () => undefined, dismiss: async () => undefined };

function spawnWatchdog(marker: string): ChildProcess {
	return spawn("/bin/sh", ["-c", script, "agentwire-watchdog", marker], {
		cwd: "/",
		// It must not inherit this marker or those of enclosing runs.
		env: { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C" },
		detached: true,
		stdio: ["ignore", "ignore", "ignore", "pipe"],
		windowsHide: true,
	});
}

/** Starts a watchdog for the command with this marker. If the system refuses, logs it and continues without one. */
export function startWatchdog(marker: string, log: Log): Watchdog {
	let child: ChildProcess;
	try {
		child = spawnWatchdog(marker);
	} catch (thrown) {
		log.warn("A command runs without watchdog", { cause: errorText(thrown) });
		return noWatchdog;
	}
	child.once("error", (error) => log.warn("A command runs without watchdog", { cause: errorText(error) }));
	const orders = child.stdio[3];
	if (!(orders instanceof Writable)) return noWatchdog;
	orders.on("error", () => undefined);
	const gone = new Promise<void>((resolve) => {
		child.once("exit", () => resolve());
		child.once("error", () => resolve());
	});
	return {
		watch(groupId, placeholders = []) {
			// Paths with newlines do not fit a line; a later command in their directory removes them.
			const lines = placeholders.filter((file) => !file.includes("\n"));
			const orderLines = lines.map((file) => `placeholder ${toMountSpelling(file)} ${file}\n`);
			orders.write(`group ${groupId}\n${orderLines.join("")}`);
		},
		async dismiss(clock) {
			orders.end("done\n");
			const late = new AbortController();
			await Promise.race([gone, sleep(clock, patience, late.signal)]);
			late.abort();
		},
	};
}
