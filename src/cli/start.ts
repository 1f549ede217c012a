// Loads the program with its code cache, runs it, and exits.
import path from "node:path";
import { createCodeCache } from "./code-cache.ts";
import { cacheDirectory } from "./home.ts";
import type { createPackageInstallation, main } from "./main.ts";
import { exitSoon } from "./process/process-exit.ts";

interface Program {
	readonly main: typeof main;
	readonly createPackageInstallation: typeof createPackageInstallation;
}

export async function start(executable: string, argv: readonly string[], directory: string): Promise<void> {
	const cacheHome = cacheDirectory();
	const cache = createCodeCache(path.join(cacheHome, "agentwire", `${process.version}-${process.arch}`));
	const program = cache.require(path.join(directory, "main.cjs")) as Program;
	const code = await program.main(executable, argv, program.createPackageInstallation(path.dirname(directory)));
	cache.save();
	await exitSoon(code);
}
