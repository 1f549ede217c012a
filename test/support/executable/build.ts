// Builds the executable before the tests that run it, so that they never see an older one, and makes the directory in
// which its processes share their compiled code.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Each project loads this module for itself, in one process. */
const isBuilt = Symbol.for("agentwire.built");

export function setup(): (() => void) | undefined {
	if (Reflect.has(globalThis, isBuilt)) return undefined;
	execFileSync("npx", ["rolldown", "-c", "rolldown.config.ts", "--logLevel", "warn"], { cwd: root, stdio: "inherit" });
	Reflect.set(globalThis, isBuilt, true);
	const codeCache = mkdtempSync(path.join(tmpdir(), "agentwire-code-"));
	process.env["AGENTWIRE_CODE_CACHE"] = codeCache;
	return () => rmSync(codeCache, { recursive: true, force: true });
}
