import { fstatSync } from "node:fs";
import path from "node:path";
import { isatty } from "node:tty";
import { errorText, KernelError } from "../base/errors.ts";
import type { Installation } from "../host/installation.ts";
import { type CommandLine, parseCommandLine, type ServeOptions } from "./arguments/command-line.ts";
import { toHelpfulCommand } from "./arguments/commands.ts";
import { toConventions } from "./arguments/conventions.ts";
import { withImpliedCommand } from "./arguments/executable-name.ts";
import type { ChatFlags } from "./arguments/options/chat-options.ts";
import type { CodexAction } from "./arguments/options/codex-options.ts";
import { toServerStart } from "./arguments/server-start.ts";
import { permissionsFailureCode, UsageError, usageErrorText, usageExitCode } from "./arguments/usage-error.ts";
import { withOutput } from "./command-output.ts";
import { createPackageInstallation } from "./installation/package.ts";
import { exitSoon } from "./process/process-exit.ts";
import { handleStopSignals, stopSignals } from "./process/stop-signals.ts";

function isTerminal(descriptor: number): boolean {
	try {
		return fstatSync(descriptor).isCharacterDevice() && isatty(descriptor);
	} catch {
		return false;
	}
}

export { createPackageInstallation, exitSoon };

export async function main(executable: string, argv: readonly string[], installation: Installation): Promise<number> {
	const words = withImpliedCommand(executable, argv);
	try {
		const command = parseCommandLine(words, toConventions(executable, process.env));
		switch (command.kind) {
			case "serve":
				return await startServer(executable, command.options, installation);
			case "print": {
				// A script must not see success, no matter how early the program is stopped.
				handleStopSignals((signal) => void exitSoon(stopSignals[signal]));
				const { runPrint } = await import("./print/print.ts");
				return await runPrint(executable, command.options, installation);
			}
			case "claude": {
				const { runClaude } = await import("./claude/claude.ts");
				return await runClaude(executable, command.options, command.flags, installation);
			}
			case "gateway": {
				const { runGateway } = await import("./gateway/gateway.ts");
				return await runGateway(executable, command.options, command.flags, installation);
			}
			case "chat":
				return await (await import("./chat.ts")).runChat(executable, command.options, command.flags, installation);
			case "worker": {
				const { runClusterWorker } = await import("./cluster/worker.ts");
				return await runClusterWorker(executable, command.options, command.flags, installation);
			}
			case "fake":
				return await (await import("./fake/fake.ts")).runFake(command.call);
			case "record":
				return await (await import("./record/record.ts")).runRecord(command.typed);
			case "codex":
				return await runCodex(executable, command.action, installation);
			case "task-worker":
				return await (await import("./task-worker.ts")).runWorker(command.flags);
			case "help":
			case "version":
			case "setup":
			case "info":
			case "completion":
			case "doctor":
			case "conformance":
			case "docs":
			case "export":
			case "sessions":
			case "store":
			case "plugin":
			case "mcp":
			case "login":
			case "logout":
				return await withOutput(() => runCommand(executable, command, installation));
			case "replay":
				return await withOutput(() => runCommand(executable, command, installation), {
					failureCode: 2,
					codeIsAnswer: true,
				});
			case "permissions":
				return await withOutput(() => runCommand(executable, command, installation), {
					failureCode: permissionsFailureCode,
					codeIsAnswer: true,
				});
		}
	} catch (thrown) {
		if (thrown instanceof UsageError) {
			const helpful = toHelpfulCommand(words);
			// The executable name may imply the command, which the user then did not type.
			const shown = words.length > argv.length ? null : helpful;
			return complain(usageErrorText(thrown, path.basename(executable), shown), usageExitCode(helpful));
		}
		// For example unreadable settings or an unresponsive database. Other errors are bugs.
		if (thrown instanceof KernelError) return complain(`Error: ${errorText(thrown)}`, 1);
		throw thrown;
	}
}

