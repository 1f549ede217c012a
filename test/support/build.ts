// Builds the executable before the tests that run it, so that they never see an older one.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Each project loads this module for itself, in one process. */
const isBuilt = Symbol.for("agentwire.built");

export function setup(): void {
	if (Reflect.has(globalThis, isBuilt)) return;
	execFileSync("npx", ["rolldown", "-c", "rolldown.config.ts", "--logLevel", "warn"], { cwd: root, stdio: "inherit" });
	Reflect.set(globalThis, isBuilt, true);
}
