// The first file of the executable: loads the program with its code cache, runs it, and exits.
import { homedir } from "node:os";
import path from "node:path";
import { createCodeCache } from "./code-cache.ts";
import type { createPackageInstallation, exitSoon, main } from "./main.ts";

/** The signals by which clients stop us. */
const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The exports of the program that this file uses. */
interface Program {
	readonly main: typeof main;
	readonly createPackageInstallation: typeof createPackageInstallation;
	readonly exitSoon: typeof exitSoon;
}

/** Runs the program in the same directory as this file. */
export async function launch(executable: string, argv: readonly string[]): Promise<void> {
	// Without a listener Node would open a debugger, to everybody on the machine who finds its port.
	process.on("SIGUSR1", () => {});
	// Until the server handles signals, being stopped is a normal end: clients report death by a signal as a crash.
	let exit: (code: number) => void = (code) => process.exit(code);
	for (const signal of stopSignals) process.once(signal, () => exit(0));
	const cacheRoot = process.env["XDG_CACHE_HOME"] || path.join(homedir(), ".cache");
	const cache = createCodeCache(path.join(cacheRoot, "agentwire", `${process.version}-${process.arch}`));
	const program = cache.require(path.join(__dirname, "main.cjs")) as Program;
	exit = program.exitSoon;
	const code = await program.main(executable, argv, program.createPackageInstallation(path.dirname(__dirname)));
	cache.save();
	exit(code);
}
