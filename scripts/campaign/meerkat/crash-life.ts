// One life of a server of many sessions in this process, over files and lines in memory: it ends in good order, or is
// abandoned at the moment its files stop. Judges nothing.
import path from "node:path";
import { createDeferred } from "../../../src/base/deferred.ts";
import { isRecord } from "../../../src/base/json.ts";
import { silentLog } from "../../../src/base/log.ts";
import type { Files } from "../../../src/files/port.ts";
import { createDiskStore } from "../../../src/store/disk/disk-store.ts";
import { toDirectoryName } from "../../../src/store/disk/work-dir.ts";
import type { ModelMove } from "../../../test/support/campaign-model.ts";
import { createFailingFiles, type Plan } from "../../../test/support/failing-files.ts";
import { createGatedProvider } from "../../../test/support/gated-provider.ts";
import { createHostedServer, hostedPlace } from "../../../test/support/hosted-server.ts";
import type { MemoryFiles } from "../../../test/support/memory-files.ts";
import { readSessionFiles, type SessionFiles } from "../crash/crash-checks.ts";
import { buryHolders, createCampaignClock, createNotedProcesses } from "../crash/crash-life.ts";
import { withPatience } from "../frame/patience.ts";
import type { Play, SessionPlan } from "./kill-life.ts";

type Fields = Readonly<Record<string, unknown>>;

const { shareDir, workDir } = hostedPlace;

/** Real milliseconds after which a life that does not come to its end counts as hung. */
const patience = 20_000;

/** Stands between the server and its files, to see what the campaign finds. */
export type Port = (files: Files) => Files;

export interface HostedLifeInMemory {
	/** The files as they were left, the leases of a stopped process being those of a dead one. */
	readonly files: MemoryFiles;
	readonly delivered: readonly Fields[];
	/** Commands in the order of their running. */
	readonly ran: readonly string[];
	readonly completed: boolean;
	readonly effects: number;
}

/** What the model of a session says in one life. */
function movesOf({ index, hasTools, runs }: SessionPlan, life: number): readonly ModelMove[] {
	const call = (id: string, command: string): ModelMove => ({
		kind: "call",
		id,
		name: "Shell",
		arguments: JSON.stringify({ command }),
	});
	const done: ModelMove = { kind: "done", counted: true };
	const said: readonly ModelMove[] = [{ kind: "think", text: "hm" }, { kind: "say", text: "Hello" }, done];
	if (life > 1) return [call("call-1", `echo again-${index}-${life}`), done, ...said];
	if (!hasTools) return Array.from({ length: runs }, () => said).flat();
	return Array.from({ length: runs }, (_, run) => [
		{ kind: "say" as const, text: "I will." },
		call(`call-${run}-1`, `echo one-${index}-${run}`),
		call(`call-${run}-2`, `echo two-${index}-${run}`),
		done,
		...said,
	]).flat();
}

/** The session that a command is of. */
export function indexOfCommand(command: string): number {
	return Number(/echo (?:one|two|again)-(\d+)-/.exec(command)?.[1]);
}

export async function readHostedSession(files: MemoryFiles, id: string): Promise<SessionFiles> {
	const directory = `${shareDir}/sessions/${toDirectoryName(workDir)}/${id}`;
	return await readSessionFiles([], async (name) => (await files.read(`${directory}/${name}`)) ?? Buffer.alloc(0));
}

/** Lives one life over the files, which are then no longer used: what is left is in the result. `life` counts from 1. */
export async function liveHostedInMemory(
	disk: MemoryFiles,
	plans: readonly SessionPlan[],
	life: number,
	play: Play,
	plan: Omit<Plan, "onStruck"> | null,
	port: Port = (files) => files,
): Promise<HostedLifeInMemory> {
	const stop = createDeferred<void>();
	let left: MemoryFiles | null = null;
	const isStopped = (): boolean => left !== null;
	const onStruck = (): void => {
		if (left !== null) return;
		left = disk.copy();
		stop.resolve();
	};
	for (const directory of [workDir, shareDir]) await disk.makeDirectory(directory);
	for (const directory of ["/", "/home", path.dirname(shareDir)]) await disk.syncDirectory(directory);
	const failing = createFailingFiles(disk, plan === null ? null : { ...plan, onStruck });
	const files = port(failing.files);
	const ran: string[] = [];
	const processes = createNotedProcesses(files, (command) => {
		if (!isStopped()) ran.push(command);
		return !isStopped();
	});
	const clock = createCampaignClock(1_700_000_000_000 + life * 10_000_000, isStopped);
	const provider = createGatedProvider(true);
	for (const each of plans) provider.gate(`m${each.index}`).push(movesOf(each, life));
	const store = createDiskStore({ files, shareDir, log: silentLog, clock, protocolVersion: "1.10" });
	const models = plans.map(({ index }) => `m${index}`);
	const { fetch } = provider;
	const delivered: Fields[] = [];
	const liveAll = async (): Promise<boolean> => {
		const server = await createHostedServer({ files, store, clock, fetch, agentwire: {}, models, processes });
		const player = play((message) => {
			if (!isStopped()) server.client.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
		});
		const read = async (): Promise<boolean> => {
			const line = await server.client.read();
			if (line === null || isStopped()) return false;
			const message: unknown = JSON.parse(line);
			if (!isRecord(message)) throw new Error(`not a message: ${line}`);
			delivered.push(message);
			player.take(message);
			return true;
		};
		while (!player.isDone()) if (!(await read())) return false;
		server.client.end();
		await server.serving.finish();
		while (await read()) {
			// What was written before the end was received.
		}
		await server.close();
		return true;
	};
	const over = Promise.race([liveAll(), stop.promise.then(() => false)]);
	const completed = (await withPatience(over, patience)) ?? false;
	const result: MemoryFiles = left ?? disk.copy();
	if (left !== null) await buryHolders(result, shareDir);
	return { files: result, delivered: [...delivered], ran: [...ran], completed, effects: failing.effects.length };
}
