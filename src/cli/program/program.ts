import path from "node:path";
import { never, unlessLate } from "../../base/abort.ts";
import { sleep, systemClock } from "../../base/clock.ts";
import { KernelError } from "../../base/errors.ts";
import { redactSecrets } from "../../base/redaction.ts";
import type { LogFile } from "../../host/log/log-file.ts";
import type { Session } from "../../kernel/session/session.ts";
import { fileFailureText } from "../../ports/files/file-failure.ts";
import { ConfigurationError, type ConfigurationErrorCategory } from "../../settings/config/configuration-error.ts";
import type { NamedSession, ProgramOptions, RealmOptions } from "../arguments/command-line.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { endInTime } from "../process/process-exit.ts";
import { afterStart, type ProgramProcess } from "../process/program-process.ts";
import { flushNotices, writeNotice } from "../process/standard-error.ts";
import { type HostStart, prepare, type SessionMode } from "./preparation.ts";
import { openSession } from "./session-choice.ts";
import { SoleSession } from "./sole-session.ts";
import type { StartedKernel } from "./started-kernel.ts";

/** Milliseconds of shutdown spent waiting for a client that does not read. */
const readingBudget = 1500;

/** Shutdown deadline for sending spans, and the minimum time for it, in milliseconds. */
const telemetryBudget = 1600;
const leastTelemetryTime = 100;

/** Milliseconds an aborted start gets to end. */
const startPatience = 1000;

export interface Program extends StartedKernel {
	readonly session: Session;
}

export interface FailedStart {
	readonly exitCode: number;
}

/** Its start hooks may still run. Reports failures on stderr; throws UsageError. Null if the aborted start hung. */
export async function startProgram(
	executable: string,
	options: ProgramOptions & { readonly session: NamedSession },
	mode: SessionMode,
	taken: ProgramProcess,
	stopped: AbortSignal,
	start: HostStart = {},
): Promise<Program | FailedStart | null> {
	return await reported(taken, stopped, async () => {
		const { listen, ...prepared } = await prepare(executable, options, mode, taken, start);
		const { kernel, workDir, sessionOptions } = prepared;
		const session = await openSession(kernel, workDir, options.session, { ...sessionOptions, opensEarly: true });
		listen(new SoleSession(session));
		return { ...prepared, session };
	});
}

export async function startHost(
	executable: string,
	options: ProgramOptions & Partial<RealmOptions>,
	taken: ProgramProcess,
	stopped: AbortSignal,
	start: HostStart = {},
): Promise<StartedKernel | FailedStart | null> {
	return await reported(taken, stopped, () => {
		const { expectsClients = false } = start;
		return prepare(executable, options, { unattended: false, expectsClients }, taken, start);
	});
}

async function reported<Started extends object>(
	{ log }: ProgramProcess,
	stopped: AbortSignal,
	start: () => Promise<Started>,
): Promise<(Started & { readonly log: LogFile }) | FailedStart | null> {
	const starting = start().catch((thrown: unknown) => {
		log.error("The start failed.", { error: thrown });
		return startupFailure(thrown);
	});
	const started = await unlessLate(starting, stopped, startPatience, systemClock);
	if (started === null) {
		log.warn("A start that was stopped did not end and is given up.");
		await log.flush();
		return null;
	}
	if (isFailure(started)) {
		writeNotice(`${started.text}\n`);
		await log.flush();
		return { exitCode: started.code };
	}
	// Loaded after the first responses, so that it does not delay startup.
	setTimeout(() => void log.open(), afterStart).unref();
	return { ...started, log };
}

export interface ProgramEnd {
	finish(): Promise<void>;
	exitCode(): number;
	/** Whether nobody would see the resume hint. */
	isUnheard?(): boolean;
}

/** Shuts down within two seconds; returns the exit code. The resume hint names `executable`. */
export async function endProgram(
	executable: string,
	{ kernel, session, telemetry, log, endListening }: StartedKernel & { readonly session: Session | null },
	{ finish, exitCode, isUnheard = () => false }: ProgramEnd,
): Promise<number> {
	endInTime(exitCode, log);
	const begun = performance.now();
	// Who is attached continues without this process.
	endListening();
	await Promise.race([finish(), sleep(systemClock, readingBudget, never)]);
	const resumable = session?.hasHistory === true ? session.id : null;
	const left = Math.max(leastTelemetryTime, telemetryBudget - (performance.now() - begun));
	await Promise.all([kernel.close(), telemetry?.end(left)]);
	const isHintDue = resumable !== null && !isUnheard();
	if (isHintDue) writeNotice(`\nTo resume this session: ${path.basename(executable)} -r ${resumable}\n`);
	await Promise.all([log.flush(), flushNotices()]);
	return exitCode();
}

/** Invalid settings reported as usage errors (agent-kernel §1.2). */
const usageCategories: ReadonlySet<ConfigurationErrorCategory> = new Set(["text", "mcp-syntax"]);

interface StartupFailure {
	readonly code: number;
	readonly text: string;
}

function isFailure(started: object | StartupFailure): started is StartupFailure {
	return "text" in started;
}

function startupFailure(thrown: unknown): StartupFailure {
	if (thrown instanceof UsageError) throw thrown;
	if (thrown instanceof ConfigurationError)
		return { code: usageCategories.has(thrown.category) ? 2 : 1, text: thrown.message };
	if (thrown instanceof KernelError && thrown.code === "session-not-found") return { code: 1, text: thrown.message };
	return { code: 1, text: redactSecrets(`agentwire could not start: ${fileFailureText(thrown)}`) };
}
