// The first module of the program as one file, which Bun runs. No code cache: the file contains compiled code.
import path from "node:path";
import { listenerCommand, listenerProgram } from "../processes/confined-proxy.ts";
import { createOneFileInstallation } from "./installation/one-file.ts";
import { exitSoon, main } from "./main.ts";

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
	if (argv[0] === listenerCommand) {
		new Function("require", listenerProgram)(require);
		return;
	}
	// Bun opens no debugger, but would end: that a signal changes nothing is the same in both forms.
	process.on("SIGUSR1", () => {});
	let exit: (code: number) => void = (code) => process.exit(code);
	for (const signal of stopSignals) process.once(signal, () => exit(0));
	exit = exitSoon;
	setTimeout(endStart, startTime).unref();
	// The name by which it was called: that of a link is not in `execPath`.
	exit(await main(process.argv0, argv, createOneFileInstallation(path.dirname(program))));
}

void launch();
