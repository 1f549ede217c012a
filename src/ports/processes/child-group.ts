// stragglers.ts finds what left the group.
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { never } from "../../base/abort.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { errorText, systemErrorCode } from "../../base/errors.ts";
import { createPace } from "../../base/pace.ts";
import type { RunRequest } from "./port.ts";
import { livingMembers } from "./process-table.ts";
import { markerValue, markerVariable } from "./stragglers.ts";

export type ChildExit =
	| { readonly kind: "exited"; readonly exitCode: number }
	| { readonly kind: "signalled"; readonly signal: string }
	| { readonly kind: "not-started"; readonly reason: string };

/** `gone`: none remain, but some may have left the group; `sealed`: no process can have left it. */
export type GroupEnd = "alive" | "gone" | "sealed";

export interface ChildGroup {
	readonly id: number;
	readonly input: Writable | null;
	readonly output: Readable;
	readonly errors: Readable;
	readonly exit: Promise<ChildExit>;
	/** Starts a confined command, which waits for it. Other commands already run. */
	begin(): void;
	/** TERM to the group, KILL after `grace` milliseconds or when `abortPending` aborts. */
	end(clock: Clock, grace: number, abortPending: AbortSignal): Promise<GroupEnd>;
}

export type StartedGroup =
	| { readonly ok: true; readonly group: ChildGroup }
	| { readonly ok: false; readonly reason: string };

const pollInterval = 10;
/** Milliseconds for a killed group to exit. A process blocked in the kernel takes longer. */
const killPatience = 1000;

/** Starting a process blocks for milliseconds, so other work runs between starts. */
export const startPace = createPace();

/** Returns false for a missing group. */
export function signalGroup(groupId: number, signal: NodeJS.Signals | 0): boolean {
	try {
		process.kill(-groupId, signal);
		return true;
	} catch (thrown) {
		// A group that we may not signal (macOS reports zombies this way) cannot be ended by us either.
		return systemErrorCode(thrown) !== "ESRCH" && systemErrorCode(thrown) !== "EPERM";
	}
}

/** Scanning /proc takes milliseconds, so not every poll does it. */
const pollsPerLook = 5;

async function isGroupAlive(groupId: number): Promise<boolean> {
	return signalGroup(groupId, 0) && (await livingMembers(groupId)) !== 0;
}

async function waitUntilGone(
	groupId: number,
	clock: Clock,
	patience: number,
	abortPending: AbortSignal,
): Promise<boolean> {
	const deadline = clock.monotonic() + patience;
	for (let poll = 1; signalGroup(groupId, 0); poll += 1) {
		if (poll % pollsPerLook === 0 && !(await isGroupAlive(groupId))) return true;
		if (clock.monotonic() >= deadline || abortPending.aborted) return !(await isGroupAlive(groupId));
		await sleep(clock, pollInterval, never);
	}
	return true;
}

async function endGroup(groupId: number, clock: Clock, grace: number, abortPending: AbortSignal): Promise<boolean> {
	if (!(await isGroupAlive(groupId))) return true;
	signalGroup(groupId, "SIGTERM");
	// A stopped process handles TERM only after CONT.
	signalGroup(groupId, "SIGCONT");
	if (await waitUntilGone(groupId, clock, grace, abortPending)) return true;
	signalGroup(groupId, "SIGKILL");
	return waitUntilGone(groupId, clock, killPatience, never);
}

/** A bash with a socket for stdin (Node's pipes are sockets) reads ~/.bashrc if it is the outermost shell. */
const noOutermostShell = { SHLVL: "1" };

export function hasInput({ input, conversation }: RunRequest): boolean {
	return input !== undefined || conversation !== undefined;
}

export function childEnvironment(request: RunRequest, marker: string): Record<string, string> {
	return {
		...(hasInput(request) ? noOutermostShell : {}),
		...request.environment,
		[markerVariable]: markerValue(request.environment[markerVariable], marker),
	};
}

function spawnLeader(request: RunRequest, marker: string): ChildProcess {
	return spawn(request.file, request.arguments, {
		cwd: request.workDir,
		env: childEnvironment(request, marker),
		detached: true,
		stdio: [hasInput(request) ? "pipe" : "ignore", "pipe", "pipe"],
		windowsHide: true,
	});
}

function toChildExit(exitCode: number | null, signal: NodeJS.Signals | null): ChildExit {
	return signal === null ? { kind: "exited", exitCode: exitCode ?? 0 } : { kind: "signalled", signal };
}

export async function startGroup(request: RunRequest, marker: string): Promise<StartedGroup> {
	let child: ChildProcess;
	try {
		child = await startPace.run(() => spawnLeader(request, marker));
	} catch (thrown) {
		return { ok: false, reason: errorText(thrown) };
	}
	const exit = new Promise<ChildExit>((resolve) => {
		child.once("exit", (exitCode, signal) => resolve(toChildExit(exitCode, signal)));
	});
	const failure = await new Promise<Error | null>((resolve) => {
		child.once("spawn", () => resolve(null));
		child.on("error", resolve);
	});
	if (failure !== null) return { ok: false, reason: `${failure.message} (working directory ${request.workDir})` };
	const { pid, stdin, stdout, stderr } = child;
	if (pid === undefined || stdout === null || stderr === null) return { ok: false, reason: "The process has no pipes" };
	// A child need not read its input; a closed pipe is not a failure.
	stdin?.on("error", () => undefined);
	return {
		ok: true,
		group: {
			id: pid,
			input: stdin,
			output: stdout,
			errors: stderr,
			exit,
			begin: () => undefined,
			async end(clock, grace, abortPending) {
				return (await endGroup(pid, clock, grace, abortPending)) ? "gone" : "alive";
			},
		},
	};
}
