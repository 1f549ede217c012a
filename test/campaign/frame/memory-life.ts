// One life of a server in this process, over files and lines in memory: it ends in good order, or is abandoned at the moment
// its files stop. What is served is a dialect's; judges nothing.
import path from "node:path";
import type { Clock } from "../../../src/base/clock.ts";
import { createDeferred } from "../../../src/base/deferred.ts";
import type { Identifiers } from "../../../src/base/ids.ts";
import { silentLog } from "../../../src/base/log.ts";
import { Kernel } from "../../../src/kernel/hosting/kernel.ts";
import type { Files } from "../../../src/ports/files/port.ts";
import type { Processes } from "../../../src/ports/processes/port.ts";
import { createDiskStore } from "../../../src/ports/store/disk/disk-store.ts";
import { toDirectoryName } from "../../../src/ports/store/disk/work-dir.ts";
import type { MemoryClient } from "../../../src/ports/transports/memory.ts";
import type { Configuration } from "../../../src/settings/config/configuration.ts";
import { readConfiguration } from "../../../src/settings/config/configuration-reader.ts";
import { createHostServices } from "../../support/host/host-services.ts";
import { createFailingFiles, type Effect, type Plan } from "../../support/store/failing-files.ts";
import type { MemoryFiles } from "../../support/store/memory-files.ts";
import { type Part, settingsOf } from "./life.ts";
import { withPatience } from "./patience.ts";

export const shareDir = "/home/share";
export const workDir = "/home/work";
export const sessionDirectory = (id: string): string => `${shareDir}/sessions/${toDirectoryName(workDir)}/${id}`;

/** A process number that no system gives. */
const deadProcess = 2 ** 30;
/** Real milliseconds after which a life that does not come to its end counts as hung. */
const patience = 20_000;

/** What happened in a life, in order. */
export type Happening =
	| { readonly kind: "effect"; readonly effect: Effect; readonly text: string }
	/** The sync of a file is done. */
	| { readonly kind: "synced"; readonly effect: Effect }
	/** A line was sent to the client of this part. */
	| { readonly kind: "delivered"; readonly part: number; readonly line: string }
	/** The mishap of the plan happened, to this file. */
	| { readonly kind: "struck"; readonly path: string }
	/** A command was run, or given to the tool of an MCP server. */
	| { readonly kind: "ran"; readonly sessionId: string; readonly command: string };

export interface MemoryLife {
	/** The files as they were left, the leases of a stopped process being those of a dead one. */
	readonly files: MemoryFiles;
	readonly happenings: readonly Happening[];
	/** Whether every part was played to its end. */
	readonly completed: boolean;
	readonly effects: number;
}

/** What a server of a life is given by its process. */
export interface LifeWorld {
	readonly life: number;
	readonly files: Files;
	readonly clock: Clock;
	/** They run no command, but note it. */
	readonly processes: Processes;
	/** Notes that a command ran; false when the process has stopped. */
	noteRun(sessionId: string, command: string): boolean;
	/** A kernel with the scripted models of a part; closed at the end of the life. */
	createKernel(
		models: Part["models"],
		number: number,
		processes?: Processes,
	): Promise<{ readonly kernel: Kernel; readonly configuration: Configuration }>;
}

/** A server of one connection. */
export interface MemoryServer {
	readonly client: MemoryClient;
	/** Resolves when everything was served. */
	finish(): Promise<void>;
	/**
	 * Called after a stop instead, where the server and its client have more between them than memory: resolves when what was
	 * sent before the stop has arrived, which then counts as delivered. What the files take no longer, is never sent.
	 */
	abandon?(): Promise<void>;
}

/** Starts the server of a part; `note` takes every line that it sends. */
export type Serve = (
	world: LifeWorld,
	part: Part,
	number: number,
	note: (line: string) => void,
) => Promise<MemoryServer>;

