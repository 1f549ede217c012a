// The kill campaign: the real executable, killed with SIGKILL at a random moment of a scenario, started again on the same
// session and judged as in the crash campaign.
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { isRecord } from "../../../src/base/json.ts";
import { readSessionFiles, type SessionFiles } from "../crash/crash-checks.ts";
import { type JudgedLife, judge } from "../crash/crash-judge.ts";
import { type LifeScript, placeholders, recovery, type Scenario, scenarios } from "../crash/crash-scenarios.ts";
import type { CampaignOptions, CampaignReport } from "../frame/campaign.ts";
import { createRandom } from "../random.ts";
import { liveInProcess, type Place, type ProcessLife, sessionId } from "./kill-life.ts";

const project = fileURLToPath(new URL("../../../", import.meta.url));

/** Copies the built executable, so that a build beside the campaign does not take it away; gives its root. */
export async function copyBuild(): Promise<string> {
	const root = await mkdtemp(path.join(tmpdir(), "agentwire-kill-build-"));
	for (const name of ["bin", "dist", "package.json"]) {
		await cp(path.join(project, name), path.join(root, name), { recursive: true });
	}
	return root;
}

export async function readOrEmpty(file: string): Promise<Buffer> {
	return await readFile(file).catch(() => Buffer.alloc(0));
}

async function readSession({ shareDir, workDir }: Place, index: number): Promise<SessionFiles> {
	const name = createHash("md5").update(workDir).digest("hex");
	return await readSessionIn(path.join(shareDir, "sessions", name, sessionId(index)));
}

export async function readSessionIn(directory: string): Promise<SessionFiles> {
	const agentIds = await readdir(path.join(directory, "subagents")).catch(() => []);
	return await readSessionFiles(agentIds, (file) => readOrEmpty(path.join(directory, file)));
}

/** The commands that the scripts of a model call for. */
function commandsOf({ model }: LifeScript): string[] {
	return model.flatMap((answer) =>
		answer.split("\n").flatMap((line) => {
			if (!line.startsWith("tool_call: ")) return [];
			const call: unknown = JSON.parse(line.slice("tool_call: ".length));
			const inner: unknown = isRecord(call) ? JSON.parse(String(call["arguments"])) : null;
			return isRecord(inner) && typeof inner["command"] === "string" ? [inner["command"]] : [];
		}),
	);
}

/** Which commands left their line in the file `effects`, as often as they did. */
async function effectsOf({ workDir }: Place, commands: readonly string[]): Promise<string[]> {
	const lines = (await readOrEmpty(path.join(workDir, "effects"))).toString().split("\n").slice(0, -1);
	return lines.map((line) => commands.find((command) => command.startsWith(`echo ${line} >>`)) ?? `unknown: ${line}`);
}

interface Killed {
	readonly faults: readonly string[];
	/** Whether the server was killed before its scripts were played. */
	readonly struck: boolean;
}

/** Plays a scenario and kills it, or lets it end when `killAfter` is null; then goes on with each session and judges. */
async function killScenario(
	executable: string,
	scenario: Scenario,
	killAfter: number | null,
): Promise<Killed & { readonly duration: number }> {
	const root = await mkdtemp(path.join(tmpdir(), "agentwire-kill-"));
	const place: Place = { root, shareDir: path.join(root, "share"), workDir: path.join(root, "work"), executable };
	try {
		await mkdir(place.workDir);
		const lives = scenario.scripts.map((): JudgedLife[] => []);
		const add = async (scripts: readonly LifeScript[], after: number | null): Promise<ProcessLife[]> => {
			const before = await Promise.all(scripts.map((_, index) => readSession(place, index)));
			const done = await Promise.all(scripts.map((script, index) => liveInProcess(place, script, index, after)));
			for (const [index, { delivered, completed }] of done.entries()) {
				const found = before[index] ?? (await readSession(place, index));
				const left = await readSession(place, index);
				lives[index]?.push({ delivered, completed, ran: [], before: found, after: left, lostPower: false });
			}
			return done;
		};
		if (scenario.earlier !== null) await add([scenario.earlier], null);
		const first = await add(scenario.scripts, killAfter);
		const recoveries = scenario.scripts.map((_, index) => recovery(2 + index));
		const after = await add(recoveries, null);
		const scripts = [...(scenario.earlier === null ? [] : [scenario.earlier]), ...scenario.scripts, ...recoveries];
		const ran = await effectsOf(place, scripts.flatMap(commandsOf));
		const faults = lives.flatMap((judged, index) => {
			const scripts = [scenario.earlier, scenario.scripts[index], recoveries[index]].flatMap((one) => one ?? []);
			const commands = scripts.flatMap(commandsOf);
			const last = judged.at(-1);
			if (last === undefined) return [];
			const own = ran.filter((command) => commands.includes(command));
			return judge([...judged.slice(0, -1), { ...last, ran: own }], scenario);
		});
		return {
			faults: [...faults, ...after.flatMap(({ complaints }) => (complaints === "" ? [] : [complaints]))],
			struck: first.some(({ completed }) => !completed),
			duration: Math.max(...first.map(({ duration }) => duration)),
		};
	} finally {
		await rm(root, { recursive: true, force: true, maxRetries: 5 });
	}
}

function needsPlaces(scripts: readonly LifeScript[]): boolean {
	const texts = JSON.stringify(scripts.map(({ model }) => model));
	return Object.values(placeholders).some((placeholder) => texts.includes(placeholder));
}

/** Needs the built executable. `points` bounds the scenarios used; `rounds` is the number of kills. */
export async function runCampaign({ rounds, seed, points, log }: CampaignOptions): Promise<CampaignReport> {
	const started = performance.now();
	const random = createRandom(seed);
	// What needs names that only the files know is left to the crash campaign, and so are MCP servers: they are in memory.
	const scripted = scenarios.filter(({ scripts }) => !needsPlaces(scripts) && scripts.every((one) => !one.hasServer));
	const used = points === "all" ? scripted : scripted.slice(0, points);
	const durations = new Map<Scenario, number>();
	const findings: string[] = [];
	let struck = 0;
	const build = await copyBuild();
	const executable = path.join(build, "bin", "agentwire");
	for (let round = 0; round < rounds; round += 1) {
		const scenario = used[random.below(used.length)];
		if (scenario === undefined) break;
		let usual = durations.get(scenario);
		if (usual === undefined) {
			const whole = await killScenario(executable, scenario, null);
			for (const fault of whole.faults) findings.push(`${scenario.name}, not killed: ${fault}`);
			usual = whole.duration;
			durations.set(scenario, usual);
		}
		const killAfter = (random.below(1_000) / 1_000) * usual;
		const killed = await killScenario(executable, scenario, killAfter);
		if (killed.struck) struck += 1;
		if (killed.faults.length > 0) {
			findings.push(`${scenario.name}, killed after ${killAfter.toFixed(1)} ms: ${killed.faults.join("; ")}`);
		}
		if ((round + 1) % 50 === 0) log(`${round + 1} kills, ${findings.length} findings`);
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
			"killed before the end": struck,
			scenarios: durations.size,
			"rounds per second": Number((rounds / seconds).toFixed(2)),
		},
	};
}
