// Entry of the executable: reads the command line and hands over. Everything but serving is loaded when wanted.
import path from "node:path";
import { type CommandLine, parseCommandLine, type ServeOptions } from "./command-line.ts";
import { withOutput } from "./command-output.ts";
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
	try {
		const command = parseCommandLine(withOwnName(executable, argv));
		switch (command.kind) {
			case "serve":
				return await startServer(executable, command.options, packageDir);
			case "print": {
				// A script must not take being stopped for success, however early it comes.
				handleStopSignals((signal) => void exitSoon(stopSignals[signal]));
				const { runPrint } = await import("./print/print.ts");
				return await runPrint(executable, command.options, packageDir);
			}
			case "task-worker":
				return await (await import("./task-worker.ts")).runWorker(command.flags);
			case "help":
			case "version":
			case "info":
			case "completion":
			case "export":
			case "plugin":
			case "mcp":
			case "login":
			case "logout":
				return await withOutput(() => runCommand(executable, command));
		}
	} catch (thrown) {
		if (thrown instanceof UsageError) return complain(usageErrorText(thrown, path.basename(executable)));
		throw thrown;
	}
}

async function startServer(executable: string, options: ServeOptions, packageDir: string): Promise<number> {
	const start = toServerStart(options, executable, process.stdin.isTTY);
	switch (start.kind) {
		case "explain":
			return complain((await import("./help.ts")).startText(path.basename(executable)));
		case "list-sessions": {
			const { listSessions } = await import("./session-choice.ts");
			return await withOutput(() => listSessions(executable, start.flag, options));
		}
		case "serve":
			return await (await import("./serve.ts")).runServer(executable, start.options, packageDir);
	}
}

type PrintingCommand = Exclude<CommandLine, { kind: "serve" | "print" | "task-worker" }>;

/** Carries out a command that prints and ends. */
async function runCommand(executable: string, command: PrintingCommand): Promise<number> {
	const name = path.basename(executable);
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
			return await (await import("./plugin/plugin.ts")).runPlugin(command.action);
		case "mcp":
			return await (await import("./mcp/mcp.ts")).runMcp(executable, command.action);
		case "login":
		case "logout":
			// A sign-in that was stopped must not be taken for one, however early it was.
			handleStopSignals(() => void exitSoon(1));
			return await (await import("./login.ts")).runLogin(command.kind, command.json);
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
