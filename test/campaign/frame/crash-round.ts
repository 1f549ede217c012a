// One round of the crash and kill campaigns: a life that is stopped, now and then a recovery that is stopped too, and a life
// that ends well; then every session is judged by what its clients were sent and what its files have.
import type fc from "fast-check";
import type { Damage } from "./damage.ts";
import { openCalls } from "./journal-file.ts";
import { checkEffects, checkInputs, checkJournal, checkProjections, checkRetained } from "./journal-judge.ts";
import type { Part } from "./life.ts";
import type { Happening, Serve } from "./memory-life.ts";
import {
	checkAgents,
	checkContext,
	checkFiles,
	countUnclosed,
	countUnknown,
	type SessionFiles,
} from "./session-files.ts";

/** One session's share of one life of the server. */
export interface SessionLife {
	readonly kind: LifeKind;
	/** The lines about it that its client was sent. */
	readonly delivered: readonly string[];
	/** The commands that ran; in processes all of them are known with the last life. */
	readonly ran: readonly string[];
	/** The session's files as the life found them. */
	readonly before: SessionFiles;
	/** And as it left them. */
	readonly after: SessionFiles;
	/** Whether the client played its part to the end. */
	readonly completed: boolean;
	/** Whether it was not stopped: then its files are all written. */
	readonly endedWell: boolean;
	/** Whether it ended with the power: then only what was committed must be there. */
	readonly lostPower: boolean;
}

/** Which life a scenario is asked for. */
export type LifeKind = "earlier" | "stopped" | "recovery";

/** What a dialect brings to the crash and kill campaigns. */
export interface CrashDialect<Scenario> {
	/** Those that are stopped at every effect, one after the other. */
	readonly scenarios: readonly Scenario[];
	readonly arbitrary: fc.Arbitrary<Scenario>;
	/** The same for processes. */
	readonly processArbitrary: fc.Arbitrary<Scenario>;
	describe(scenario: Scenario): readonly string[];
	/** A scenario that is played once without a stop, and how many of it this one is, to know its length. */
	measure(scenario: Scenario): { readonly key: string; readonly whole: Scenario; readonly share: number };
	/** Whether a stopped life unwinds instead of hanging. */
	unwinds(scenario: Scenario): boolean;
	/**
	 * What the clients play in one life, empty for none; `known` are the sessions that they heard of before, and `livesOf` what
	 * they were sent about each.
	 */
	partsOf(
		scenario: Scenario,
		kind: LifeKind,
		life: number,
		known: readonly string[],
		livesOf: (sessionId: string) => readonly SessionLife[],
	): readonly Part[];
	readonly serve: Serve;
	/** The sessions whose ids are known from the beginning. */
	sessionsOf(scenario: Scenario): readonly string[];
	/** The session that a line to the client of a part is about; null for none. */
	sessionOf(line: string, part: number): string | null;
	/** Commands that the models of a session may call for. */
	commandsOf(scenario: Scenario, sessionId: string, lives: readonly SessionLife[]): readonly string[];
	/** Whether the session is used in its last life: only then that life recovers it. */
	isUsed(lives: readonly SessionLife[]): boolean;
	/** Whether what was delivered is in the files, and what else the dialect promises. */
	judge(sessionId: string, lives: readonly SessionLife[], scenario: Scenario): readonly string[];
	/** The order of effects and deliveries in a life without a stop. */
	checkOrder?(happenings: readonly Happening[], scenario: Scenario): readonly string[];
}

/** One life as it was lived, wherever. */
export interface Lived {
	/** The lines that the client of each part was sent. */
	readonly delivered: readonly (readonly string[])[];
	/** The commands of each session. */
	readonly ran: ReadonlyMap<string, readonly string[]>;
	readonly completed: boolean;
	readonly lostPower: boolean;
	readonly complaints: readonly string[];
}

/** Where lives are lived. `Stop` says where one is stopped. */
export interface World<Stop> {
	live(parts: readonly Part[], life: number, stop: Stop | null): Promise<Lived>;
	/** Does it to the files of every session; `round` counts what is done to them. */
	damage(damage: Damage, round: number): Promise<void>;
	readSession(id: string): Promise<SessionFiles>;
	/** The marks that commands left; empty where what ran is known with each life. */
	marks(): Promise<readonly string[]>;
}

const noFiles: SessionFiles = {
	events: Buffer.alloc(0),
	context: Buffer.alloc(0),
	rotations: [],
	journal: Buffer.alloc(0),
	state: Buffer.alloc(0),
	agents: [],
};

export interface RoundResult {
	readonly faults: readonly string[];
	readonly sessions: number;
	/** Whether the first life with a stop was stopped before its clients had played to the end. */
	readonly struck: boolean;
}

/**
 * Stops the scenario at the first place, its recovery at the second if there is one, and judges the end; null is a life that
 * is not stopped.
 */