export interface MemoryLifeOptions {
	readonly files: MemoryFiles;
	readonly parts: readonly Part[];
	/** Counts the lives of these files, from 1. */
	readonly life: number;
	/** When the machine was started, by the times of these files; absent for one that never stopped. */
	readonly bootedAt?: number;
	readonly plan: Omit<Plan, "onStruck"> | null;
	readonly serve: Serve;
	/** Stands between the server and its files, to see what the campaign finds. */
	readonly port?: (files: Files) => Files;
}

/** Lives one life over the files, which are then no longer used: what is left is in the result. */
export async function liveInMemory(options: MemoryLifeOptions): Promise<MemoryLife> {
	const { files: disk, parts, life, bootedAt = 0, plan, serve, port = (files) => files } = options;
	const happenings: Happening[] = [];
	const stop = createDeferred<void>();
	let left: MemoryFiles | null = null;
	const isStopped = (): boolean => left !== null;
	const servers: MemoryServer[] = [];
	/** Whether what was sent before the stop is still arriving. */
	let isArriving = false;
	const onStruck = (): void => {
		happenings.push({ kind: "struck", path: failing.effects.at(-1)?.path ?? "" });
		if (plan?.mishap.kind !== "stop" || left !== null) return;
		left = disk.copy();
		stop.resolve();
	};
	for (const directory of [workDir, shareDir]) await disk.makeDirectory(directory);
	for (const directory of ["/", "/home"]) await disk.syncDirectory(directory);
	const failing = createFailingFiles(disk, plan === null ? null : { ...plan, onStruck });
	const files = watch(port(failing.files), (text, work) => {
		const done = work();
		const effect = failing.effects.at(-1);
		if (effect === undefined) return done;
		happenings.push({ kind: "effect", effect, text });
		if (effect.kind !== "sync") return done;
		return done.then(() => void happenings.push({ kind: "synced", effect }));
	});
	const noteRun = (sessionId: string, command: string): boolean => {
		if (!isStopped()) happenings.push({ kind: "ran", sessionId, command });
		return !isStopped();
	};
	const clock = createLifeClock(1_700_000_000_000 + life * 10_000_000, isStopped);
	const store = createDiskStore({ files, shareDir, log: silentLog, clock, bootedAt, protocolVersion: "1.10" });
	const kernels: Kernel[] = [];
	const processes = createNotedProcesses(files, noteRun);
	const createKernel: LifeWorld["createKernel"] = async (models, number, own = processes) => {
		const scriptFile = (name: string): string => `/home/scripts-${number}-${name}.json`;
		for (const [name, answers] of Object.entries(models)) await disk.replace(scriptFile(name), JSON.stringify(answers));
		const source = { kind: "text", text: JSON.stringify(settingsOf(models, scriptFile)) } as const;
		const { configuration } = await readConfiguration(source, files, silentLog);
		const hostServices = createHostServices({
			...{ shareDir, files, clock, processes: own },
			identifiers: createCountingIdentifiers(life * 2 + number),
			random: () => 0.5,
		});
		const kernel = new Kernel({ store, configuration, hostServices });
		kernels.push(kernel);
		return { kernel, configuration };
	};
	const world: LifeWorld = { life, files, clock, processes, noteRun, createKernel };

	const playPart = async (part: Part, number: number): Promise<boolean> => {
		const server = await serve(world, part, number, (line) => {
			if (!isStopped() || isArriving) happenings.push({ kind: "delivered", part: number, line });
		});
		servers.push(server);
		const { client, finish } = server;
		const write = (line: string): void => {
			if (!isStopped()) client.write(line);
		};
		const completed = await part.play({ write, read: () => client.read() }, workDir);
		client.end();
		await finish();
		return completed;
	};
	const liveAll = async (): Promise<boolean> => {
		const played = await Promise.all(parts.map(playPart));
		for (const kernel of kernels) await kernel.close();
		return played.every((completed) => completed);
	};
	const over = Promise.race([liveAll(), stop.promise.then(() => false)]);
	const completed = (await withPatience(over, patience)) ?? false;
	if (isStopped()) {
		isArriving = true;
		for (const server of servers) await server.abandon?.();
		isArriving = false;
	}
	const result: MemoryFiles = left ?? disk.copy();
	if (left !== null) await buryHolders(result);
	return { files: result, happenings: [...happenings], completed, effects: failing.effects.length };
}

