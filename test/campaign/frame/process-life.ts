// One life of the built executable: started once for every part, spoken to by a client, and killed or let end. Judges nothing.
import { createHash } from "node:crypto";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type Damage, inflict } from "./damage.ts";
import { type Place, startExecutable, writeSettings } from "./executable.ts";
import type { Part } from "./life.ts";
import { readSessionFiles, type SessionFiles } from "./session-files.ts";

/** Milliseconds after which a server that does not come to its end counts as hung. */
const patience = 30_000;

export interface ProcessLife {
	/** The lines that the client of each part was sent. */
	readonly delivered: readonly (readonly string[])[];
	readonly completed: boolean;
	/** Milliseconds from the first line to the end of the client's part; the longest of all parts. */
	readonly duration: number;
	/** What was wrong with a life that was not killed. */
	readonly complaints: readonly string[];
}

const project = fileURLToPath(new URL("../../../", import.meta.url));

/** Copies the built executable, so that a concurrent build does not remove it; gives its root and itself. */
export async function copyBuild(): Promise<{ readonly root: string; readonly executable: string }> {
	const root = await mkdtemp(path.join(tmpdir(), "agentwire-campaign-build-"));
	for (const name of ["bin", "dist", "package.json"]) {
		await cp(path.join(project, name), path.join(root, name), { recursive: true });
	}
	return { root, executable: path.join(root, "bin", "agentwire") };
}

/** Lives one life; with `killAfter` every process is killed that many milliseconds after its first line. */
export async function liveInProcess(
	place: Place,
	parts: readonly Part[],
	life: number,
	killAfter: number | null,
): Promise<ProcessLife> {
	const lived = await Promise.all(parts.map((part, number) => livePart(place, part, `${life}-${number}`, killAfter)));
	return {
		delivered: lived.map(({ delivered }) => delivered),
		completed: lived.every(({ completed }) => completed),
		duration: Math.max(...lived.map(({ duration }) => duration)),
		complaints: lived.flatMap(({ complaints }) => complaints),
	};
}

async function livePart(place: Place, { models, argv, play }: Part, name: string, killAfter: number | null) {
	const configFile = await writeSettings(place, name, models);
	const running = startExecutable(place, [...argv, "--config-file", configFile]);
	let isHung = false;
	const hung = setTimeout(() => {
		isHung = true;
		running.kill();
	}, patience);
	const delivered: string[] = [];
	let begun = performance.now();
	let killing: NodeJS.Timeout | undefined;
	void running.first.then(() => {
		begun = performance.now();
		if (killAfter !== null) killing = setTimeout(running.kill, killAfter);
	});
	const read = async (): Promise<string | null> => {
		const line = await running.read();
		if (line !== null) delivered.push(line);
		return line;
	};
	const completed = await play({ write: (line) => void running.write(line), read }, place.workDir);
	const duration = performance.now() - begun;
	const endedAt = performance.now();
	if (killAfter === null) running.end();
	while ((await read()) !== null) {
		// What was written before the end was received, wherever the client stopped.
	}
	const end = await running.exited;
	clearTimeout(hung);
	clearTimeout(killing);
	const isFaulty = killAfter === null && (!completed || end !== "0");
	const after = isHung
		? `from the campaign, not having ended within ${patience} ms`
		: `${(performance.now() - endedAt).toFixed(0)} ms after the end of its input`;
	const complaints = isFaulty ? [`the process ended with ${end} ${after}: ${running.complaints()}`] : [];
	return { delivered, completed, duration, complaints };
}

async function readOrEmpty(file: string): Promise<Buffer> {
	return await readFile(file).catch(() => Buffer.alloc(0));
}

const sessionsOf = ({ shareDir, workDir }: Place): string =>
	path.join(shareDir, "sessions", createHash("md5").update(workDir).digest("hex"));

/** Does it to the files of every session. */
export async function damageProcessSessions(place: Place, damage: Damage, round: number): Promise<void> {
	const found = await readdir(sessionsOf(place), { withFileTypes: true }).catch(() => []);
	for (const { name: id } of found.filter((entry) => entry.isDirectory())) {
		const at = (name: string): string => path.join(sessionsOf(place), id, name);
		const directory = {
			read: (name: string) => readOrEmpty(at(name)),
			write: (name: string, content: Buffer) => writeFile(at(name), content),
			remove: (name: string) => rm(at(name), { force: true }),
		};
		await inflict(damage, directory, round);
	}
}

export async function readProcessSession(place: Place, id: string): Promise<SessionFiles> {
	const directory = path.join(sessionsOf(place), id);
	const agentIds = await readdir(path.join(directory, "subagents")).catch(() => []);
	return await readSessionFiles(agentIds, (file) => readOrEmpty(path.join(directory, file)));
}

/** What the commands of all sessions left in the file `effects`, one mark for each that ran. */
export async function readMarks({ workDir }: Place): Promise<readonly string[]> {
	return (await readOrEmpty(path.join(workDir, "effects"))).toString().split("\n").slice(0, -1);
}
