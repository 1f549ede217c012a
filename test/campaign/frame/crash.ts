// The crash campaign stops a server in this process before, half-way through and after effects on its files, by a kill or a
// power loss; the kill campaign kills the built executable at random moments. Both open the same files again, now and then
// stop the recovery too, and judge what must hold.
import { rm } from "node:fs/promises";
import fc from "fast-check";
import type { Files } from "../../../src/ports/files/port.ts";
import { createMemoryFiles, type MemoryFiles } from "../../support/store/memory-files.ts";
import { createRandom } from "../random.ts";
import { type CampaignOptions, type CampaignReport, reportOn, Tally } from "./campaign.ts";
import { type Cases, playCases } from "./cases.ts";
import { type CrashDialect, type Lived, playRound, type RoundResult, type World } from "./crash-round.ts";
import { type Damage, damages, inflict } from "./damage.ts";
import { createPlace, removePlace } from "./executable.ts";
import { choose } from "./hostile-lines.ts";
import type { Part } from "./life.ts";
import { type Happening, liveInMemory, type MemoryLife, sessionDirectory } from "./memory-life.ts";
import { copyBuild, damageProcessSessions, liveInProcess, readMarks, readProcessSession } from "./process-life.ts";
import { readSessionFiles } from "./session-files.ts";

/**
 * One place to stop at. `loss` says what a power loss leaves of what was not synced: nothing, nearly all, or what a seed
 * says; null is a kill, which takes nothing.
 */
export interface Stop {
	readonly effect: number;
	readonly when: "before" | "half-way" | "after";
	readonly loss: null | "most" | "least" | number;
}

const moments: readonly Stop["when"][] = ["before", "half-way", "after"];
/** Milliseconds that may be spent on making a failing case smaller. */
const shrinkLimit = 40_000;

/** Files in memory, over which servers in this process live. */
export class MemoryWorld<Scenario> implements World<Stop> {
	readonly #dialect: CrashDialect<Scenario>;
	readonly #unwinds: boolean;
	readonly #port: ((files: Files) => Files) | undefined;
	#files: MemoryFiles = createMemoryFiles();
	/** When the power came back the last time. */
	#bootedAt = 0;
	readonly lives: MemoryLife[] = [];

	/** `port` stands between the servers and their files, to see what the campaign finds. */
	constructor(dialect: CrashDialect<Scenario>, scenario: Scenario, port?: (files: Files) => Files) {
		this.#dialect = dialect;
		this.#unwinds = dialect.unwinds(scenario);
		this.#port = port;
	}

	async live(parts: readonly Part[], life: number, stop: Stop | null): Promise<Lived> {
		const manner = this.#unwinds ? "throw" : "hang";
		const plan = stop && { at: stop.effect, mishap: { kind: "stop", when: stop.when, manner } as const };
		const { serve } = this.#dialect;
		const port = this.#port === undefined ? {} : { port: this.#port };
		const lived = await liveInMemory({
			files: this.#files,
			parts,
			life,
			bootedAt: this.#bootedAt,
			plan,
			serve,
			...port,
		});
		this.lives.push(lived);
		this.#files = remains(lived.files, stop?.loss ?? null);
		if (stop !== null && stop.loss !== null) this.#bootedAt = this.#files.now() + 1;
		const { happenings, completed } = lived;
		return {
			delivered: parts.map((_, part) => linesOf(happenings, part)),
			ran: commandsBySession(happenings),
			completed,
			lostPower: stop !== null && stop.loss !== null,
			complaints: [],
		};
	}

	async readSession(id: string) {
		const files = this.#files;
		const read = async (name: string) => (await files.read(`${sessionDirectory(id)}/${name}`)) ?? Buffer.alloc(0);
		const subagents = `${sessionDirectory(id)}/subagents`;
		const agents = (await files.status(subagents)) === null ? [] : await files.list(subagents);
		return await readSessionFiles(
			agents.map(({ name }) => name),
			read,
		);
	}

