// Measures in this process what recording changes of files adds to a command, in a repository, beside a plain look at all files.
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { systemClock } from "../src/base/clock.ts";
import { silentLog } from "../src/base/log.ts";
import { createProcesses } from "../src/ports/processes/children.ts";
import { FileHistory } from "../src/ports/workspace/file-history.ts";

const filesPerDirectory = 50;
const directoriesPerDirectory = 20;

/** Milliseconds of processor time. */
export interface RewindTimes {
	/** A command that changes nothing: what comes before and after it. */
	readonly unchanged: number;
	/** A command that changes one file. */
	readonly changed: number;
	/** Looking at the metadata of all files, once. */
	readonly plain: number;
}

export interface RewindStage {
	/** The first comparison. */
	readonly first: number;
	measure(): Promise<RewindTimes>;
}

export async function createRewindStage(folder: string, files: number): Promise<RewindStage> {
	const workDir = path.join(folder, `files-${files}`);
	for (let index = 0; index < files; index += 1) {
		const directory = Math.floor(index / filesPerDirectory);
		const place = path.join(workDir, `part-${Math.floor(directory / directoriesPerDirectory)}`, `module-${directory}`);
		if (index % filesPerDirectory === 0) mkdirSync(place, { recursive: true });
		writeFileSync(path.join(place, `file-${index}.ts`), `export const value = ${index};\n`);
	}
	const home = path.join(folder, "home");
	const environment = { PATH: process.env["PATH"] ?? "", HOME: home };
	const git = (...words: string[]) => execFileSync("git", words, { cwd: workDir, env: environment });
	git("init", "-q");
	git("config", "gc.auto", "0");
	git("add", ".");
	git("-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "All");
	const directory = path.join(folder, `history-${files}`);
	const history = new FileHistory({
		directory,
		workDir,
		roots: () => [workDir],
		home,
		excluded: [directory],
		limits: { files: 200_000, fileBytes: 2 ** 26, storeBytes: 2 ** 30, patience: 600_000, turns: 100 },
		space: { note: async () => {} },
		git: { environment, processes: createProcesses() },
		hasBackgroundWork: async () => false,
		clock: systemClock,
		log: silentLog,
	});
	const run = (work: () => void) => history.around("turn", { kind: "anything" }, async () => work());
	// The times of files that were just written are not trusted yet; the second call reads them again.
	const first = await timed(() => run(() => {}));
	await run(() => {});
	let count = 0;
	return {
		first,
		async measure() {
			const plain = await timed(async () => lookAt(workDir));
			const unchanged = await timed(() => run(() => {}));
			count += 1;
			const changed = await timed(() => run(() => writeFileSync(path.join(workDir, "changed.ts"), `${count}\n`)));
			return { unchanged, changed, plain };
		},
	};
}

/** Processor time, because other work of the machine would count with the clock. */
async function timed(work: () => Promise<void>): Promise<number> {
	const before = process.cpuUsage();
	await work();
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1000;
}

function lookAt(directory: string): void {
	for (const entry of readdirSync(directory, { withFileTypes: true })) {
		if (entry.name === ".git") continue;
		const target = `${directory}/${entry.name}`;
		lstatSync(target);
		if (entry.isDirectory()) lookAt(target);
	}
}
