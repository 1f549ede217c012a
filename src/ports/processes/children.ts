// Deadline, abort, output, and cleanup of all processes of a command.
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
	/** Opens spill files. Without it, output is not spilled. */
	readonly openSink?: OpenOutputSink;
	/** Milliseconds between TERM and KILL. Default 300. */
	readonly grace?: number;
	/** Milliseconds that pipes may stay open after the command exited. Default 200. */
	readonly drain?: number;
	/** `auto` runs commands in a process id namespace if bwrap can create one. Default `off`. */
	readonly contain?: "auto" | "off";
	readonly clock?: Clock;
	readonly identifiers?: Identifiers;
	readonly log?: Log;
}

/** More than the capacity of two pipes (Linux: 64 KiB each, 1 MiB at most when a program enlarges one). */
const pipeCapacity = 2 * 1024 * 1024;

/** Milliseconds for bwrap to run a trivial command. */
const probeTimeout = 1000;
/** Slow probes after which bwrap counts as broken. The machine may just be busy at first. */
const mostSlowProbes = 3;

type Ended = RunOutcome["ended"];

const noOutput = { output: "", errorOutput: "", outputBytes: 0, truncated: false, spilledTo: null };

interface PipeReader {
	readonly closed: Promise<unknown>;
	received(): number;
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

/** Attempts to start a confined command while other processes remove its mount points. */
const startAttempts = 8;

/** Milliseconds before the second attempt; the delay grows linearly. */
const startBackoff = 10;

/** Another process may just have released a placeholder, or a path was replaced meanwhile. */
function missedMount({ ended }: RunOutcome): boolean {
	const missing = /\bbwrap: Can't (?:find source path|get type of source|bind mount) /;
	return ended.kind === "not-started" && (missing.test(ended.reason) || ended.reason.endsWith(replacedMeanwhile));
}

async function start(
	request: RunRequest,
	marker: string,
	container: Containment | null,
	confined: ConfinedStart | null,
): Promise<StartedGroup> {
	const program = container === null ? null : findContainable(request);
	if (container !== null && program !== null) {
		return startContainedGroup(program, request, marker, container, confined);
	}
	if (confined === null) return startGroup(request, marker);
	return { ok: false, reason: `${request.file} is not a program (working directory ${request.workDir})` };
}

/** Runs processes that end with their run or with `endAll`. Each child has its own process group. */
export function createProcesses(options: ProcessesOptions = {}): Processes {
	return new ChildProcesses(options);
}

class ChildProcesses implements Processes {
	readonly #clock: Clock;
	readonly #identifiers: Identifiers;
	readonly #log: Log;
	readonly #grace: number;
	readonly #drain: number;
	readonly #openSink: OpenOutputSink | undefined;
	#slowProbes = 0;
	/** Null until the first command probes bwrap. */
	#containment: Promise<Containment | null> | null;
	readonly #running = new Map<Promise<RunOutcome>, () => void>();

	constructor(options: ProcessesOptions) {
		this.#clock = options.clock ?? systemClock;
		this.#identifiers = options.identifiers ?? randomIdentifiers;
		this.#log = options.log ?? silentLog;
		this.#grace = options.grace ?? 300;
		this.#drain = options.drain ?? 200;
		this.#openSink = options.openSink;
		this.#containment = options.contain === "auto" ? null : Promise.resolve(null);
	}

	async run(request: RunRequest, signal: AbortSignal): Promise<RunOutcome> {
		const end = new AbortController();
		const abort = () => end.abort();
		signal.addEventListener("abort", abort, { once: true });
		if (signal.aborted) abort();
		const { confinement } = request;
		const run =
			confinement === undefined
				? this.#runUnconfined(request, end.signal)
				: this.#runConfined(request, confinement, end.signal);
		this.#running.set(run, abort);
		try {
			return await run;
		} finally {
			this.#running.delete(run);
			signal.removeEventListener("abort", abort);
		}
	}

