// Runs commands to their end: deadline, abort, output, and cleanup of all their processes. child-group.ts has the
// group, output-capture.ts the output, stragglers.ts what escaped.
import type { Readable } from "node:stream";
import { never } from "../../base/abort.ts";
import { type Clock, sleep, systemClock } from "../../base/clock.ts";
import { createDeferred } from "../../base/deferred.ts";
import { type Identifiers, randomIdentifiers } from "../../base/ids.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { type ChildGroup, type GroupEnd, type StartedGroup, startGroup, startPace } from "./child-group.ts";
import { createStdioCapture, openStdio } from "./child-stdio.ts";
import { type ConfinedStart, prepareConfinement, replacedMeanwhile } from "./confinement/confinement.ts";
import { startContainedGroup } from "./contained-group.ts";
import {
	type Containment,
	filterDescriptor,
	findBubblewrap,
	findContainable,
	findTrustedBubblewrap,
} from "./containment.ts";
import { createOutputCapture, type OutputCapture, type OutputSource } from "./output-capture.ts";
import { createOutputForwarding } from "./output-forwarding.ts";
import type { Confinement, OpenOutputSink, Processes, RunOutcome, RunRequest } from "./port.ts";
import { sweepStragglers } from "./stragglers.ts";
import { startWatchdog, type Watchdog } from "./watchdog.ts";

export interface ProcessesOptions {
	/** Opens spill files; without it nothing is spilled. */
	readonly openSink?: OpenOutputSink;
	/** Milliseconds between TERM and KILL. Default 300. */
	readonly grace?: number;
	/** Milliseconds that the pipes may stay open after the command exited. Default 200. */
	readonly drain?: number;
	/** `auto` runs commands in a process id namespace where bwrap can create one. Default `off`. */
	readonly contain?: "auto" | "off";
	readonly clock?: Clock;
	readonly identifiers?: Identifiers;
	readonly log?: Log;
}

/** More than the capacity of two pipes (Linux: 64 KiB each, 1 MiB at most when a program enlarges one). */
const pipeCapacity = 2 * 1024 * 1024;

/** Milliseconds for bwrap to run a trivial command. */
const probeTimeout = 1000;
/** How often bwrap may take longer before it counts as not working: at first the machine may be busy. */
const mostSlowProbes = 3;

type Ended = RunOutcome["ended"];

const noOutput = { output: "", errorOutput: "", outputBytes: 0, truncated: false, spilledTo: null };

interface PipeReader {
	/** Settles when both pipes are closed. */
	readonly closed: Promise<unknown>;
	/** Bytes read so far. */
	received(): number;
	/** Whether reading is paused until earlier output is spilled. */
	isWaiting(): boolean;
	close(): void;
}

/** Reads both pipes into the capture, with backpressure from the capture. */
function readPipes(group: ChildGroup, capture: OutputCapture, { onOutput }: RunRequest): PipeReader {
	let received = 0;
	let waiting = 0;
	const read = (pipe: Readable, source: OutputSource) =>
		new Promise<void>((resolve) => {
			pipe.on("data", (bytes: Buffer) => {
				received += bytes.length;
				onOutput?.(source, bytes);
				const written = capture.push(source, bytes);
				if (written === null) return;
				waiting += 1;
				pipe.pause();
				void written.then(() => {
					waiting -= 1;
					pipe.resume();
				});
			});
			pipe.on("error", () => undefined);
			pipe.once("close", () => resolve());
		});
	return {
		closed: Promise.all([read(group.output, "output"), read(group.errors, "error")]),
		received: () => received,
		isWaiting: () => waiting > 0,
		close() {
			group.output.destroy();
			group.errors.destroy();
		},
	};
}

/** Waits for the work, at most so many milliseconds; false when the time ran out. */
async function within(clock: Clock, milliseconds: number, work: Promise<unknown>): Promise<boolean> {
	const withdrawal = new AbortController();
	const finished = work.then(() => true);
	const late = sleep(clock, milliseconds, withdrawal.signal).then(() => false);
	try {
		return await Promise.race([finished, late]);
	} finally {
		withdrawal.abort();
	}
}

/** Starts of a confined command of which others take a mount away. */
const startAttempts = 8;

/** Milliseconds before the second start; each further one waits for as much more. */
const startBackoff = 10;

/**
 * Whether bwrap, before it ran the command, missed something to mount: another process that works in the same directory has
 * just released a placeholder there; or something was replaced meanwhile.
 */
