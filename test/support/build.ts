// Builds the executable before the tests that run it, so that they never see an older one.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export function setup(): void {
	execFileSync("npx", ["rolldown", "-c", "rolldown.config.ts", "--logLevel", "warn"], { cwd: root, stdio: "inherit" });
}