	async damage(damage: Damage, round: number): Promise<void> {
		const files = this.#files;
		const sessions = sessionDirectory("");
		if ((await files.status(sessions)) === null) return;
		for (const { name: id, kind } of await files.list(sessions)) {
			if (kind !== "directory") continue;
			const at = (name: string) => `${sessionDirectory(id)}/${name}`;
			const directory = {
				read: async (name: string) => (await files.read(at(name))) ?? Buffer.alloc(0),
				write: (name: string, content: Buffer) => files.replace(at(name), content),
				async remove(name: string) {
					if ((await files.status(at(name))) !== null) await files.remove(at(name));
				},
			};
			await inflict(damage, directory, round);
		}
	}

	marks = async () => [];
}

const linesOf = (happenings: readonly Happening[], part: number): readonly string[] =>
	happenings.flatMap((one) => (one.kind === "delivered" && one.part === part ? [one.line] : []));

function commandsBySession(happenings: readonly Happening[]): ReadonlyMap<string, readonly string[]> {
	const ran = new Map<string, readonly string[]>();
	for (const one of happenings) {
		if (one.kind === "ran") ran.set(one.sessionId, [...(ran.get(one.sessionId) ?? []), one.command]);
	}
	return ran;
}

function remains(files: MemoryFiles, loss: Stop["loss"]): MemoryFiles {
	if (loss === null) return files;
	if (loss === "least") return files.afterPowerLoss(() => 0);
	if (loss === "most") return files.afterPowerLoss(() => 0.999);
	const random = createRandom(loss);
	return files.afterPowerLoss(() => random.below(1_000_000) / 1_000_000);
}

/** Every `n`th of the items, so that at most `limit` are left. */
function thinned<T>(items: readonly T[], limit: number | "all"): readonly T[] {
	if (limit === "all" || items.length <= limit) return items;
	const step = items.length / limit;
	return Array.from({ length: limit }, (_, index) => items[Math.floor(index * step)]).filter(
		(item) => item !== undefined,
	);
}

interface CrashCase<Scenario> {
	readonly scenario: Scenario;
	/** Effects count on after the last one from the first: any number will do. */
	readonly stops: readonly Stop[];
	/** What is done to the files after each stop. */
	readonly damaged?: readonly Damage[];
}

/** Plays a round with stops in memory; `port` stands between the servers and their files. */
export async function playCrash<Scenario>(
	dialect: CrashDialect<Scenario>,
	{ scenario, stops, damaged = [] }: CrashCase<Scenario>,
	port?: (files: Files) => Files,
): Promise<RoundResult> {
	return await playRound(dialect, scenario, stops, new MemoryWorld(dialect, scenario, port), damaged);
}

/** How many effects a life of the scenario has that is not stopped. */
export async function countEffects<Scenario>(
	dialect: CrashDialect<Scenario>,
	scenario: Scenario,
	port?: (files: Files) => Files,
): Promise<{ readonly effects: number; readonly faults: readonly string[] }> {
	const world = new MemoryWorld(dialect, scenario, port);
	const { faults } = await playRound(dialect, scenario, [null], world);
	const whole = world.lives.at(-2);
	const order = dialect.checkOrder?.(whole?.happenings ?? [], scenario) ?? [];
	return { effects: whole?.effects ?? 1, faults: [...faults, ...order.map((fault) => `order: ${fault}`)] };
}

const describeStop = ({ effect, when, loss }: Stop): string =>
	`stopped ${when} effect ${effect} by ${loss === null ? "a kill" : `a power loss that leaves ${typeof loss === "number" ? `what seed ${loss} draws` : `the ${loss}`}`}`;

/**
 * `points` bounds the stops per scenario that is walked, `rounds` is the number of rounds with stops that are drawn with the
 * seed.
 */
