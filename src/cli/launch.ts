// The entry file of the executable: loads the program with its code cache, runs it, and exits.
import path from "node:path";
import { withImpliedCommand } from "./arguments/executable-name.ts";
import { isRelayed } from "./attach/relayed-command.ts";
import { createCodeCache } from "./code-cache.ts";
import { cacheDirectory } from "./home.ts";
import type { createPackageInstallation, main } from "./main.ts";
import { exitSoon } from "./process/process-exit.ts";

const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

interface Program {
	readonly main: typeof main;
	readonly createPackageInstallation: typeof createPackageInstallation;
}

export async function launch(executable: string, argv: readonly string[]): Promise<void> {
	// Without a listener Node would open a debugger port that every local user can reach.
	process.on("SIGUSR1", () => {});
	// Until the server handles signals, being stopped is a normal end: clients report a death by signal as a crash.
	for (const signal of stopSignals) process.once(signal, () => void exitSoon(0));
	const [command, ...words] = withImpliedCommand(executable, argv);
	if (isRelayed(command, words)) {
		const { relay } = await import("./attach/relay.ts");
		const code = await relay(words);
		if (code !== null) return void (await exitSoon(code));
	}
	const cacheHome = cacheDirectory();
	const programFile = path.join(__dirname, "main.cjs");
	const cache = createCodeCache(path.join(cacheHome, "agentwire", `${process.version}-${process.arch}`));
	const program = cache.require(programFile) as Program;
	const code = await program.main(executable, argv, program.createPackageInstallation(path.dirname(__dirname)));
	cache.save();
	await exitSoon(code);
}
