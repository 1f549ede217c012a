// The crash campaign of many sessions: a server with twenty sessions stops at an effect on its files, by a kill or a power
// loss, now and then once more while it takes them up again, and is judged by what the client was told.
import { createMemoryFiles, type MemoryFiles } from "../../../test/support/memory-files.ts";
import type { CampaignOptions, CampaignReport } from "../frame/campaign.ts";
import { createRandom, type Random } from "../random.ts";
import {
	type HostedLifeInMemory,
	indexOfCommand,
	liveHostedInMemory,
	type Port,
	readHostedSession,
} from "./crash-life.ts";
import { checkFound, drawPlan, indexOf, size } from "./kill.ts";
import { gather, judgeSession, type ReportedSession } from "./kill-judge.ts";
import { playAgain, playPlans, type SessionPlan } from "./kill-life.ts";

interface Point {
	readonly effect: number;
	readonly when: "before" | "half-way" | "after";
	/** How much of what was not synced stays, from 0 to 1; null for a kill, which takes nothing. */
	readonly loss: number | null;
}

interface Round {
	readonly faults: readonly string[];
	readonly sessions: number;
	readonly effects: number;
}

/** Lives through a life that stops at each of the points, and one that ends well. */
export async function runRound(plans: readonly SessionPlan[], points: readonly Point[], port?: Port): Promise<Round> {
	const delivered = new Map<string, ReportedSession>();
	const ran: string[] = [];
	const faults: string[] = [];
	let files: MemoryFiles = createMemoryFiles();
	let lives = 0;
	let effects = 0;
	const live = async (point: Point | null): Promise<HostedLifeInMemory> => {
		lives += 1;
		const play = lives === 1 ? playPlans(plans) : playAgain([...delivered.keys()], lives);
		const mishap =
			point === null ? null : { at: point.effect, mishap: { kind: "stop", when: point.when, manner: "hang" } as const };
		const lived = await liveHostedInMemory(files, plans, lives, play, mishap, port);
		const loss = point?.loss ?? null;
		files = loss === null ? lived.files : lived.files.afterPowerLoss(() => loss);
		gather(lived.delivered, delivered, loss !== null);
		ran.push(...lived.ran);
		effects = Math.max(effects, lived.effects);
		if (point === null && !lived.completed) faults.push(`life ${lives} does not come to its end`);
		return lived;
	};
	for (const point of points) await live(point);
	const before = files.copy();
	const wasArchived = new Set([...delivered.values()].filter(({ isArchived }) => isArchived).map(({ id }) => id));
	const mayBeArchived = new Set(plans.filter(({ archives }) => archives).map(({ index }) => index));
	const ids = [...delivered.keys()];
	const last = await live(null);
	for (const id of points.length === 0 ? [] : ids) {
		const session = delivered.get(id);
		if (session === undefined) continue;
		const index = indexOf(session);
		const own = ran.filter((command) => indexOfCommand(command) === index);
		const found = await readHostedSession(before, id);
		faults.push(...judgeSession(session, found, await readHostedSession(files, id), own));
		const isUncertain = !wasArchived.has(id) && index !== null && mayBeArchived.has(index);
		faults.push(...checkFound(id, last.delivered, wasArchived.has(id), isUncertain));
	}
	return { faults, sessions: ids.length, effects };
}

function drawPoint(random: Random, effects: number): Point {
	return {
		effect: 1 + random.below(effects),
		when: random.pick(["before", "half-way", "after"]),
		loss: random.pick([null, null, 0, 0.999, random.below(1000) / 1000]),
	};
}

/** `rounds` is the number of processes stopped. */
export async function runCampaign({ rounds, seed, log }: CampaignOptions): Promise<CampaignReport> {
	const started = performance.now();
	const random = createRandom(seed);
	const findings: string[] = [];
	const totals = { twice: 0, sessions: 0 };
	const draw = () => Array.from({ length: size }, (_, index) => drawPlan(random, index));
	const whole = await runRound(draw(), []);
	findings.push(...whole.faults.map((fault) => `not stopped: ${fault}`));
	for (let round = 0; round < rounds; round += 1) {
		const points = [drawPoint(random, whole.effects)];
		// A life that takes sessions up again has fewer effects than one that makes them.
		if (random.chance(25)) points.push(drawPoint(random, Math.ceil(whole.effects / 2)));
		const stopped = await runRound(draw(), points);
		totals.twice += points.length - 1;
		totals.sessions += stopped.sessions;
		if (stopped.faults.length > 0) {
			const where = points.map(({ effect, when, loss }) => `${when} effect ${effect} (${loss ?? "kill"})`);
			findings.push(`round ${round + 1}, stopped ${where.join(", then ")}: ${stopped.faults.slice(0, 5).join("; ")}`);
		}
		if ((round + 1) % 20 === 0) log(`${round + 1} rounds of ${size} sessions, ${findings.length} findings`);
	}
	const seconds = (performance.now() - started) / 1000;
	return {
		kind: "crash",
		rounds,
		seed,
		seconds,
		findings,
		figures: {
			"effects of a life": whole.effects,
			"stopped twice": totals.twice,
			"sessions told of and found": totals.sessions,
			"rounds per second": Number((rounds / seconds).toFixed(2)),
		},
	};
}
