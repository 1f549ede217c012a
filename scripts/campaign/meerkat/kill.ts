// The kill campaign of many sessions: `agentwire rpc` with twenty sessions at once, killed with SIGKILL at a random moment,
// now and then once more while it takes them up again, and judged by what the client was told.
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { isRecord } from "../../../src/base/json.ts";
import type { SessionFiles } from "../crash/crash-checks.ts";
import { shell } from "../crash/crash-scenarios.ts";
import type { CampaignOptions, CampaignReport } from "../frame/campaign.ts";
import { copyBuild, readOrEmpty, readSessionIn } from "../kill/kill.ts";
import type { Place } from "../kill/kill-life.ts";
import { createRandom, type Random } from "../random.ts";
import { gather, judgeSession, type ReportedSession } from "./kill-judge.ts";
import { type HostedLife, liveHosted, playAgain, playPlans, readId, type SessionPlan, turnId } from "./kill-life.ts";

/** Sessions of a process. */
export const size = 20;
const usage = 'usage: {"input_other": 10, "output": 5}';
const said = `think: hm\ntext: Hello\ntext:  there\n${usage}`;

export function drawPlan(random: Random, index: number): SessionPlan {
	const hasTools = random.chance(60);
	return {
		index,
		isDeferred: random.chance(25),
		hasTools,
		runs: 1 + random.below(3),
		decision: random.pick(["approve", "approve", "approve_for_session", "reject", null]),
		interruptAfter: random.chance(20) ? 1 + random.below(12) : null,
		archives: random.chance(15),
	};
}

/** What the model of a session answers in one life, run by run. */
function scriptOf({ index, hasTools, runs }: SessionPlan, life: number): readonly string[] {
	if (life > 1) return [shell("call-1", `echo again-${index}-${life} >> effects`), said, said];
	if (!hasTools) return Array.from({ length: runs }, () => said);
	const command = (name: string) => `sleep 0.0${index % 5}; echo ${name} >> effects`;
	return Array.from({ length: runs }, (_, run) => [
		`text: I will.\n${shell(`call-${run}-1`, command(`one-${index}-${run}`))}\n${shell(`call-${run}-2`, command(`two-${index}-${run}`))}\n${usage}`,
		said,
	]).flat();
}

/** Settings with a model for each session; the default one says a word and no more. */
async function writeSettings({ root }: Place, plans: readonly SessionPlan[], life: number): Promise<string> {
	const models: Record<string, object> = {};
	const providers: Record<string, object> = {};
	const add = async (name: string, scripts: readonly string[]): Promise<void> => {
		const file = path.join(root, `scripts-${name}-${life}.json`);
		await writeFile(file, JSON.stringify(scripts));
		models[name] = { provider: name, model: "scripted_echo", max_context_size: 100_000 };
		const env = { KIMI_SCRIPTED_ECHO_SCRIPTS: file };
		providers[name] = { type: "_scripted_echo", base_url: "", api_key: "", env };
	};
	await add("plain", [said, said, said]);
	for (const plan of plans) await add(`m${plan.index}`, scriptOf(plan, life));
	const configFile = path.join(root, `config-${life}.json`);
	await writeFile(configFile, JSON.stringify({ default_model: "plain", models, providers }));
	return configFile;
}

interface Round {
	readonly faults: readonly string[];
	/** Whether the first life was killed before the client had done its part. */
	readonly struck: boolean;
	readonly sessions: number;
	readonly running: number;
	readonly duration: number;
}

/** Lives through a life that is killed after each of the times, null for one that is not, and one that ends well. */
async function runRound(
	executable: string,
	plans: readonly SessionPlan[],
	kills: readonly (number | null)[],
): Promise<Round> {
	const root = await mkdtemp(path.join(tmpdir(), "agentwire-kill-"));
	const place: Place = { root, shareDir: path.join(root, "share"), workDir: path.join(root, "work"), executable };
	const directoryOf = (id: string): string =>
		path.join(place.shareDir, "sessions", createHash("md5").update(place.workDir).digest("hex"), id);
	try {
		await mkdir(place.workDir);
		const delivered = new Map<string, ReportedSession>();
		const lives: HostedLife[] = [];
		const live = async (killAfter: number | null): Promise<HostedLife> => {
			const life = lives.length + 1;
			const configFile = await writeSettings(place, plans, life);
			const play = life === 1 ? playPlans(plans) : playAgain([...delivered.keys()], life);
			const lived = await liveHosted(place, configFile, play, killAfter);
			lives.push(lived);
			gather(lived.delivered, delivered);
			return lived;
		};
		for (const killAfter of kills) await live(killAfter);
		const running = countRunning(delivered);
		const found = new Map<string, SessionFiles>();
		for (const id of delivered.keys()) found.set(id, await readSessionIn(directoryOf(id)));
		const wasArchived = new Set([...delivered.values()].filter(({ isArchived }) => isArchived).map(({ id }) => id));
		const mayBeArchived = new Set(plans.filter(({ archives }) => archives).map(({ index }) => index));
		const last = await live(null);
		const faults = lives.flatMap(({ complaints }) => complaints);
		const effects = (await readOrEmpty(path.join(place.workDir, "effects"))).toString().split("\n").slice(0, -1);
		for (const [id, before] of found) {
			const session = delivered.get(id);
			if (session === undefined) continue;
			const after = await readSessionIn(directoryOf(id));
			faults.push(...judgeSession(session, before, after, commandsOf(session, effects, plans)));
			const index = indexOf(session);
			const isUncertain = !wasArchived.has(id) && index !== null && mayBeArchived.has(index);
			faults.push(...checkFound(id, last.delivered, wasArchived.has(id), isUncertain));
		}
		const [first] = lives;
		return {
			faults,
			struck: first?.completed === false,
			sessions: found.size,
			running,
			duration: first?.duration ?? 0,
		};
	} finally {
		await rm(root, { recursive: true, force: true, maxRetries: 5 });
	}
}

