// The crash campaign: stops a server in this process before, half-way through and after every effect on its files, by a
// kill or a power loss, opens the same files again and checks what must hold; then stops the recovery too.

import type { Files } from "../../../src/files/port.ts";
import { createMemoryFiles, type MemoryFiles } from "../../../test/support/memory-files.ts";
import type { CampaignOptions, CampaignReport } from "../frame/campaign.ts";
import { createRandom } from "../random.ts";
import { readSessionFiles, type SessionFiles } from "./crash-checks.ts";
import { type JudgedLife, judge } from "./crash-judge.ts";
import { type Life, live, sessionDirectory } from "./crash-life.ts";
import { checkOrder } from "./crash-order.ts";
import { type LifeScript, recovery, type Scenario, scenarios } from "./crash-scenarios.ts";

type When = "before" | "half-way" | "after";
type Loss = "kill" | "power, least kept" | "power, most kept" | "power, at random";
/** About how many effects a recovery with one approved call has. */
const recoveryEffects = 60;

const moments: readonly When[] = ["before", "half-way", "after"];
const losses: readonly Loss[] = ["kill", "power, least kept", "power, most kept", "power, at random"];

/** One place to stop at. */
export interface Point {
	readonly effect: number;
	readonly when: When;
	readonly loss: Loss;
}

async function readSession(files: MemoryFiles, index: number): Promise<SessionFiles> {
	const read = async (name: string) => (await files.read(`${sessionDirectory(index)}/${name}`)) ?? Buffer.alloc(0);
	const subagents = `${sessionDirectory(index)}/subagents`;
	const agents = (await files.status(subagents)) === null ? [] : await files.list(subagents);
	return await readSessionFiles(
		agents.map(({ name }) => name),
		read,
	);
}

const deliveredLines = (life: Life, session: number): string[] =>
	life.happenings.flatMap((one) => (one.kind === "told" && one.session === session ? [one.line] : []));
const ranCommands = (life: Life, session: number): string[] =>
	life.happenings.flatMap((one) => (one.kind === "ran" && one.session === session ? [one.command] : []));

/** What a stop leaves, the moment being in the point. */
function remains({ files }: Life, { loss }: Point, random: () => number): MemoryFiles {
	switch (loss) {
		case "kill":
			return files;
		case "power, least kept":
			return files.afterPowerLoss(() => 0);
		case "power, most kept":
			return files.afterPowerLoss(() => 0.999);
		case "power, at random":
			return files.afterPowerLoss(random);
	}
}

const stopAt = ({ effect, when }: Point, unwinds: boolean) => {
	const manner = unwinds ? ("throw" as const) : ("hang" as const);
	return { at: effect, mishap: { kind: "stop", when, manner } as const };
};

interface Tally {
	readonly findings: string[];
	first: number;
	second: number;
}

async function startOf(scenario: Scenario): Promise<MemoryFiles> {
	const files = createMemoryFiles();
	if (scenario.earlier === null) return files;
	return (await live({ files, scripts: [scenario.earlier], life: 1, plan: null })).files;
}

function describe(scenario: Scenario, points: readonly Point[], faults: readonly string[]): string {
	const stops = points.map(({ effect, when, loss }) => `${when} effect ${effect} (${loss})`);
	return `${scenario.name}, stopped ${stops.join(", then ")}: ${faults.join("; ")}`;
}

