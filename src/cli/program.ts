// What every mode of the program has in common: the kernel put together from command line, environment and settings,
// and the end in good order.
import { type as osType } from "node:os";
import path from "node:path";
import { sleep, systemClock } from "../base/clock.ts";
import { errorText } from "../base/errors.ts";
import { randomIdentifiers } from "../base/ids.ts";
import { redactSecrets } from "../base/redaction.ts";
import type { Configuration } from "../config/configuration.ts";
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
import { createNetwork } from "../network/network.ts";
import { createProcesses } from "../processes/children.ts";
import { createDiskStore } from "../store/disk-store.ts";
import { isSessionId } from "../store/work-dir.ts";
import type { ProgramOptions, SessionChoice } from "./command-line.ts";
import type { LogFile } from "./log-file.ts";
import { checkDirectory, checkFile, checkWorkDir, type Place, toAbsolutePath } from "./paths.ts";
import type { ProgramProcess } from "./program-process.ts";
import { createWorkerStarter } from "./start-worker.ts";
import { UsageError } from "./usage-error.ts";
import { productVersion } from "./version.ts";

/** Milliseconds for everything that is done between the end of the work and the end of the process; 2 s with its exit. */
const shutdownBudget = 1900;

/** Milliseconds of them after which a client that does not read is not waited for any more. */
const readingBudget = 1500;

/** Milliseconds after the start at which the log's writer is loaded. */
const logOpeningDelay = 100;

/** A program that has started. */
export interface Program {
	readonly kernel: Kernel;
	readonly session: Session;
	readonly configuration: Configuration;
	readonly log: LogFile;
}

/** A start that failed and was told. */
export interface FailedStart {
	readonly exitCode: number;
}

/** Opens the session that the options name. A failure is told on stderr; throws UsageError. */
export async function startProgram(
	executable: string,
	options: ProgramOptions,
	mode: Pick<SessionOptions, "unattended">,
	taken: ProgramProcess,
): Promise<Program | FailedStart> {
	const { log } = taken;
	const started = await start(executable, options, mode, taken).catch((thrown: unknown) => {
		log.error("The start failed.", { error: thrown });
		return startupFailure(thrown);
	});
	if ("text" in started) {
		await log.open();
		log.flush();
		process.stderr.write(`${started.text}\n`);
		return { exitCode: started.code };
	}
	// Loaded once the first answers are out: the start does not wait for it.
	setTimeout(() => void log.open(), logOpeningDelay).unref();
	return { ...started, log };
}

/** What is to be done at the end, and with which exit code. */
export interface ProgramEnd {
	/** Stops the session and hands out what is still owed to whoever reads; not waited for beyond its time. */
	finish(): Promise<void>;
	exitCode(): number;
	/** Whether nobody is left to be told how to go on. */
	isUnheard?(): boolean;
}

/** Ends in good order within two seconds; gives the exit code. `executable` is named in the hint how to go on. */
export async function endProgram(
	executable: string,
	{ kernel, session, log }: Program,
	{ finish, exitCode, isUnheard = () => false }: ProgramEnd,
): Promise<number> {
	const deadline = setTimeout(() => {
		log.error("Closing took too long; what was left is given up.", { budget: shutdownBudget });
		log.flush();
		process.exit(exitCode());
	}, shutdownBudget);
	await Promise.race([finish(), sleep(systemClock, readingBudget, new AbortController().signal)]);
	const { hasHistory } = session.snapshot();
	await kernel.close();
	clearTimeout(deadline);
	const isHintDue = hasHistory && !isUnheard();
	if (isHintDue) process.stderr.write(`\nTo resume this session: ${path.basename(executable)} -r ${session.id}\n`);
	await log.open();
	log.flush();
	return exitCode();
}

async function start(
	executable: string,
	options: ProgramOptions,
	mode: Pick<SessionOptions, "unattended">,
	{ place, environment, shareDir, packageDir, log }: ProgramProcess,
): Promise<Omit<Program, "log">> {
	const disk = createDiskFiles();
	const workDir = await checkWorkDir(options.workDir, place, disk);
	const checkAll = (flag: string, typed: readonly string[]) =>
		Promise.all(typed.map((directory) => checkDirectory(flag, directory, place, disk)));
	const additionalDirs = await checkAll("--add-dir", options.additionalDirs);
	const skillsDirs = await checkAll("--skills-dir", options.skillsDirs);
	const agentFile = options.agentFile === null ? null : await checkFile("--agent-file", options.agentFile, place, disk);
	const { configuration } = await readConfiguration(await toSource(options, place, shareDir, disk), disk, log);
	const files = configuration.agentwire.sync === "off" ? withoutSync(disk) : disk;
	const { caFile } = configuration.agentwire;
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
		startWorker: createWorkerStarter(packageDir, environment, configuration.agentwire.contain),
		network: createNetwork({
			environment,
			caFile: caFile === null ? null : toAbsolutePath(caFile, place),
			readFile: (file) => disk.read(file),
			clock: systemClock,
			log,
		}),
		clock: systemClock,
		identifiers: randomIdentifiers,
		random: Math.random,
		log,
		trace: (line) => void process.stderr.write(`${line}\n`),
		version: productVersion,
		loginCommand: `${path.basename(executable)} login`,
	};
	const agent =
		agentFile === null ? builtInAgents[options.agent] : await loadAgentFile(agentFile, workDir, surroundings);
	const store = createDiskStore({ files, shareDir, log, clock: systemClock, protocolVersion });
	const kernel = new Kernel({ store, configuration, surroundings });
	const sessionOptions: SessionOptions = {
		model: options.model,
		thinking: options.thinking,
		yolo: options.yolo,
		plan: options.plan,
		afk: options.afk,
		...mode,
		additionalDirs,
		skillsDirs,
		maxSteps: options.maxStepsPerTurn,
		maxAttempts: options.maxRetriesPerStep,
		maxLoopIterations: options.maxLoopIterations,
		agent,
	};
	return { kernel, configuration, session: await openSession(kernel, workDir, options.session, sessionOptions) };
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
	choice: SessionChoice,
	sessionOptions: SessionOptions,
): Promise<Session> {
	switch (choice.kind) {
		case "new":
			return await kernel.create(workDir, sessionOptions);
		case "id":
			if (!isSessionId(choice.id)) {
				throw new UsageError(
					`--session: ${JSON.stringify(choice.id)} cannot be the id of a session: an id is one name without slashes, of at most 200 bytes.`,
				);
			}
			return await kernel.openOrCreate(workDir, choice.id, sessionOptions);
		case "anywhere": {
			const { id } = choice;
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

async function toSource(options: ProgramOptions, place: Place, shareDir: string, files: Files) {
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