async function startServer(executable: string, options: ServeOptions, installation: Installation): Promise<number> {
	const start = toServerStart(options, executable, isTerminal(0));
	switch (start.kind) {
		case "explain":
			if (isTerminal(1) && process.env["TERM"] !== "dumb") {
				const session = toChatSession(options.session);
				return await (await import("./chat.ts")).runChat(executable, options, { plain: false, session }, installation);
			}
			return print((await import("./arguments/help.ts")).startText(path.basename(executable)));
		case "list-sessions": {
			const { listSessions } = await import("./sessions/session-choice.ts");
			return await withOutput(() => listSessions(executable, start.flag, options));
		}
		case "serve":
			return await (await import("./serve.ts")).runServer(executable, start.options, installation);
	}
}

function toChatSession(session: ServeOptions["session"]): ChatFlags["session"] {
	if (session.kind === "last") return "last";
	return "id" in session ? { id: session.id } : null;
}

async function runCodex(executable: string, action: CodexAction, installation: Installation): Promise<number> {
	switch (action.name) {
		case "version":
			return await withOutput(async () => print((await import("./version.ts")).codexVersionText()));
		case "app-server":
			return await (await import("./codex/app-server.ts")).runAppServer(executable, action.config, installation);
		case "exec": {
			handleStopSignals((signal) => void exitSoon(stopSignals[signal]));
			return await (await import("./codex/exec.ts")).runCodexExec(executable, action.options, installation);
		}
	}
}

type PrintingCommand = Exclude<
	CommandLine,
	{ kind: "chat" | "codex" | "claude" | "fake" | "serve" | "gateway" | "worker" | "print" | "record" | "task-worker" }
>;

async function runCommand(executable: string, command: PrintingCommand, installation: Installation): Promise<number> {
	const name = path.basename(executable);
	switch (command.kind) {
		case "help":
			return print((await import("./arguments/help.ts")).helpText(name, command.command));
		case "version":
			return print((await import("./version.ts")).versionText(executable));
		case "info": {
			const { infoText } = await import("./info.ts");
			const model = await (await import("./model-source.ts")).describeModelSource();
			if (!command.json) return print(infoText(false, model));
			const { describeSandbox } = await import("./sandbox-status.ts");
			const { describeStore } = await import("./store/store-status.ts");
			return print(infoText(true, model, await describeSandbox(), await describeStore()));
		}
		case "setup":
			return await (await import("./setup/setup.ts")).runSetup(name);
		case "completion": {
			const { completionText } = await import("./completion/completion.ts");
			return print(completionText(command.shell, process.env["SHELL"] ?? "", name));
		}
		case "doctor":
			return await (await import("./doctor/doctor.ts")).runDoctor(command.json, command.options, installation);
		case "conformance":
			return await (await import("./conformance/conformance.ts")).runConformance(command.call, installation);
		case "docs":
			return await (await import("./docs.ts")).runDocs(command.page, installation);
		case "export":
			return await (await import("./sessions/session-export.ts")).runExport(executable, command.options);
		case "replay":
			return await (await import("./sessions/session-replay.ts")).runReplay(command.subject);
		case "sessions":
			return await (await import("./sessions/sessions.ts")).runSessions(executable, command.action, installation);
		case "store":
			return await (await import("./store/store.ts")).runStore(command.action);
		case "plugin":
			return await (await import("./plugin/plugin.ts")).runPlugin(command.action);
		case "mcp":
			return await (await import("./mcp/mcp.ts")).runMcp(executable, command.action);
		case "permissions":
			return await (await import("./permissions/permissions.ts")).runPermissions(command.action);
		case "login":
		case "logout":
			// A sign-in must not look successful, no matter how early it is stopped.
			handleStopSignals(() => void exitSoon(1));
			return await (await import("./sign-in/login.ts")).runLogin(command.kind, command.json);
	}
}

function print(text: string): number {
	process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
	return 0;
}

function complain(text: string, exitCode = 2): number {
	process.stderr.write(text.endsWith("\n") ? text : `${text}\n`);
	return exitCode;
}