export function runCrash<Scenario>(
	dialect: CrashDialect<Scenario>,
	command: string,
	options: CampaignOptions,
): Promise<CampaignReport> {
	return reportOn("crash", options.seed, async () => {
		const { points, seed, log, path } = options;
		const tally = new Tally();
		const findings: string[] = [];
		const lengths = new Map<string, number>();
		const lengthOf = async (scenario: Scenario): Promise<number> => {
			const { key, whole, share } = dialect.measure(scenario);
			let effects = lengths.get(key);
			if (effects === undefined) {
				const counted = await countEffects(dialect, whole);
				effects = counted.effects;
				lengths.set(key, effects);
				findings.push(...counted.faults.map((fault) => `${key}, not stopped: ${fault}`));
			}
			return Math.max(1, Math.ceil(effects * share));
		};
		const play = async ({ scenario, stops, damaged = [] }: CrashCase<Scenario>) => {
			const effects = await lengthOf(scenario);
			const within = stops.map((stop) => ({ ...stop, effect: 1 + (stop.effect % effects) }));
			const possible = damaged.map((damage, index) => possibleDamage(damage, within[index]));
			const { faults, sessions, struck } = await playCrash(dialect, { scenario, stops: within, damaged: possible });
			tally.add("sessions reported and found", sessions);
			if (struck) tally.add("stopped");
			if (stops.length > 1) tally.add("stopped twice");
			for (const damage of possible) tally.add(`damage: ${damage}`);
			return { faults, rounds: 1, transcript: [...within.map(describeStop), ...possible] };
		};
		let walked = 0;
		for (const scenario of path === undefined ? dialect.scenarios : []) {
			const effects = await lengthOf(scenario);
			const stops = thinned(allStops(effects, seed), points);
			walked += stops.length;
			for (const { damage, ...stop } of stops) {
				const damaged = damage === null ? [] : [damage];
				const { faults, transcript } = await play({ scenario, stops: [stop], damaged });
				if (faults.length > 0) findings.push([...dialect.describe(scenario), ...transcript, ...faults].join("; "));
			}
			log(`${dialect.describe(scenario)}: ${effects} effects, ${stops.length} stops, ${findings.length} findings`);
		}
		const cases: Cases<CrashCase<Scenario>> = {
			command,
			arbitrary: fc.record({
				scenario: dialect.arbitrary,
				stops: fc.array(stopArbitrary, { minLength: 1, maxLength: 2 }),
				damaged: damagedArbitrary,
			}),
			play,
			describe: ({ scenario }) => dialect.describe(scenario),
			isEven: true,
			perSeed: 100,
			shrinkLimit,
		};
		const drawn = await playCases(cases, options);
		const effects = Object.fromEntries([...lengths].map(([key, length]) => [`effects of ${key}`, length]));
		return {
			rounds: walked + drawn.rounds,
			findings: [...findings, ...drawn.findings],
			figures: { ...effects, ...tally.figures(), "walked stops": walked, "drawn rounds": drawn.rounds },
		};
	});
}

/** Every stop without a damage, and after each effect one of the damages in turn, after a kill and after a power loss. */
function allStops(effects: number, seed: number): (Stop & { readonly damage: Damage | null })[] {
	return Array.from({ length: effects }, (_, effect) => effect).flatMap((effect) => {
		const losses = [null, "least", "most", seed + effect] as const;
		const damage = damages[effect % damages.length] ?? null;
		return [
			...moments.flatMap((when) => losses.map((loss) => ({ effect, when, loss, damage: null }))),
			...([null, "most"] as const).map((loss) => ({ effect, when: "after", loss, damage }) as const),
		];
	});
}

/** Another program goes on with what a kill left: what a power loss took of its files, it does not know. */
function possibleDamage(damage: Damage, stop: Stop | undefined): Damage {
	return damage === "continued" && stop?.loss !== null ? "all missing" : damage;
}

const damagedArbitrary: fc.Arbitrary<readonly Damage[]> = fc.oneof(
	fc.constant([]),
	fc.array(choose<Damage>(...damages), { minLength: 1, maxLength: 2 }),
);

