// One life of the server in this process: kernel, dialects and real tools over files and lines in memory. It ends in good
// order, or is abandoned at the moment its files stop.

import type { Clock } from "../../../src/base/clock.ts";
import { createDeferred } from "../../../src/base/deferred.ts";
import type { Identifiers } from "../../../src/base/ids.ts";
import { isRecord } from "../../../src/base/json.ts";
import { silentLog } from "../../../src/base/log.ts";
import { readConfiguration } from "../../../src/config/configuration-reader.ts";
import type { LocalMcpServer } from "../../../src/config/mcp-servers.ts";
import { noCompatibility } from "../../../src/dialects/dialect.ts";
import type { Files } from "../../../src/files/port.ts";
import { plainSessionOptions } from "../../../src/kernel/compose/compose.ts";
import { Kernel } from "../../../src/kernel/hosting/kernel.ts";
import type { Processes } from "../../../src/processes/port.ts";
import { serve } from "../../../src/server/serve.ts";
import { createDiskStore } from "../../../src/store/disk/disk-store.ts";
import { toDirectoryName } from "../../../src/store/disk/work-dir.ts";
import { createMemoryTransport } from "../../../src/transports/memory.ts";
import { createFailingFiles, type Effect, type Plan } from "../../../test/support/failing-files.ts";
import { createProgram } from "../../../test/support/mcp-program.ts";
import type { MemoryFiles } from "../../../test/support/memory-files.ts";
import { plainNetwork } from "../../../test/support/network.ts";
import { readPageHere } from "../../../test/support/session-doubles.ts";
import { noWorkers } from "../../../test/support/task-workers.ts";
import { play } from "./crash-client.ts";
import { type LifeScript, placeholders } from "./crash-scenarios.ts";

export const shareDir = "/home/share";
export const workDir = "/home/work";
const scriptFile = (index: number): string => `/home/scripts-${index}.json`;

/** A process number that no system gives. */
const deadProcess = 2 ** 30;

export function sessionId(index: number): string {
	return `00000000-0000-4000-8000-00000000000${index}`;
}

/** What happened in a life, in order. */
export type Happening =
	| { readonly kind: "effect"; readonly effect: Effect; readonly text: string }
	| { readonly kind: "told"; readonly session: number; readonly line: string }
	/** The mishap of the plan happened. */
	| { readonly kind: "struck" }
	/** A command was run, or given to the tool of an MCP server. */
	| { readonly kind: "ran"; readonly session: number; readonly command: string };

export interface Life {
	/** The files as they were left, the lease of a stopped process being that of a dead one. */
	readonly files: MemoryFiles;
	readonly happenings: readonly Happening[];
	/** Whether every script was played to its end. */
	readonly completed: boolean;
	readonly effects: number;
}

export interface LifeOptions {
	readonly files: MemoryFiles;
	readonly scripts: readonly LifeScript[];
	/** Counts the lives of these files, from 1. */
	readonly life: number;
	readonly plan: Omit<Plan, "onStruck"> | null;
	/** Stands between the server and its files, to see what the campaign finds. */
	readonly port?: (files: Files) => Files;
}

/** Time passes at once, but for long waits, which never end; it stands still for a stopped process. */
export function createCampaignClock(start: number, isStopped: () => boolean): Clock {
	let now = start;
	return {
		now: () => now,
		after(milliseconds, callback) {
			if (milliseconds >= 10_000) return () => {};
			const immediate = setImmediate(() => {
				if (isStopped()) return;
				now += milliseconds;
				callback();
			});
			return () => clearImmediate(immediate);
		},
	};
}

