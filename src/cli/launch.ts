// The first file of the executable: loads the program with its code cache, runs it, and ends the process.
import { homedir } from "node:os";
import path from "node:path";
import { createCodeCache } from "./code-cache.ts";
import type { main } from "./main.ts";

/** The signals by which clients stop us. */
const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs the program found beside this file. */
export async function launch(executable: string, argv: readonly string[]): Promise<void> {
	// Until the server takes over, being stopped is a normal end: clients read death by a signal as a crash.
	for (const signal of stopSignals) process.once(signal, stopBeforeServing);
	const cacheRoot = process.env["XDG_CACHE_HOME"] || path.join(homedir(), ".cache");
	const cache = createCodeCache(path.join(cacheRoot, "agentwire", `${process.version}-${process.arch}`));
	const program = cache.require(path.join(__dirname, "main.cjs")) as { readonly main: typeof main };
	const code = await program.main(executable, argv, path.dirname(__dirname));
	cache.save();
	process.exit(code);
}

function stopBeforeServing(): never {
	process.exit(0);
}