const stopArbitrary: fc.Arbitrary<Stop> = fc.record({
	effect: fc.nat({ max: 10_000 }),
	when: choose(...moments),
	loss: fc.oneof(choose<Stop["loss"]>(null, null, "least", "most"), fc.nat({ max: 1_000_000 })),
});

interface KillCase<Scenario> {
	readonly scenario: Scenario;
	/** Moments of the kills, in thousandths of the time that a life takes. */
	readonly kills: readonly number[];
	/** What is done to the files after each kill. */
	readonly damaged: readonly Damage[];
}

/** Needs the built executable. `rounds` is the number of rounds with a kill. */
export function runKill<Scenario>(
	dialect: CrashDialect<Scenario>,
	command: string,
	options: CampaignOptions,
): Promise<CampaignReport> {
	return reportOn("kill", options.seed, async () => {
		const tally = new Tally();
		const findings: string[] = [];
		const durations = new Map<string, number>();
		const { root, executable } = await copyBuild();
		const playOnce = async (scenario: Scenario, kills: readonly (number | null)[], damaged: readonly Damage[] = []) => {
			const world = await createProcessWorld(executable);
			try {
				return { ...(await playRound(dialect, scenario, kills, world, damaged)), duration: world.duration() };
			} finally {
				await world.remove();
			}
		};
		const play = async ({ scenario, kills, damaged }: KillCase<Scenario>) => {
			const { key, whole, share } = dialect.measure(scenario);
			let usual = durations.get(key);
			if (usual === undefined) {
				const measured = await playOnce(whole, [null]);
				usual = measured.duration;
				durations.set(key, usual);
				findings.push(...measured.faults.map((fault) => `${key}, not killed: ${fault}`));
			}
			const duration = usual * share;
			const times = kills.map((kill) => (kill / 1000) * duration);
			const { faults, sessions, struck } = await playOnce(scenario, times, damaged);
			tally.add("sessions reported and found", sessions);
			if (struck) tally.add("killed before the end");
			if (kills.length > 1) tally.add("killed twice");
			if (damaged.length > 0) tally.add("damaged");
			const transcript = [...times.map((time) => `killed after ${time.toFixed(1)} ms`), ...damaged];
			return { faults, rounds: 1, transcript };
		};
		const moment = fc.nat({ max: 999 });
		const cases: Cases<KillCase<Scenario>> = {
			command,
			arbitrary: fc.record({
				scenario: dialect.processArbitrary,
				kills: fc.oneof({ weight: 3, arbitrary: fc.tuple(moment) }, { weight: 1, arbitrary: fc.tuple(moment, moment) }),
				damaged: damagedArbitrary,
			}),
			play,
			describe: ({ scenario }) => dialect.describe(scenario),
			isEven: true,
			perSeed: 50,
			// No moment comes twice.
			shrinkLimit: 0,
		};
		try {
			const { rounds, findings: found } = await playCases(cases, options);
			const figures = { ...tally.figures(), "kinds of scenarios": durations.size };
			return { rounds, findings: [...findings, ...found], figures };
		} finally {
			await rm(root, { recursive: true, force: true });
		}
	});
}

/** Folders of the file system, over which processes live. A stop is a number of milliseconds. */
async function createProcessWorld(executable: string) {
	const place = await createPlace(executable);
	const durations: number[] = [];
	return {
		async live(parts: readonly Part[], life: number, stop: number | null): Promise<Lived> {
			const lived = await liveInProcess(place, parts, life, stop);
			durations.push(lived.duration);
			return { ...lived, ran: new Map(), lostPower: false };
		},
		readSession: (id: string) => readProcessSession(place, id),
		damage: (damage: Damage, round: number) => damageProcessSessions(place, damage, round),
		marks: () => readMarks(place),
		/** Of the life before the last recovery. */
		duration: () => durations.at(-2) ?? 0,
		remove: () => removePlace(place),
	};
}