export function indexOf({ events }: ReportedSession): number | null {
	const [, index] = events.flatMap(({ prompt }) => /^session (\d+),/.exec(String(prompt)) ?? []);
	return index === undefined ? null : Number(index);
}

/** Sessions with a run that was told to begin and not to end. */
function countRunning(delivered: ReadonlyMap<string, ReportedSession>): number {
	return [...delivered.values()].filter(({ events }) => {
		const types = events.map(({ type }) => String(type));
		return types.lastIndexOf("run_started") > types.findLastIndex((type) => /^run_(?:completed|failed)$/.test(type));
	}).length;
}

/** The commands of a session that left their mark, as often as they did. */
function commandsOf(
	session: ReportedSession,
	effects: readonly string[],
	plans: readonly SessionPlan[],
): readonly string[] {
	const index = indexOf(session);
	const plan = plans.find((each) => each.index === index);
	if (plan === undefined) return [];
	const scripts = [1, 2, 3].flatMap((life) => scriptOf(plan, life)).join("\n");
	const commands = [...scripts.matchAll(/"command\\":\\"(.*?)\\"/g)].flatMap(([, command]) => command ?? []);
	return effects.flatMap((mark) => commands.find((command) => command.includes(`echo ${mark} >>`)) ?? []);
}

/** Whether the new process finds the session, or finds none that was put away. */
export function checkFound(
	id: string,
	delivered: readonly object[],
	isArchived: boolean,
	isUncertain: boolean,
): string[] {
	return [readId(id), turnId(id)].flatMap((requestId) => {
		const response = delivered.find((message) => "id" in message && message.id === requestId);
		const error = isRecord(response) && isRecord(response["error"]) ? response["error"] : null;
		const isThere = isRecord(response) && isRecord(response["result"]);
		const isNotFound = isRecord(error?.["data"]) && error["data"]["code"] === "SESSION_NOT_FOUND";
		const isRight = isUncertain ? isThere || isNotFound : isArchived ? isNotFound : isThere;
		return isRight ? [] : [`${requestId}: ${JSON.stringify(response)}`];
	});
}

/** Needs the built executable. `rounds` is the number of processes killed. */
export async function runCampaign({ rounds, seed, log }: CampaignOptions): Promise<CampaignReport> {
	const started = performance.now();
	const random = createRandom(seed);
	const findings: string[] = [];
	const totals = { struck: 0, twice: 0, sessions: 0, running: 0 };
	const draw = () => Array.from({ length: size }, (_, index) => drawPlan(random, index));
	const build = await copyBuild();
	const executable = path.join(build, "bin", "agentwire");
	const whole = await runRound(executable, draw(), [null]);
	findings.push(...whole.faults.map((fault) => `not killed: ${fault}`));
	for (let round = 0; round < rounds; round += 1) {
		const plans = draw();
		const moment = () => (random.below(1_000) / 1_000) * whole.duration;
		const kills = random.chance(25) ? [moment(), moment()] : [moment()];
		const killed = await runRound(executable, plans, kills);
		totals.struck += Number(killed.struck);
		totals.twice += kills.length - 1;
		totals.sessions += killed.sessions;
		totals.running += killed.running;
		if (killed.faults.length > 0) {
			const times = kills.map((time) => time.toFixed(1)).join(" and ");
			findings.push(`round ${round + 1}, killed after ${times} ms: ${killed.faults.slice(0, 5).join("; ")}`);
		}
		if ((round + 1) % 20 === 0) log(`${round + 1} rounds of ${size} sessions, ${findings.length} findings`);
	}
	await rm(build, { recursive: true, force: true });
	const seconds = (performance.now() - started) / 1000;
	return {
		kind: "kill",
		rounds,
		seed,
		seconds,
		findings,
		figures: {
			"killed before the end": totals.struck,
			"killed twice": totals.twice,
			"sessions told of and found": totals.sessions,
			"of these in a run when killed": totals.running,
			"rounds per second": Number((rounds / seconds).toFixed(2)),
		},
	};
}
