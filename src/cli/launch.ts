// The first file of the executable: loads the program with its code cache, runs it, and ends the process.
import { homedir } from "node:os";
import path from "node:path";
import { createCodeCache } from "./code-cache.ts";
import type { main } from "./main.ts";

/** Runs the program found beside this file. */
export async function launch(executable: string, argv: readonly string[]): Promise<void> {
	const cacheRoot = process.env["XDG_CACHE_HOME"] || path.join(homedir(), ".cache");
	const cache = createCodeCache(path.join(cacheRoot, "agentwire", `${process.version}-${process.arch}`));
	const program = cache.require(path.join(__dirname, "main.cjs")) as { readonly main: typeof main };
	const code = await program.main(executable, argv);
	cache.save();
	process.exit(code);
}
