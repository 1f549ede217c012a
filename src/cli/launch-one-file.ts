// Entry module of the one-file program (Bun). Needs no code cache, because the file contains compiled code.
import path from "node:path";
import { runInGateway } from "./attach/relayed-command.ts";
import { exitSoon } from "./process/process-exit.ts";

const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Milliseconds of startup, during which the build delays JIT optimization. */
const startTime = 50;

/** Restores the default JIT settings. */
function endStart(): void {
	const bun: unknown = Reflect.get(globalThis, "Bun");
	const { unsafe } = bun as { readonly unsafe?: { readonly setJITPolicy?: (scale: number) => void } };
	unsafe?.setJITPolicy?.(1);
}

async function launch(): Promise<void> {
	const [, program = "", ...argv] = process.argv;
	// Check only names of this form, so that all other calls start faster.
	if (argv[0]?.startsWith("__") === true && (await runListener(argv))) return;
	// Bun would exit instead of opening a debugger. Both program forms ignore the signal.
	process.on("SIGUSR1", () => {});
	for (const signal of stopSignals) process.once(signal, () => void exitSoon(0));
	setTimeout(endStart, startTime).unref();
	// The name used to call the program: `execPath` resolves symbolic links.
	const executable = process.argv0;
	const code = await runInGateway(executable, argv);
	if (code !== null) return void (await exitSoon(code));
	const [{ main }, { createOneFileInstallation }] = await Promise.all([
		import("./main.ts"),
		import("./installation/one-file.ts"),
	]);
	await exitSoon(await main(executable, argv, createOneFileInstallation(path.dirname(program))));
}

/** Runs the sandbox listener, if the process was started as one. */
async function runListener([command]: readonly string[]): Promise<boolean> {
	const { listenerCommand, listenerProgram } = await import("../ports/processes/confinement/confined-proxy.ts");
	if (command !== listenerCommand) return false;
	new Function("require", listenerProgram)(require);
	return true;
}

void launch();
