// Whether this machine can contain processes, for the tests and campaigns that try it for real.
import { spawnSync } from "node:child_process";
import { findBubblewrap } from "../../../src/ports/processes/containment.ts";

export function hasBubblewrap(): boolean {
	const program = findBubblewrap(process.env["PATH"]);
	if (program === null) return false;
	const probe = ["--dev-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "--die-with-parent", "true"];
	return spawnSync(program, probe).status === 0;
}

/** Whether this machine can also confine what commands do to files and network. */
export function hasSandbox(): boolean {
	const program = findBubblewrap(process.env["PATH"]);
	if (program === null || (process.arch !== "x64" && process.arch !== "arm64")) return false;
	const probe = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-user"];
	return spawnSync(program, [...probe, "--unshare-pid", "--unshare-net", "--die-with-parent", "true"]).status === 0;
}
