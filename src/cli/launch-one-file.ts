// The first module of the program as one file, which Bun runs: loads the rest. No code
// cache: the file contains compiled code.
import path from "node:path";
import { withImpliedCommand } from "./arguments/executable-name.ts";
import { isRelayed } from "./attach/relayed-command.ts";
import { exitSoon } from "./process/process-exit.ts";

/** The signals by which clients stop us. */
const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Milliseconds after which functions are compiled for speed as early as usual; the build delays that for the start. */
const startTime = 50;

/** Has the runtime compile as it usually does. */
function endStart(): void {
	const bun: unknown = Reflect.get(globalThis, "Bun");
	const { unsafe } = bun as { readonly unsafe?: { readonly setJITPolicy?: (scale: number) => void } };
	unsafe?.setJITPolicy?.(1);
}

async function launch(): Promise<void> {
	const [, program = "", ...argv] = process.argv;
	// Only names of that kind are looked at further: everything else is answered first.
	if (argv[0]?.startsWith("__") === true && (await runListener(argv))) return;
	// Bun opens no debugger, but would end: that a signal changes nothing is the same in both forms.
	process.on("SIGUSR1", () => {});
	for (const signal of stopSignals) process.once(signal, () => void exitSoon(0));
	setTimeout(endStart, startTime).unref();
	// The name by which it was called: that of a link is not in `execPath`.
	const executable = process.argv0;
	const [command, ...words] = withImpliedCommand(executable, argv);
	if (isRelayed(command, words)) {
		const { relay } = await import("./attach/relay.ts");
		const code = await relay(words);
		if (code !== null) return void (await exitSoon(code));
	}
	const [{ main }, { createOneFileInstallation }] = await Promise.all([
		import("./main.ts"),
		import("./installation/one-file.ts"),
	]);
	await exitSoon(await main(executable, argv, createOneFileInstallation(path.dirname(program))));
}

/** Runs the program of a listener in a sandbox, if that is what it was started for. */
async function runListener([command]: readonly string[]): Promise<boolean> {
	const { listenerCommand, listenerProgram } = await import("../ports/processes/confinement/confined-proxy.ts");
	if (command !== listenerCommand) return false;
	new Function("require", listenerProgram)(require);
	return true;
}

void launch();