/** Milliseconds of the timers in the background that are over at once: those for what a session writes a moment later. */
const shortTimer = 20;
const millisecondsPerTurn = 20;

/**
 * Time passes as fast as the event loop turns, so that what is under way is done before a patience is over. Long waits never
 * end, and time stands still for a stopped process. No two looks see the same time, as two turns never do.
 */
function createLifeClock(start: number, isStopped: () => boolean): Clock {
	let now = start;
	return {
		now() {
			now += 1;
			return now;
		},
		monotonic: () => now,
		after(milliseconds, callback, inBackground = false) {
			// Longer timers in the background repeat: time would never stand still.
			if ((inBackground && milliseconds > shortTimer) || milliseconds >= 10_000) return () => {};
			let turnsLeft = Math.ceil(milliseconds / millisecondsPerTurn);
			let immediate = setImmediate(function turn() {
				if (isStopped()) return;
				turnsLeft -= 1;
				if (turnsLeft > 0) {
					immediate = setImmediate(turn);
					return;
				}
				now += milliseconds;
				callback();
			});
			return () => clearImmediate(immediate);
		},
	};
}

export function createCountingIdentifiers(first: number): Identifiers {
	let count = 0;
	const next = (length: number): string => {
		count += 1;
		return `${first}${count.toString(16).padStart(length - String(first).length, "0")}`;
	};
	return { uuid: () => next(32).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"), hex: next };
}

/** The same port; every effect that has a text or a place in the order is noted. */
function watch(files: Files, noted: (text: string, work: () => Promise<void>) => Promise<void>): Files {
	return {
		...files,
		replace: (target, content, options) => noted(String(content), () => files.replace(target, content, options)),
		syncDirectory: (target) => noted("", () => files.syncDirectory(target)),
		async openAppend(target) {
			const file = await files.openAppend(target);
			return {
				append: (text) => noted(text, () => file.append(text)),
				appendPieces: (pieces) => noted([...pieces].join(""), () => file.appendPieces(pieces)),
				sync: () => noted("", () => file.sync()),
				close: () => file.close(),
			};
		},
	};
}

/** Runs no command: notes it with the session it is of, and writes long output where a real one would. */
function createNotedProcesses(files: Files, note: (sessionId: string, command: string) => boolean): Processes {
	return {
		async run(request) {
			const command = request.arguments[1] ?? "";
			const spillPath = request.spillPath ?? "";
			const [, sessionId = ""] = /\/sessions\/[^/]+\/([^/]+)\//.exec(spillPath) ?? [];
			if (!note(sessionId, command)) return new Promise<never>(() => {});
			const isLong = command.includes("seq") && spillPath !== "";
			const output = isLong ? "long\n".repeat(2_000) : `ran ${command}\n`;
			if (isLong) {
				await files.makeDirectory(path.dirname(spillPath));
				const sink = await files.openAppend(spillPath);
				await sink.append(output);
				await sink.append(output);
				await sink.close();
			}
			return {
				ended: { kind: "exited", exitCode: 0 },
				output: output.slice(0, 1_000),
				errorOutput: "",
				outputBytes: output.length,
				truncated: isLong,
				spilledTo: isLong ? spillPath : null,
			};
		},
		endAll: async () => {},
	};
}

/** Puts a dead process's number into the leases, as the death of this one would. */
async function buryHolders(files: Files): Promise<void> {
	const directory = `${shareDir}/leases`;
	if ((await files.status(directory)) === null) return;
	for (const { name } of await files.list(directory)) {
		const file = `${directory}/${name}`;
		const content = (await files.read(file))?.toString() ?? "";
		await files.replace(file, content.replace(/"pid":\d+/, `"pid":${deadProcess}`));
	}
}
