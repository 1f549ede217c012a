// The campaign of many machines: three workers, two gateways and up to 200 sessions over a PostgreSQL, all of which fail in every way
// that is known, while turns run. What was acknowledged is in the journals afterwards, once, and was written by one process at a time.
import { setMaxListeners } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { inParallel } from "../../../bench/parallel.ts";
import { findPostgres, startPostgres } from "../../support/postgres/postgres-server.ts";
import { type CampaignOptions, type CampaignReport, reportOn, Tally } from "../frame/campaign.ts";
import { createRandom, type Random } from "../random.ts";
import { chooseFault } from "./faults.ts";
import { judge } from "./judge.ts";
import { SessionLoad } from "./load.ts";
import { createStage, type Stage } from "./stage.ts";
import { traceSessions } from "./trace.ts";
import { longestStandstill, TurnWatch } from "./watch.ts";

/** Faults of one round. */
const faultsOfRound = 80;
/** Milliseconds between the beginnings of two faults, at most. */
const longestPause = 1_200;
/** Milliseconds for each session between two turns, at most, for each session that there is. */
const restOfSession = 150;

/** A round is the life of one cluster with eighty faults; `points` is another number of them. */
export async function runCampaign({ rounds, seed, points, log }: CampaignOptions): Promise<CampaignReport> {
	return await reportOn("cluster", seed, async () => {
		if (findPostgres() === null) throw new Error("There is no PostgreSQL: install Debian's package postgresql.");
		const tally = new Tally();
		const findings: string[] = [];
		const server = await startPostgres({ isDurable: true });
		try {
			for (let number = 1; number <= rounds; number += 1) {
				const random = createRandom(seed + number - 1);
				const stage = await createStage(server, `round_${number}`);
				try {
					await playRound(stage, random, points === "all" ? faultsOfRound : points, tally);
					if (stage.findings.length > 0) log(`what was done\n  ${stage.history.join("\n  ")}`);
					for (const trace of await traceSessions(stage.database, stage.findings)) log(trace);
				} finally {
					await stage.remove();
				}
				// One fault after another may follow from the first.
				const shown = stage.findings.slice(0, 10);
				if (shown.length > 0) findings.push(`round with --rounds 1 --seed ${seed + number - 1}: ${shown.join("\n  ")}`);
				log(`${number} of ${rounds} rounds, ${tally.count("faults")} faults, ${stage.findings.length} findings`);
			}
		} finally {
			await server.remove();
		}
		return { rounds, findings, figures: tally.figures() };
	});
}

async function playRound(stage: Stage, random: Random, faults: number, tally: Tally): Promise<void> {
	const sessions = random.pick([20, 40, 100, 200]);
	const watch = new TurnWatch(stage, tally);
	const calm = new AbortController();
	setMaxListeners(0, calm.signal);
	const loads = await inParallel(sessions, 10, async (index) => {
		const own = createRandom(random.below(2 ** 31));
		const { client } = stage.client(own) ?? {};
		const id = await client?.createSession({ workDir: stage.place.workDir, mode: "yolo" });
		return new SessionLoad(`s${index}`, String(id), stage, own, tally);
	});
	watch.begin();
	tally.add("sessions", sessions);
	const playing = Promise.all(loads.map((load) => load.play(sessions * restOfSession, calm.signal)));
	for (const { hasMovableClock } of stage.members)
		if (!hasMovableClock) tally.add("processes whose clock cannot be moved");
	await fail(stage, random, faults, tally);
	calm.abort();
	await playing;
	// No turn is left: also those that no client waits for.
	for (const began = performance.now(); watch.open > 0 && performance.now() - began < longestStandstill; )
		await wait(100);
	if (watch.open > 0)
		stage.findings.push(`${watch.open} turns have no end ${longestStandstill / 1000} s after the last fault`);
	await watch.end();
	await judge(stage, loads, tally);
	await Promise.all(loads.map(({ follower }) => follower.end()));
}

/** Makes so many faults, and waits until what they did is undone. */
async function fail(stage: Stage, random: Random, faults: number, tally: Tally): Promise<void> {
	const undone: Promise<void>[] = [];
	for (let number = 0; number < faults; ) {
		const fault = chooseFault(random);
		const begun = await fault.begin(stage, random);
		if (begun !== null) {
			undone.push(begun.undone);
			stage.history.push(`${new Date().toISOString()} ${fault.name}`);
			tally.add("faults");
			tally.add(`faults, ${fault.name}`);
			number += 1;
		}
		await wait(random.below(longestPause));
	}
	await Promise.all(undone);
	for (const member of stage.members) await member.moveClock(0);
}
