// A command under bwrap, ended together with its process id namespace.
import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { Readable, Writable } from "node:stream";
import { aborted, never } from "../../base/abort.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { createDeferred } from "../../base/deferred.ts";
import { errorText } from "../../base/errors.ts";
import {
	type ChildExit,
	type ChildGroup,
	childEnvironment,
	hasInput,
	type StartedGroup,
	signalGroup,
	startPace,
} from "./child-group.ts";
import { serveConfinedProxy } from "./confinement/confined-proxy.ts";
import { type ConfinedStart, findReplaced, replacedMeanwhile, withProxy } from "./confinement/confinement.ts";
import {
	bubblewrapDescriptor,
	type Containment,
	errorsDescriptor,
	filterDescriptor,
	inputDescriptor,
	lifelineDescriptor,
	outputDescriptor,
	ownProcesses,
	splitEnvironment,
	statusDescriptor,
	toBubblewrapArguments,
} from "./containment.ts";
import type { RunRequest } from "./port.ts";
import { isLiving, livingMembers } from "./process-table.ts";

const pollInterval = 50;
const emptyPollInterval = 1;
/** Milliseconds to read what bwrap wrote before the command started. */
const factsPatience = 50;
/** Milliseconds for a killed namespace to exit. */
const killPatience = 1000;

interface ContainedEnd {
	readonly exit: ChildExit;
	/** Whether only the command was in the namespace. */
	readonly isAlone: boolean;
}

function signalName(number: number): string | null {
	return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? null;
}

/** Null until `exit CODE PROCESSES` has arrived; earlier lines are `mounted`, `started` and a signal message. */
export function parseStatus(text: string): ContainedEnd | null {
	const match = /^(?<before>[\s\S]*?)^exit (?<code>\d+) (?<processes>\d+)\n/m.exec(text);
	if (match?.groups === undefined) return null;
	const { before = "", code = "", processes = "" } = match.groups;
	const exitCode = Number(code);
	const complaint = before.replace(/^(?:mounted\n)?started\n/, "").trim();
	const signal = complaint === "" || exitCode <= 128 ? null : signalName(exitCode - 128);
	return {
		exit: signal === null ? { kind: "exited", exitCode } : { kind: "signalled", signal },
		isAlone: Number(processes) <= ownProcesses,
	};
}

/** The end of a namespace whose shell could not report it. */
function toLostExit(text: string, exitCode: number | null, signal: NodeJS.Signals | null): ChildExit {
	if (signal !== null) return { kind: "signalled", signal };
	if (!text.includes("started\n"))
		return { kind: "not-started", reason: text.replace(/^mounted\n/, "").trim() || "bwrap ended at once" };
	const inner = exitCode !== null && exitCode > 128 ? signalName(exitCode - 128) : null;
	return inner === null ? { kind: "exited", exitCode: exitCode ?? 0 } : { kind: "signalled", signal: inner };
}

function spawnContained(
	file: string,
	request: RunRequest,
	marker: string,
	containment: Containment,
	confined: ConfinedStart | null,
): ChildProcess {
	const { confinement } = request;
	const environment = splitEnvironment(childEnvironment(request, marker)).others;
	return spawn(containment.bubblewrap, toBubblewrapArguments(file, request, confined), {
		cwd: request.workDir,
		env: confinement === undefined ? environment : withProxy(environment, confinement),
		detached: true,
		stdio: [
			...(["ignore", "ignore", "pipe", hasInput(request) ? "pipe" : "ignore", "pipe", "pipe", "pipe", "pipe"] as const),
			...(confined === null ? [] : (["pipe"] as const)),
			...(confinement?.network.kind === "proxy" ? (["ipc"] as const) : []),
		],
		windowsHide: true,
	});
}

function collect(pipe: Readable, show: (text: string) => void): void {
	let text = "";
	pipe.setEncoding("utf8");
	pipe.on("error", () => undefined);
	pipe.on("data", (piece: string) => {
		text += piece;
		show(text);
	});
}

/** The kernel ends the init of a namespace last: once it is gone or a zombie, the namespace is empty. */
async function waitUntilEmpty(init: number, clock: Clock): Promise<boolean> {
	const deadline = clock.monotonic() + killPatience;
	while (isLiving(init)) {
		if (clock.monotonic() >= deadline) return false;
		await sleep(clock, emptyPollInterval, never);
	}
	return true;
}

