// Serving on stdio: puts the kernel together from command line, environment and settings, and sees to its end.
import { homedir, type as osType } from "node:os";
import path from "node:path";
import { sleep, systemClock } from "../base/clock.ts";
import { errorText } from "../base/errors.ts";
import { randomIdentifiers } from "../base/ids.ts";
import { redactSecrets } from "../base/redaction.ts";
import { ConfigurationError } from "../config/configuration-error.ts";
import { readConfiguration } from "../config/read-config.ts";
import type { AgentDefinition } from "../definitions/agent-definition.ts";
import { createDiskFiles } from "../files/disk-files.ts";
import type { Files } from "../files/port.ts";
import { withoutSync } from "../files/without-sync.ts";
import { builtInAgents } from "../kernel/built-in-agents.ts";
import type { SessionOptions, Surroundings } from "../kernel/compose.ts";
import { Kernel } from "../kernel/kernel.ts";
import type { Session } from "../kernel/session.ts";
import { protocolVersion } from "../messages/protocol-version.ts";
import { createProcesses } from "../processes/children.ts";
import { serve } from "../server/serve.ts";
import { createDiskStore } from "../store/disk-store.ts";
import { isSessionId } from "../store/work-dir.ts";
import { createStdioTransport } from "../transports/stdio.ts";
import type { ServeOptions } from "./command-line.ts";
import { environmentVariables } from "./environment.ts";
import { createLogFile, type LogFile } from "./log-file.ts";
import { checkDirectory, checkFile, checkWorkDir, currentDirectory, type Place, shareDirectory } from "./paths.ts";
import { UsageError } from "./usage-error.ts";
import { productName, productVersion } from "./version.ts";

/** Milliseconds for everything that is done between the end of serving and the end of the process; 2 s with its exit. */
const shutdownBudget = 1900;

/** Milliseconds of them after which a client that does not read is not waited for any more. */
const readingBudget = 1500;

/** Milliseconds after the start at which the log's writer is loaded. */
const logOpeningDelay = 100;

/** Serves until the client is gone; returns the exit code. Throws UsageError. */
export async function runServer(executable: string, options: ServeOptions, packageDir: string): Promise<number> {
	const place: Place = { currentDir: currentDirectory(), home: homedir() };
	const environment = environmentVariables();
	const shareDir = shareDirectory(environment, place);
	const log = createLogFile(path.join(shareDir, "logs", "agentwire.log"), options.debug);
	const stopping = new AbortController();
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
		process.removeAllListeners(signal);
		process.on(signal, () => stopping.abort());
	}
	guardProcess(stopping, log);
	const started = await start(options, place, { environment, shareDir, packageDir }, log).catch((thrown: unknown) => {
		log.error("The start failed.", { error: thrown });
		return startupFailure(thrown);
	});
	if ("text" in started) {
		await log.open();
		log.flush();
		process.stderr.write(`${started.text}\n`);
		return started.code;
	}
	// Loaded once the first answers are out: the start does not wait for it.
	setTimeout(() => void log.open(), logOpeningDelay).unref();
	return await serveSession(executable, started.kernel, started.session, stopping, log);
}

/** Where the program, its settings and its person are. */
interface Installation {
	readonly environment: Readonly<Record<string, string>>;
	readonly shareDir: string;
	readonly packageDir: string;
}

async function start(
	options: ServeOptions,
	place: Place,
	{ environment, shareDir, packageDir }: Installation,
	log: LogFile,
): Promise<{ readonly kernel: Kernel; readonly session: Session }> {
	const disk = createDiskFiles();
	const workDir = await checkWorkDir(options.workDir, place, disk);
	const checkAll = (flag: string, typed: readonly string[]) =>
		Promise.all(typed.map((directory) => checkDirectory(flag, directory, place, disk)));
	const additionalDirs = await checkAll("--add-dir", options.additionalDirs);
	const skillsDirs = await checkAll("--skills-dir", options.skillsDirs);
	const agentFile = options.agentFile === null ? null : await checkFile("--agent-file", options.agentFile, place, disk);
	const { configuration } = await readConfiguration(await toSource(options, place, shareDir, disk), disk, log);
	const files = configuration.agentwire.sync === "off" ? withoutSync(disk) : disk;
	const surroundings: Surroundings = {
		environment,
		home: place.home,
		shareDir,
		builtInSkillsDir: path.join(packageDir, "skills"),
		os: osType() === "Darwin" ? "macOS" : osType(),
		files,
		processes: createProcesses({
			openSink: (file) => openOutput(files, file),
			contain: configuration.agentwire.contain,
			log,
		}),
		clock: systemClock,
		identifiers: randomIdentifiers,
		random: Math.random,
		log,
		trace: (line) => void process.stderr.write(`${line}\n`),
		version: productVersion,
	};
	const agent =
		agentFile === null ? builtInAgents[options.agent] : await loadAgentFile(agentFile, workDir, surroundings);
	const store = createDiskStore({ files, shareDir, log, clock: systemClock, protocolVersion });
	const kernel = new Kernel({ store, configuration, surroundings });
	if (options.prompt !== null) log.warn("A prompt on the command line is not used by a server.");
	return { kernel, session: await openSession(kernel, workDir, { ...options, additionalDirs, skillsDirs }, agent) };
}

