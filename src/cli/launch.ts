// The entry file of the executable. Imports little, because a command that a gateway serves loads nothing else.
import { runInGateway } from "./attach/relayed-command.ts";
import { exitSoon } from "./process/process-exit.ts";

const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export async function launch(executable: string, argv: readonly string[]): Promise<void> {
	// Without a listener Node would open a debugger port that every local user can reach.
	process.on("SIGUSR1", () => {});
	// Until the server handles signals, being stopped is a normal end: clients report a death by signal as a crash.
	for (const signal of stopSignals) process.once(signal, () => void exitSoon(0));
	const code = await runInGateway(executable, argv);
	if (code !== null) return void (await exitSoon(code));
	const { start } = await import("./start.ts");
	await start(executable, argv, __dirname);
}