function missedMount({ ended }: RunOutcome): boolean {
	const missing = /\bbwrap: Can't (?:find source path|get type of source|bind mount) /;
	return ended.kind === "not-started" && (missing.test(ended.reason) || ended.reason.endsWith(replacedMeanwhile));
}

/**
 * Runs processes that live no longer than their run, and no longer than `endAll`. Children are started in groups of
 * their own.
 */
export function createProcesses(options: ProcessesOptions = {}): Processes {
	const clock = options.clock ?? systemClock;
	const identifiers = options.identifiers ?? randomIdentifiers;
	const log = options.log ?? silentLog;
	const grace = options.grace ?? 300;
	const drain = options.drain ?? 200;
	let slowProbes = 0;
	let containment: Promise<Containment | null> | null = options.contain === "auto" ? null : Promise.resolve(null);
	const running = new Map<Promise<RunOutcome>, () => void>();

	/** Waits for the command's own end, its deadline or the abort, whichever is first. */
	const waitForEnd = async (group: ChildGroup, request: RunRequest, signal: AbortSignal): Promise<Ended> => {
		const interrupted = createDeferred<Ended>();
		const abort = () => interrupted.resolve({ kind: "aborted" });
		const withdraw =
			request.timeout === undefined
				? () => undefined
				: clock.after(request.timeout, () => interrupted.resolve({ kind: "timed-out" }));
		signal.addEventListener("abort", abort, { once: true });
		if (signal.aborted) abort();
		try {
			return await Promise.race([group.exit, interrupted.promise]);
		} finally {
			withdraw();
			signal.removeEventListener("abort", abort);
		}
	};

	/**
	 * Reads the rest of the pipes. With every writer gone they end by themselves; only a process that escaped the sweep
	 * can hold them open, idle or writing for ever.
	 */
	const readRemainder = async (pipes: PipeReader): Promise<void> => {
		const start = pipes.received();
		for (let before = -1; before !== pipes.received() || pipes.isWaiting(); ) {
			before = pipes.received();
			if (await within(clock, drain, pipes.closed)) return;
			if (pipes.received() - start > pipeCapacity) break;
		}
		pipes.close();
	};

	const endEverything = async (group: ChildGroup, marker: string, request: RunRequest): Promise<GroupEnd> => {
		const end = await group.end(clock, grace, request.abortPending ?? never);
		const stubborn = end === "sealed" ? [] : await sweepStragglers(marker, clock);
		if (end === "alive" || stubborn.length > 0) {
			log.warn("Processes survived the end of their command", { file: request.file, stragglers: stubborn });
		}
		return end;
	};

	const start = async (
		request: RunRequest,
		marker: string,
		container: Containment | null,
		confined: ConfinedStart | null,
	): Promise<StartedGroup> => {
		const program = container === null ? null : findContainable(request);
		if (container !== null && program !== null) {
			return startContainedGroup(program, request, marker, container, confined);
		}
		if (confined === null) return startGroup(request, marker);
		return { ok: false, reason: `${request.file} is no program (working directory ${request.workDir})` };
	};

	/** Runs a command that must not run unconfined. */
	const carryOutConfined = async (
		request: RunRequest,
		confinement: Confinement,
		signal: AbortSignal,
	): Promise<RunOutcome> => {
		const refuse = (why: string): RunOutcome => ({
			ended: { kind: "not-started", reason: `The sandbox cannot be applied: ${why}` },
			...noOutput,
		});
		if (process.platform === "darwin") {
			if (confinement.network.kind === "proxy") return refuse("there is no proxy for sandboxes on macOS");
			const { toSeatbeltCommand, toSeatbeltProfile } = await import("./confinement/seatbelt-profile.ts");
			const command = toSeatbeltCommand(request.file, request.arguments, toSeatbeltProfile(confinement));
			return await carryOut({ ...request, ...command }, signal, null);
		}
		const bubblewrap = findTrustedBubblewrap(request.environment["PATH"], confinement);
		if (bubblewrap === null) return refuse("there is no bwrap on the PATH, outside of the writable directories");
		for (let attempt = 1; ; attempt += 1) {
			const prepared = prepareConfinement(confinement, filterDescriptor);
			const outcome = prepared.ok
				? await carryOut(request, signal, { bubblewrap }, prepared.start)
				: refuse(prepared.reason);
			if (attempt === startAttempts || !missedMount(outcome)) return outcome;
			await sleep(clock, attempt * startBackoff, signal);
		}
	};

	/** Tries bwrap, with the environment of the first command. */
	const findContainment = async ({ environment }: RunRequest): Promise<Containment | null> => {
		const bubblewrap = findBubblewrap(environment["PATH"]);
		if (bubblewrap === null) return null;
		const found: Containment = { bubblewrap };
		const probe = { file: "/bin/sh", arguments: ["-c", "exit 7"], workDir: "/", environment, outputLimit: 0 };
		const { ended } = await carryOut({ ...probe, timeout: probeTimeout }, never, found);
		if (ended.kind === "exited" && ended.exitCode === 7) return found;
		if (ended.kind === "timed-out") {
			slowProbes += 1;
			if (slowProbes < mostSlowProbes) {
				// This command runs without it; the next one tries again.
				containment = null;
				log.info("A command runs without containment: bwrap took too long to start", { bubblewrap, slowProbes });
				return null;
			}
		}
		log.warn("Commands run without containment: bwrap does not work here", { bubblewrap, ended });
		return null;
	};

	const captureFor = (request: RunRequest): OutputCapture => {
		const { outputLimit: limit, separateStderr: separate = false, spillPath, spillLimit, outputTo } = request;
		const { openSink } = options;
		if (request.conversation !== undefined) return createStdioCapture(request.conversation);
		if (outputTo !== undefined) return createOutputForwarding(outputTo, log);
		const spill =
			spillPath === undefined || openSink === undefined
				? null
				: { path: spillPath, limit: spillLimit ?? Number.POSITIVE_INFINITY, open: openSink };
		return createOutputCapture({ limit, separate, spill, log });
	};

	/** Starts the command and a watchdog for it. The command never runs unwatched. */
	const startWatched = async (
		request: RunRequest,
		marker: string,
		container: Containment | null,
		confined: ConfinedStart | null,
	): Promise<StartedGroup & { readonly watchdog: Watchdog | null }> => {
		const watch = () => startPace.run(() => startWatchdog(marker, log));
		// bwrap prepares a confined command meanwhile, which then waits for `begin`.
		const before = confined === null ? await watch() : null;
		const started = await start(request, marker, container, confined);
		if (!started.ok) return { ...started, watchdog: before };
		const watchdog = before ?? (await watch());
		watchdog.watch(started.group.id, confined?.placeholders ?? []);
		started.group.begin();
		return { ...started, watchdog };
	};

	const carryOut = async (
		request: RunRequest,
		signal: AbortSignal,
		container: Containment | null,
		confined: ConfinedStart | null = null,
	): Promise<RunOutcome> => {
		let isSealed = true;
		try {
			if (signal.aborted) return { ended: { kind: "aborted" }, ...noOutput };
			const marker = identifiers.hex(32);
			const started = await startWatched(request, marker, container, confined);
			const { watchdog } = started;
			if (!started.ok) {
				await watchdog?.dismiss(clock);
				return { ended: { kind: "not-started", reason: started.reason }, ...noOutput };
			}
			isSealed = false;
			const { group } = started;
			request.onStart?.(group.id);
			const capture = captureFor(request);
			const pipes = readPipes(group, capture, request);
			if (group.input !== null && request.conversation !== undefined) openStdio(request.conversation, group.input);
			else group.input?.end(request.input);
			const ended = await waitForEnd(group, request, signal);
			if (ended.kind === "exited" || ended.kind === "signalled") await within(clock, drain, pipes.closed);
			isSealed = (await endEverything(group, marker, request)) === "sealed";
			const dismissed = watchdog?.dismiss(clock);
			await readRemainder(pipes);
			await dismissed;
			return { ended, ...(await capture.finish()) };
		} finally {
			confined?.release(isSealed);
		}
	};

	return {
		async run(request, signal) {
			const end = new AbortController();
			const abort = () => end.abort();
			signal.addEventListener("abort", abort, { once: true });
			if (signal.aborted) abort();
			const { confinement } = request;
			const runUnconfined = async (): Promise<RunOutcome> => {
				containment ??= findContainment(request);
				return await carryOut(request, end.signal, await containment);
			};
			const run = confinement === undefined ? runUnconfined() : carryOutConfined(request, confinement, end.signal);
			running.set(run, abort);
			try {
				return await run;
			} finally {
				running.delete(run);
				signal.removeEventListener("abort", abort);
			}
		},
		async endAll() {
			while (running.size > 0) {
				for (const end of running.values()) end();
				await Promise.allSettled(running.keys());
			}
		},
	};
}
