// Whether this machine can contain processes, for the tests and campaigns that try it for real.
import { spawnSync } from "node:child_process";
import { findBubblewrap } from "../../../src/processes/containment.ts";

export function hasBubblewrap(): boolean {
	const program = findBubblewrap(process.env["PATH"]);
	if (program === null) return false;
	const probe = ["--dev-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "--die-with-parent", "true"];
	return spawnSync(program, probe).status === 0;
}