	async endAll(): Promise<void> {
		while (this.#running.size > 0) {
			for (const end of this.#running.values()) end();
			await Promise.allSettled(this.#running.keys());
		}
	}

	async #waitForEnd(group: ChildGroup, request: RunRequest, signal: AbortSignal): Promise<Ended> {
		const interrupted = createDeferred<Ended>();
		const abort = () => interrupted.resolve({ kind: "aborted" });
		const withdraw =
			request.timeout === undefined
				? () => undefined
				: this.#clock.after(request.timeout, () => interrupted.resolve({ kind: "timed-out" }));
		signal.addEventListener("abort", abort, { once: true });
		if (signal.aborted) abort();
		try {
			return await Promise.race([group.exit, interrupted.promise]);
		} finally {
			withdraw();
			signal.removeEventListener("abort", abort);
		}
	}

	/** Reads the rest of the pipes, which end when all writers exit. Only a process that escaped the sweep can hold them open. */
	async #readRemainder(pipes: PipeReader): Promise<void> {
		const start = pipes.received();
		for (let before = -1; before !== pipes.received() || pipes.isWaiting(); ) {
			before = pipes.received();
			if (await within(this.#clock, this.#drain, pipes.closed)) return;
			if (pipes.received() - start > pipeCapacity) break;
		}
		pipes.close();
	}

	async #endEverything(group: ChildGroup, marker: string, request: RunRequest): Promise<GroupEnd> {
		const end = await group.end(this.#clock, this.#grace, request.abortPending ?? never);
		const stubborn = end === "sealed" ? [] : await sweepStragglers(marker, this.#clock);
		if (end === "alive" || stubborn.length > 0) {
			this.#log.warn("Processes survived the end of their command", { file: request.file, stragglers: stubborn });
		}
		return end;
	}

	async #runUnconfined(request: RunRequest, signal: AbortSignal): Promise<RunOutcome> {
		this.#containment ??= this.#findContainment(request);
		return await this.#carryOut(request, signal, await this.#containment);
	}

	async #runConfined(request: RunRequest, confinement: Confinement, signal: AbortSignal): Promise<RunOutcome> {
		const refuse = (why: string): RunOutcome => ({
			ended: { kind: "not-started", reason: `The sandbox cannot be applied: ${why}` },
			...noOutput,
		});
		if (process.platform === "darwin") {
			if (confinement.network.kind === "proxy") return refuse("there is no proxy for sandboxes on macOS");
			const { toSeatbeltCommand, toSeatbeltProfile } = await import("./confinement/seatbelt-profile.ts");
			const command = toSeatbeltCommand(request.file, request.arguments, toSeatbeltProfile(confinement));
			return await this.#carryOut({ ...request, ...command }, signal, null);
		}
		const bubblewrap = findTrustedBubblewrap(request.environment["PATH"], confinement);
		if (bubblewrap === null) return refuse("there is no bwrap on the PATH, outside of the writable directories");
		for (let attempt = 1; ; attempt += 1) {
			const prepared = prepareConfinement(confinement, filterDescriptor);
			const outcome = prepared.ok
				? await this.#carryOut(request, signal, { bubblewrap }, prepared.start)
				: refuse(prepared.reason);
			if (attempt === startAttempts || !missedMount(outcome)) return outcome;
			await sleep(this.#clock, attempt * startBackoff, signal);
		}
	}

	async #findContainment({ environment }: RunRequest): Promise<Containment | null> {
		const bubblewrap = findBubblewrap(environment["PATH"]);
		if (bubblewrap === null) return null;
		const found: Containment = { bubblewrap };
		const probe = { file: "/bin/sh", arguments: ["-c", "exit 7"], workDir: "/", environment, outputLimit: 0 };
		const { ended } = await this.#carryOut({ ...probe, timeout: probeTimeout }, never, found);
		if (ended.kind === "exited" && ended.exitCode === 7) return found;
		if (ended.kind === "timed-out") {
			this.#slowProbes += 1;
			if (this.#slowProbes < mostSlowProbes) {
				this.#containment = null;
				this.#log.info("A command runs without containment: bwrap took too long to start", {
					bubblewrap,
					slowProbes: this.#slowProbes,
				});
				return null;
			}
		}
		this.#log.warn("Commands run without containment: bwrap does not work here", { bubblewrap, ended });
		return null;
	}

	#captureFor(request: RunRequest): OutputCapture {
		const { outputLimit: limit, separateStderr: separate = false, spillPath, spillLimit, outputTo } = request;
		const openSink = this.#openSink;
		if (request.conversation !== undefined) return createStdioCapture(request.conversation);
		if (outputTo !== undefined) return createOutputForwarding(outputTo, this.#log);
		const spill =
			spillPath === undefined || openSink === undefined
				? null
				: { path: spillPath, limit: spillLimit ?? Number.POSITIVE_INFINITY, open: openSink };
		return createOutputCapture({ limit, separate, spill, log: this.#log });
	}

	async #startWatched(
		request: RunRequest,
		marker: string,
		container: Containment | null,
		confined: ConfinedStart | null,
	): Promise<StartedGroup & { readonly watchdog: Watchdog | null }> {
		const watch = () => startPace.run(() => startWatchdog(marker, this.#log));
		// Meanwhile bwrap prepares a confined command, which waits for `begin`.
		const before = confined === null ? await watch() : null;
		const started = await start(request, marker, container, confined);
		if (!started.ok) return { ...started, watchdog: before };
		const watchdog = before ?? (await watch());
		watchdog.watch(started.group.id, confined?.placeholders ?? []);
		started.group.begin();
		return { ...started, watchdog };
	}

	async #carryOut(
		request: RunRequest,
		signal: AbortSignal,
		container: Containment | null,
		confined: ConfinedStart | null = null,
	): Promise<RunOutcome> {
		let isSealed = true;
		try {
			if (signal.aborted) return { ended: { kind: "aborted" }, ...noOutput };
			const marker = this.#identifiers.hex(32);
			const started = await this.#startWatched(request, marker, container, confined);
			const { watchdog } = started;
			if (!started.ok) {
				await watchdog?.dismiss(this.#clock);
				return { ended: { kind: "not-started", reason: started.reason }, ...noOutput };
			}
			isSealed = false;
			const { group } = started;
			request.onStart?.(group.id);
			const capture = this.#captureFor(request);
			const pipes = readPipes(group, capture, request);
			if (group.input !== null && request.conversation !== undefined) openStdio(request.conversation, group.input);
			else group.input?.end(request.input);
			const ended = await this.#waitForEnd(group, request, signal);
			if (ended.kind === "exited" || ended.kind === "signalled") await within(this.#clock, this.#drain, pipes.closed);
			isSealed = (await this.#endEverything(group, marker, request)) === "sealed";
			const dismissed = watchdog?.dismiss(this.#clock);
			await this.#readRemainder(pipes);
			await dismissed;
			return { ended, ...(await capture.finish()) };
		} finally {
			confined?.release(isSealed);
		}
	}
}