export async function playRound<Scenario, Stop>(
	dialect: CrashDialect<Scenario>,
	scenario: Scenario,
	stops: readonly (Stop | null)[],
	world: World<Stop>,
	/** What is done to the files before each life after the one that is stopped first. */
	damaged: readonly Damage[] = [],
): Promise<RoundResult> {
	const sessions = new Map(dialect.sessionsOf(scenario).map((id): [string, SessionLife[]] => [id, []]));
	const faults: string[] = [];
	const livesOf = (id: string): readonly SessionLife[] => sessions.get(id) ?? [];
	let count = 0;
	const live = async (kind: LifeKind, stop: Stop | null): Promise<Lived> => {
		const known = [...sessions.keys()];
		const before = new Map<string, SessionFiles>();
		for (const id of known) before.set(id, await world.readSession(id));
		count += 1;
		const lived = await world.live(dialect.partsOf(scenario, kind, count, known, livesOf), count, stop);
		faults.push(...lived.complaints);
		if (stop === null && !lived.completed) faults.push(`life ${count} does not come to its end`);
		const lines = linesOf(dialect, lived);
		for (const id of new Set([...known, ...lines.keys()])) {
			const lives = sessions.get(id) ?? [];
			sessions.set(id, lives);
			lives.push({
				kind,
				delivered: lines.get(id) ?? [],
				ran: lived.ran.get(id) ?? [],
				before: before.get(id) ?? noFiles,
				after: await world.readSession(id),
				completed: lived.completed,
				endedWell: stop === null && lived.completed,
				lostPower: lived.lostPower,
			});
		}
		return lived;
	};
	if (dialect.partsOf(scenario, "earlier", 1, [], livesOf).length > 0) await live("earlier", null);
	const [first = null, ...others] = stops;
	const { completed } = await live("stopped", first);
	for (const [index, stop] of [...others, null].entries()) {
		const damage = damaged[index];
		if (damage !== undefined) await world.damage(damage, index);
		await live("recovery", stop);
	}
	const marks = await world.marks();
	for (const [id, lives] of sessions) {
		const ran = ranOf(marks, dialect.commandsOf(scenario, id, lives));
		const judged = judge(dialect, scenario, id, withCommands(lives, ran));
		faults.push(...judged.map((fault) => `${id}: ${fault}`));
	}
	return { faults, sessions: sessions.size, struck: !completed };
}

function linesOf<Scenario>(dialect: CrashDialect<Scenario>, { delivered }: Lived): ReadonlyMap<string, string[]> {
	const lines = new Map<string, string[]>();
	for (const [part, own] of delivered.entries()) {
		for (const line of own) {
			const id = dialect.sessionOf(line, part);
			if (id !== null) lines.set(id, [...(lines.get(id) ?? []), line]);
		}
	}
	return lines;
}

/** Which of the commands left their marks, as often as they did. */
function ranOf(marks: readonly string[], commands: readonly string[]): readonly string[] {
	return marks.flatMap((mark) => commands.find((command) => command.includes(`echo ${mark} >>`)) ?? []);
}

function withCommands(lives: readonly SessionLife[], ran: readonly string[]): readonly SessionLife[] {
	const last = lives.at(-1);
	return last === undefined || ran.length === 0 ? lives : [...lives.slice(0, -1), { ...last, ran }];
}

/** Whether the session was written to, by a process that ended well: not every life comes to that. */
function isWritten({ endedWell, before, after }: SessionLife): boolean {
	return endedWell && !before.journal.equals(after.journal);
}

/** Faults as texts; none when all is well. */
export function judge<Scenario>(
	dialect: CrashDialect<Scenario>,
	scenario: Scenario,
	id: string,
	lives: readonly SessionLife[],
): readonly string[] {
	const last = lives.at(-1);
	if (last === undefined) return [];
	const { before, after } = last;
	const ran = lives.flatMap((life) => life.ran);
	const faults = [
		...dialect.judge(id, lives, scenario),
		// What a crash left half-written of the files next to the journal is mended with the next write.
		...(isWritten(last) ? checkContext(after.context) : []),
		...checkAgents(after),
		...checkJournal(after.journal),
		...checkEffects(ran, after.journal),
	];
	for (const [index, life] of lives.entries()) {
		const lostPower = lives.slice(0, index).some((earlier) => earlier.lostPower);
		faults.push(...checkRetained(life.before.journal, life.after.journal));
		if (!isWritten(life)) continue;
		faults.push(...checkFiles(life.before, life.after, lostPower), ...checkProjections(life.after.journal, life.after));
	}
	if (openCalls(after.journal).length > 0) faults.push("calls are left unfinished");
	if (!dialect.isUsed(lives)) return faults;
	faults.push(...checkInputs(after.journal));
	const unknown = countUnknown(after) - countUnknown(before);
	const unclosed = countUnclosed(before);
	if (unknown !== unclosed) faults.push(`${unclosed} calls were to be closed as unknown, ${unknown} were`);
	return faults;
}