/** Stops the scenario at the first point, its recovery at the second if there is one, and judges the end. */
export async function runPoints(
	scenario: Scenario,
	points: readonly Point[],
	random: () => number,
	port: (files: Files) => Files = (files) => files,
): Promise<string[]> {
	const sessions = scenario.scripts.map((): JudgedLife[] => []);
	let files = createMemoryFiles();
	let count = 0;
	const add = async (scripts: readonly LifeScript[], point: Point | null): Promise<void> => {
		count += 1;
		const before = files.copy();
		const life = await live({
			files,
			scripts,
			life: count,
			plan: point === null ? null : stopAt(point, scenario.unwinds),
			port,
		});
		files = point === null ? life.files : remains(life, point, random);
		for (const [index, lives] of sessions.entries()) {
			lives.push({
				delivered: deliveredLines(life, index),
				ran: ranCommands(life, index),
				before: await readSession(before, index),
				after: await readSession(files, index),
				completed: life.completed,
				lostPower: point !== null && point.loss !== "kill",
			});
		}
	};
	if (scenario.earlier !== null) await add([scenario.earlier], null);
	for (const [index, point] of [...points, null].entries()) {
		await add(
			index === 0 ? scenario.scripts : scenario.scripts.map(() => recovery(count + 1, scenario.goesOnWith)),
			point,
		);
	}
	return sessions.flatMap((lives) => judge(lives, scenario));
}

function allPoints(effects: number): Point[] {
	return Array.from({ length: effects }, (_, index) => index + 1).flatMap((effect) =>
		moments.flatMap((when) => losses.map((loss) => ({ effect, when, loss }))),
	);
}

/** Every `n`th of the items, so that at most `limit` are left. */
function thinned<T>(items: readonly T[], limit: number | "all"): readonly T[] {
	if (limit === "all" || items.length <= limit) return items;
	const step = items.length / limit;
	return Array.from({ length: limit }, (_, index) => items[Math.floor(index * step)]).filter(
		(item) => item !== undefined,
	);
}

/**
 * `points` bounds the stops per scenario, `rounds` is the number of second stops, drawn with the seed from all pairs of a
 * stop and a stop of its recovery.
 */
export async function runCampaign({ rounds, seed, points, log }: CampaignOptions): Promise<CampaignReport> {
	const started = performance.now();
	const random = createRandom(seed);
	const chance = (): number => random.below(1_000_000) / 1_000_000;
	const tally: Tally = { findings: [], first: 0, second: 0 };
	const figures: Record<string, number> = {};
	const recoveries: number[] = [];
	for (const scenario of scenarios) {
		const whole = await live({ files: await startOf(scenario), scripts: scenario.scripts, life: 2, plan: null });
		if (!whole.completed) tally.findings.push(`${scenario.name}: does not run to its end`);
		for (const fault of checkOrder(whole.happenings, scenario.scripts.length)) {
			tally.findings.push(`${scenario.name}, order: ${fault}`);
		}
		const chosen = thinned(allPoints(whole.effects), points);
		const before = tally.findings.length;
		for (const point of chosen) {
			const faults = await runPoints(scenario, [point], chance);
			tally.first += 1;
			if (faults.length > 0) tally.findings.push(describe(scenario, [point], faults));
		}
		figures[`effects of ${scenario.name}`] = whole.effects;
		recoveries.push(whole.effects);
		log(
			`${scenario.name}: ${whole.effects} effects, ${chosen.length} stops, ${tally.findings.length - before} findings`,
		);
	}
	for (let round = 0; round < rounds; round += 1) {
		const index = random.below(scenarios.length);
		const scenario = scenarios[index];
		if (scenario === undefined) continue;
		const draw = (effects: number): Point => ({
			effect: 1 + random.below(effects),
			when: random.pick(["before", "half-way", "after"]),
			loss: random.pick(["kill", "kill", "power, least kept", "power, at random"]),
		});
		const pair = [draw(recoveries[index] ?? 1), draw(recoveryEffects)];
		const faults = await runPoints(scenario, pair, chance);
		tally.second += 1;
		if (faults.length > 0) tally.findings.push(describe(scenario, pair, faults));
	}
	const seconds = (performance.now() - started) / 1000;
	const kinds = moments.length * losses.length;
	const pairs = recoveries.reduce((sum, effects) => sum + effects * kinds * recoveryEffects * kinds, 0);
	return {
		kind: "crash",
		rounds: tally.first + tally.second,
		seed,
		seconds,
		findings: tally.findings,
		figures: {
			...figures,
			"first stops": tally.first,
			"second stops": tally.second,
			"pairs of stops there are": pairs,
			"stops per second": Math.round((tally.first + tally.second) / seconds),
		},
	};
}
