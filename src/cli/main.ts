// Entry of the executable: reads the command line and hands over. Everything but serving is loaded when wanted.
import path from "node:path";
import { parseCommandLine } from "./command-line.ts";
import { exitSoon } from "./process-exit.ts";
import { toServerStart } from "./server-start.ts";
import { handleStopSignals, stopSignals } from "./stop-signals.ts";
import { UsageError, usageErrorText } from "./usage-error.ts";

export { exitSoon };

/**
 * Runs the program to its end and returns the exit code (agent-kernel §1.3). `packageDir` is where the program is
 * installed, with the files that come with it.
 */
export async function main(executable: string, argv: readonly string[], packageDir: string): Promise<number> {
	const name = path.basename(executable);
	try {
		const command = parseCommandLine(withOwnName(executable, argv));
		switch (command.kind) {
			case "help":
				return print((await import("./help.ts")).helpText(name, command.command));
			case "version":
				return print((await import("./version.ts")).versionText(executable));
			case "info":
				return print((await import("./info.ts")).infoText(command.json));
			case "completion": {
				const { completionText } = await import("./completion.ts");
				return print(completionText(command.shell, process.env["SHELL"] ?? "", name));
			}
			case "export":
				return await (await import("./export-session.ts")).runExport(executable, command.options);
			case "plugin":
				return await (await import("./plugin.ts")).runPlugin(command.action);
			case "task-worker":
				return await (await import("./task-worker.ts")).runWorker(command.flags);
			case "mcp":
				return await (await import("./mcp.ts")).runMcp(executable, command.action);
			case "login":
			case "logout":
				// A sign-in that was stopped must not be taken for one, however early it was.
				handleStopSignals(() => void exitSoon(1));
				return await (await import("./login.ts")).runLogin(command.kind, command.json);
			case "serve": {
				const start = toServerStart(command.options, executable, process.stdin.isTTY);
				if (start.kind === "explain") return complain((await import("./help.ts")).startText(name));
				if (start.kind === "list-sessions") {
					const { listSessions } = await import("./session-choice.ts");
					return await listSessions(executable, start.flag, command.options);
				}
				const { runServer } = await import("./serve.ts");
				return await runServer(executable, start.options, packageDir);
			}
			case "print": {
				// A script must not take being stopped for success, however early it comes.
				handleStopSignals((signal) => void exitSoon(stopSignals[signal]));
				const { runPrint } = await import("./print.ts");
				return await runPrint(executable, command.options, packageDir);
			}
		}
	} catch (thrown) {
		if (thrown instanceof UsageError) return complain(usageErrorText(thrown, name));
		throw thrown;
	}
}

/** Called by this name it is what `rkat rpc` is. */
function withOwnName(executable: string, argv: readonly string[]): readonly string[] {
	return path.basename(executable) === "rkat-rpc" ? ["rpc", ...argv] : argv;
}

function print(text: string): number {
	process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
	return 0;
}

function complain(text: string): number {
	process.stderr.write(text.endsWith("\n") ? text : `${text}\n`);
	return 2;
}