function countingIdentifiers(life: number): Identifiers {
	let count = 0;
	const next = (length: number): string => {
		count += 1;
		return `${life}${count.toString(16).padStart(length - 1, "0")}`;
	};
	return { uuid: () => next(32).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"), hex: next };
}

/** Runs no command: notes it, and writes long output where a real one would. */
export function createNotedProcesses(files: Files, note: (command: string, spillPath: string) => boolean): Processes {
	return {
		async run(request) {
			const command = request.arguments[1] ?? "";
			const spillPath = request.spillPath ?? "";
			if (!note(command, spillPath)) return new Promise<never>(() => {});
			const isLong = command.includes("seq") && spillPath !== "";
			const output = isLong ? "long\n".repeat(2_000) : `ran ${command}\n`;
			if (isLong) {
				await files.makeDirectory(spillPath.slice(0, spillPath.lastIndexOf("/")));
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

/** The MCP server of a session, as settings name it: a program that `createServedProcesses` stands in for. */
const serverSettings = (session: number): LocalMcpServer => ({
	kind: "local",
	name: "notes",
	command: "notes",
	arguments: [String(session)],
	environment: {},
	workDir: null,
	callTimeout: null,
	filter: { names: null, hidden: [], includeTags: null, excludeTags: [] },
});

/**
 * Where a program is spoken to, it is the MCP server. It starts once `begun` resolves; `note` is told what it was given, and
 * says whether it may answer.
 */
function createServedProcesses(
	processes: Processes,
	begun: Promise<void>,
	note: (session: number, text: string) => boolean,
): Processes {
	const { processes: programs } = createProgram({
		tools: [{ name: "note", inputSchema: { type: "object", properties: { text: { type: "string" } } } }],
		call({ arguments: given }, run) {
			const { text, dies } = isRecord(given) ? given : {};
			if (!note(Number(run.request.arguments[0]), String(text))) return null;
			if (dies === true) run.exit({ kind: "signalled", signal: "SIGKILL" });
			return { content: [{ type: "text", text: `noted ${text}` }] };
		},
	});
	return {
		...processes,
		async run(request, signal) {
			if (request.conversation === undefined) return await processes.run(request, signal);
			await begun;
			return await programs.run(request, signal);
		},
	};
}

/** Puts a dead process's number into the leases, as the death of this one would. */
export async function buryHolders(files: Files, share = shareDir): Promise<void> {
	const directory = `${share}/leases`;
	if ((await files.status(directory)) === null) return;
	for (const { name } of await files.list(directory)) {
		const file = `${directory}/${name}`;
		const content = (await files.read(file))?.toString() ?? "";
		await files.replace(file, content.replace(/"pid":\d+/, `"pid":${deadProcess}`));
	}
}

export const sessionDirectory = (index: number): string =>
	`${shareDir}/sessions/${toDirectoryName(workDir)}/${sessionId(index)}`;

/** Fills the placeholders of a model's answers from the session's files as they are. */
async function withPlaces(answers: string, files: Files, index: number): Promise<string> {
	const state = (await files.read(`${sessionDirectory(index)}/state.json`))?.toString() ?? "";
	const slug = /"plan_slug": "([^"]+)"/.exec(state)?.[1] ?? "no-plan";
	const agents = `${sessionDirectory(index)}/subagents`;
	const names = (await files.status(agents)) === null ? [] : await files.list(agents);
	return answers
		.replaceAll(placeholders.planFile, `${shareDir}/plans/${slug}.md`)
		.replaceAll(placeholders.agentId, names[0]?.name ?? "none");
}

/** Lives one life over the files, which are then no longer used: what is left is in the result. */
export async function live({ files: disk, scripts, life, plan, port = (files) => files }: LifeOptions): Promise<Life> {
	const happenings: Happening[] = [];
	const stop = createDeferred<void>();
	let left: MemoryFiles | null = null;
	const isStopping = plan?.mishap.kind === "stop";
	const onStruck = (): void => {
		happenings.push({ kind: "struck" });
		if (!isStopping || left !== null) return;
		left = disk.copy();
		stop.resolve();
	};
	const isStopped = (): boolean => left !== null;
	for (const directory of [workDir, shareDir]) await disk.makeDirectory(directory);
	await disk.syncDirectory("/");
	for (const [index, { model }] of scripts.entries()) {
		await disk.replace(scriptFile(index), await withPlaces(JSON.stringify(model), disk, index));
	}

	const failing = createFailingFiles(disk, plan === null ? null : { ...plan, onStruck });
	const files = port(failing.files);
	const noted = (text: string, work: () => Promise<void>): Promise<void> => {
		const done = work();
		const effect = failing.effects.at(-1);
		if (effect !== undefined) happenings.push({ kind: "effect", effect, text });
		return done;
	};
	const watched: Files = {
		...files,
		replace: (path, content, options) => noted(String(content), () => files.replace(path, content, options)),
		syncDirectory: (path) => noted("", () => files.syncDirectory(path)),
		async openAppend(path) {
			const file = await files.openAppend(path);
			return {
				append: (text) => noted(text, () => file.append(text)),
				appendPieces: (pieces) => noted([...pieces].join(""), () => file.appendPieces(pieces)),
				sync: () => noted("", () => file.sync()),
				close: () => file.close(),
			};
		},
	};
	const noteRun = (session: number, command: string): boolean => {
		if (isStopped()) return false;
		happenings.push({ kind: "ran", session, command });
		return true;
	};
	// Connecting would end now before the first turn and now in it: the turn always waits for it.
	const waiting = createDeferred<void>();
	const processes = createServedProcesses(
		createNotedProcesses(watched, (command, spillPath) => {
			const session = scripts.findIndex((_, index) => spillPath.includes(sessionId(index)));
			return noteRun(session, command);
		}),
		waiting.promise,
		noteRun,
	);
	const clock = createCampaignClock(1_700_000_000_000 + life * 10_000_000, isStopped);
	const store = createDiskStore({ files: watched, shareDir, log: silentLog, clock, protocolVersion: "1.10" });

	const playOne = async (script: LifeScript, index: number, kernel: Kernel): Promise<boolean> => {
		const mcpServers = script.hasServer ? [serverSettings(index)] : [];
		const session = await kernel.openOrCreate(workDir, sessionId(index), { ...plainSessionOptions, mcpServers });
		const { transport, client } = createMemoryTransport(100 * 1024 * 1024, 1024 * 1024);
		const delivered = {
			...transport,
			send(line: string) {
				if (isStopped()) return;
				happenings.push({ kind: "told", session: index, line });
				if (line.includes('"MCPLoadingBegin"')) waiting.resolve();
				transport.send(line);
			},
		};
		const server = { name: "agentwire", version: "0.0.0" };
		const signal = new AbortController().signal;
		const serving = serve({
			transport: delivered,
			session,
			server,
			compatibility: noCompatibility,
			log: silentLog,
			signal,
		});
		const completed = await play(script, {
			write: (line) => {
				if (!isStopped()) client.write(line);
			},
			read: () => client.read(),
		});
		client.end();
		await serving.finish();
		return completed;
	};

	const liveAll = async (): Promise<boolean> => {
		const kernels: Kernel[] = [];
		const played = await Promise.all(
			scripts.map(async (script, index) => {
				const settings = {
					default_model: "m",
					models: { m: { provider: "p", model: "scripted_echo", max_context_size: 100_000 } },
					providers: {
						p: {
							type: "_scripted_echo",
							base_url: "",
							api_key: "",
							env: { KIMI_SCRIPTED_ECHO_SCRIPTS: scriptFile(index) },
						},
					},
				};
				const { configuration } = await readConfiguration(
					{ kind: "text", text: JSON.stringify(settings) },
					watched,
					silentLog,
				);
				const kernel = new Kernel({
					store,
					configuration,
					hostServices: {
						environment: {},
						home: "/home",
						shareDir,
						builtInSkillsDir: null,
						os: "Linux",
						files: watched,
						ownFiles: watched,
						processes,
						startWorker: noWorkers,
						network: plainNetwork,
						readPage: readPageHere,
						clock,
						identifiers: countingIdentifiers(life * 2 + index),
						random: () => 0.5,
						log: silentLog,
						trace: () => {},
						version: "0.0.0",
						loginCommand: "agentwire login",
					},
				});
				kernels.push(kernel);
				return await playOne(script, index, kernel);
			}),
		);
		for (const kernel of kernels) await kernel.close();
		return played.every((completed) => completed);
	};

	const completed = await Promise.race([liveAll(), stop.promise.then(() => false)]);
	const result: MemoryFiles = left ?? disk.copy();
	if (left !== null) await buryHolders(result);
	return { files: result, happenings: [...happenings], completed, effects: failing.effects.length };
}