/** Confined if `confined` is not null. Returns a reason when the system refuses. */
export async function startContainedGroup(
	file: string,
	request: RunRequest,
	marker: string,
	containment: Containment,
	confined: ConfinedStart | null,
): Promise<StartedGroup> {
	let child: ChildProcess;
	try {
		child = await startPace.run(() => spawnContained(file, request, marker, containment, confined));
	} catch (thrown) {
		return { ok: false, reason: errorText(thrown) };
	}
	const closed = new Promise<readonly [number | null, NodeJS.Signals | null]>((resolve) => {
		child.once("exit", (exitCode, signal) => resolve([exitCode, signal]));
	});
	const failure = await new Promise<Error | null>((resolve) => {
		child.once("spawn", () => resolve(null));
		child.on("error", resolve);
	});
	if (failure !== null) return { ok: false, reason: failure.message };
	const { pid, stdio } = child;
	const status = stdio[statusDescriptor];
	const input = stdio[inputDescriptor];
	const output = stdio[outputDescriptor];
	// The types only cover positions up to the fifth.
	const pipes: readonly unknown[] = stdio;
	const errors = pipes[errorsDescriptor];
	const facts = pipes[bubblewrapDescriptor];
	const lifeline = pipes[lifelineDescriptor];
	const filter = pipes[filterDescriptor];
	if (pid === undefined || !(lifeline instanceof Writable)) return { ok: false, reason: "The process has no pipes" };
	if (!(status instanceof Readable && output instanceof Readable && errors instanceof Readable)) {
		return { ok: false, reason: "The process has no pipes" };
	}
	lifeline.on("error", () => undefined);
	if (confined !== null) {
		if (!(filter instanceof Writable)) return { ok: false, reason: "The process has no pipes" };
		filter.on("error", () => undefined);
	}
	const network = request.confinement?.network;
	const endProxy = network?.kind === "proxy" ? serveConfinedProxy(child, network.socket) : () => undefined;
	if (input instanceof Writable) input.on("error", () => undefined);

	/** Outer process id of the namespace's init, which leads the command's group. */
	let inner: number | null = null;
	const innerKnown = new AbortController();
	if (facts instanceof Readable) {
		collect(facts, (text) => {
			const match = /"child-pid":\s*(\d+)/.exec(text);
			if (match === null) return;
			inner = Number(match[1]);
			innerKnown.abort();
		});
		facts.once("close", () => innerKnown.abort());
	}
	const exit = createDeferred<ChildExit>();
	let reported: ContainedEnd | null = null;
	let statusText = "";
	/** Lets a confined command run once its mounts match the plan. */
	const checkMounts = async (start: ConfinedStart): Promise<void> => {
		await aborted(innerKnown.signal);
		const replaced = inner === null ? "/" : findReplaced(start, inner);
		if (replaced === null) lifeline.write("go\n");
		else exit.resolve({ kind: "not-started", reason: `${replaced} ${replacedMeanwhile}` });
	};
	let isMounted = false;
	const statusEnd = new Promise((resolve) => status.once("close", resolve));
	collect(status, (text) => {
		statusText = text;
		if (confined !== null && !isMounted && /^mounted$/m.test(text)) {
			isMounted = true;
			void checkMounts(confined);
		}
		reported ??= parseStatus(text);
		if (reported !== null) exit.resolve(reported.exit);
	});
	void closed.then(async ([exitCode, signal]) => {
		await statusEnd;
		exit.resolve(toLostExit(statusText, exitCode, signal));
	});

	const isFinished = async (group: number): Promise<boolean> => {
		if (reported?.isAlone === true || child.exitCode !== null || child.signalCode !== null) return true;
		return reported !== null && ((await livingMembers(group)) ?? 0) <= ownProcesses;
	};
	const terminate = async (group: number, clock: Clock, grace: number, abortPending: AbortSignal): Promise<void> => {
		if (await isFinished(group)) return;
		// Without a group, the command has not started.
		if (!signalGroup(group, "SIGTERM")) return;
		// A stopped process handles TERM only after CONT.
		signalGroup(group, "SIGCONT");
		const deadline = clock.monotonic() + grace;
		const finished = new AbortController();
		void exit.promise.then(() => finished.abort());
		await sleep(clock, grace, AbortSignal.any([finished.signal, abortPending]));
		while (!(await isFinished(group)) && clock.monotonic() < deadline && !abortPending.aborted) {
			await sleep(clock, pollInterval, never);
		}
	};
	const group: ChildGroup = {
		id: pid,
		input: input instanceof Writable ? input : null,
		output,
		errors,
		exit: exit.promise,
		begin() {
			// bwrap reads the whole filter before running anything, and fails without one.
			if (confined !== null && filter instanceof Writable) filter.end(confined.filter);
		},
		async end(clock, grace, abortPending) {
			// Command output may arrive before earlier bwrap output is read.
			await sleep(clock, factsPatience, innerKnown.signal);
			if (inner !== null) await terminate(inner, clock, grace, abortPending);
			// When bwrap dies, the namespace's init and all its processes die too.
			signalGroup(pid, "SIGKILL");
			lifeline.destroy();
			const late = new AbortController();
			await Promise.race([closed, sleep(clock, killPatience, late.signal)]);
			late.abort();
			endProxy();
			if (inner === null) return "gone";
			if (!(await waitUntilEmpty(inner, clock))) return "alive";
			// Unlike a confined command, an unconfined root command could have entered another namespace.
			return confined === null ? "gone" : "sealed";
		},
	};
	return { ok: true, group };
}