async function loadAgentFile(file: string, workDir: string, surroundings: Surroundings): Promise<AgentDefinition> {
	const { loadAgent } = await import("../kernel/load-agent.ts");
	return await loadAgent(file, workDir, surroundings);
}

async function openOutput(files: Files, file: string) {
	await files.makeDirectory(path.dirname(file));
	return await files.openAppend(file);
}

async function openSession(
	kernel: Kernel,
	workDir: string,
	options: ServeOptions,
	agent: AgentDefinition,
): Promise<Session> {
	const sessionOptions: SessionOptions = {
		model: options.model,
		thinking: options.thinking,
		yolo: options.yolo,
		plan: options.plan,
		afk: options.afk,
		additionalDirs: options.additionalDirs,
		skillsDirs: options.skillsDirs,
		maxSteps: options.maxStepsPerTurn,
		maxAttempts: options.maxRetriesPerStep,
		maxLoopIterations: options.maxLoopIterations,
		agent,
	};
	switch (options.session.kind) {
		case "new":
			return await kernel.create(workDir, sessionOptions);
		case "id":
			if (!isSessionId(options.session.id)) {
				throw new UsageError(
					`--session: ${JSON.stringify(options.session.id)} cannot be the id of a session: an id is one name without slashes, of at most 200 bytes.`,
				);
			}
			return await kernel.openOrCreate(workDir, options.session.id, sessionOptions);
		case "anywhere": {
			const { id } = options.session;
			const home = await kernel.workDirOf(id);
			if (home === null) throw new Error(`no work directory listed in kimi.json has a session ${id}`);
			return await kernel.openOrCreate(home, id, sessionOptions);
		}
		case "last": {
			const id = await kernel.lastSessionId(workDir);
			if (id === null) throw new UsageError(`--continue: there is no earlier session in ${workDir}.`);
			return await kernel.openOrCreate(workDir, id, sessionOptions);
		}
	}
}

async function serveSession(
	executable: string,
	kernel: Kernel,
	session: Session,
	stopping: AbortController,
	log: LogFile,
): Promise<number> {
	const server = { name: productName, version: productVersion };
	const serving = serve({ transport: createStdioTransport(), session, server, log, signal: stopping.signal });
	const end = await serving.ended;
	const code = () => (process.exitCode === 1 || end === "output-gone" || serving.isOutputGone() ? 1 : 0);
	const deadline = setTimeout(() => {
		log.error("Closing took too long; what was left is given up.", { budget: shutdownBudget });
		log.flush();
		process.exit(code());
	}, shutdownBudget);
	await Promise.race([serving.finish(), sleep(systemClock, readingBudget, new AbortController().signal)]);
	const { hasHistory } = session.snapshot();
	await kernel.close();
	clearTimeout(deadline);
	if (hasHistory) process.stderr.write(`\nTo resume this session: ${path.basename(executable)} -r ${session.id}\n`);
	await log.open();
	log.flush();
	return code();
}

/** A defect must not take the client's work down: what nobody caught is logged, and ends serving in good order at worst. */
function guardProcess(stopping: AbortController, log: LogFile): void {
	process.on("unhandledRejection", (reason) => log.error("A rejection was not handled.", { error: reason }));
	process.on("uncaughtException", (thrown) => {
		log.error("An exception was not caught; serving ends.", { error: thrown });
		process.exitCode = 1;
		stopping.abort();
	});
	// Text for people may have nobody to read it.
	process.stderr.on("error", () => {});
}

async function toSource(options: ServeOptions, place: Place, shareDir: string, files: Files) {
	switch (options.configuration.kind) {
		case "default":
			return { kind: "default", shareDir } as const;
		case "text":
			return options.configuration;
		case "file":
			return {
				kind: "file",
				path: await checkFile("--config-file", options.configuration.path, place, files),
			} as const;
	}
}

function startupFailure(thrown: unknown): { readonly code: number; readonly text: string } {
	if (thrown instanceof UsageError) throw thrown;
	if (thrown instanceof ConfigurationError)
		return { code: thrown.category === "text" ? 2 : 1, text: redactSecrets(thrown.message) };
	return { code: 1, text: redactSecrets(`agentwire could not start: ${errorText(thrown)}`) };
}
