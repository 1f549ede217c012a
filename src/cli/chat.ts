import { createInterface } from "node:readline/promises";
import { Kernel } from "../client/client.ts";
import { InProcessTransport } from "../frontends/shared/in-process.ts";
import type { Installation } from "../host/installation.ts";
import { productName, productVersion } from "../host/product.ts";
import { nobody } from "../kernel/session/fault-owner.ts";
import type { ProgramOptions } from "./arguments/command-line.ts";
import type { ChatFlags } from "./arguments/options/chat-options.ts";
import { UsageError } from "./arguments/usage-error.ts";
import { takeStoppableProcess } from "./process/stoppable-process.ts";
import { endProgram, startHost } from "./program/program.ts";

export async function runChat(
	executable: string,
	options: ProgramOptions,
	{ plain, session }: ChatFlags,
	installation: Installation,
): Promise<number> {
	const { taken, stopping, setFaultOwner } = takeStoppableProcess(options, installation);
	const started = await startHost(executable, options, taken, stopping.signal, { expectsClients: true });
	if (started === null) return 0;
	if ("exitCode" in started) return started.exitCode;
	const host = await started.openHost(null, null, { attaches: true });
	setFaultOwner(() => host.faultOwner() ?? nobody);
	const server = { name: productName, version: productVersion };
	const kernel = new Kernel(new InProcessTransport({ sessions: host.sessions, server }, async () => {}), {
		client: { name: "terminal", version: productVersion },
	});
	const place = { kernel, workDir: started.workDir, sessionId: await toSessionId(session, kernel, started.workDir) };
	const isPlain = plain || process.env["TERM"] === "dumb" || process.stdout.isTTY !== true;
	const ended = isPlain ? chatInLines(place) : chatOnScreen(place, process.env["NO_COLOR"]);
	const stopped = new Promise<null>((resolve) => stopping.signal.addEventListener("abort", () => resolve(null)));
	const resumable = await Promise.race([ended, stopped]);
	if (resumable !== null)
		process.stdout.write(`To continue: ${executable.split("/").at(-1)} chat --session ${resumable}\n`);
	return await endProgram(
		executable,
		{ ...started, session: null },
		{
			finish: () => host.sessions.stop(),
			exitCode: () => (process.exitCode === 1 ? 1 : 0),
		},
	);
}

async function toSessionId(session: ChatFlags["session"], kernel: Kernel, workDir: string): Promise<string | null> {
	if (session !== "last") return session?.id ?? null;
	for await (const { id, archivedAt } of kernel.sessions({ workDir })) if (archivedAt === null) return id;
	throw new UsageError(`--continue: there is no earlier session in ${workDir}.`);
}

interface ChatPlace {
	readonly kernel: Kernel;
	readonly workDir: string;
	readonly sessionId: string | null;
}

async function chatOnScreen(place: ChatPlace, noColor: string | undefined): Promise<string | null> {
	const [{ ProcessTerminal }, { Chat }, { createTheme }] = await Promise.all([
		import("@mariozechner/pi-tui"),
		import("../frontends/terminal/chat.ts"),
		import("../frontends/terminal/theme.ts"),
	]);
	const chat = new Chat({
		...place,
		terminal: new ProcessTerminal(),
		theme: createTheme(noColor === undefined || noColor === ""),
		version: productVersion,
		now: () => performance.now(),
	});
	return await chat.run();
}

async function chatInLines(place: ChatPlace): Promise<string | null> {
	const { runPlainChat } = await import("../frontends/terminal/plain-chat.ts");
	const lines = createInterface({
		input: process.stdin,
		output: process.stdout,
		terminal: process.stdin.isTTY === true,
	});
	const waiting: string[] = [];
	let wake = () => {};
	let isOver = false;
	lines.on("line", (line) => {
		waiting.push(line);
		wake();
	});
	lines.on("close", () => {
		isOver = true;
		wake();
	});
	try {
		return await runPlainChat({
			...place,
			async readLine(prompt) {
				process.stdout.write(prompt);
				while (waiting.length === 0 && !isOver) {
					await new Promise<void>((resolve) => {
						wake = resolve;
					});
				}
				return waiting.shift() ?? null;
			},
			write: (text) => void process.stdout.write(text),
			onInterrupt(callback) {
				lines.on("SIGINT", callback);
				return () => lines.off("SIGINT", callback);
			},
		});
	} finally {
		lines.close();
	}
}
