// The kill campaign: the real executable, killed with SIGKILL at a random moment of a scenario, started again on the same
// session and judged as in the crash campaign.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { isRecord } from "../../src/base/json.ts";
import type { CampaignOptions, CampaignReport } from "./campaign.ts";
import type { SessionFiles } from "./crash-checks.ts";
import { play } from "./crash-client.ts";
import { type JudgedLife, judge } from "./crash-judge.ts";
import { type LifeScript, recovery, type Scenario, scenarios } from "./crash-scenarios.ts";
import { createRandom } from "./random.ts";

const executable = fileURLToPath(new URL("../../bin/agentwire", import.meta.url));

/** Milliseconds after which a server that does not answer counts as hung. */
const patience = 15_000;

const sessionId = (index: number): string => `00000000-0000-4000-8000-00000000000${index}`;

interface Place {
	readonly root: string;
	readonly shareDir: string;
	readonly workDir: string;
}

interface ProcessLife {
	readonly told: readonly string[];
	readonly completed: boolean;
	/** Milliseconds from the first line to the end of the script. */
	readonly duration: number;
}

/** A server's lines as they come; null once its output has ended. */
function createLineReader(stdout: NodeJS.ReadableStream): {
	read(): Promise<string | null>;
	readonly first: Promise<void>;
} {
	const lines: string[] = [];
	let rest = "";
	let ended = false;
	let wake = (): void => {};
	let begin = (): void => {};
	const first = new Promise<void>((resolve) => {
		begin = resolve;
	});
	stdout.setEncoding("utf8");
	stdout.on("data", (text: string) => {
		const pieces = (rest + text).split("\n");
		rest = pieces.pop() ?? "";
		lines.push(...pieces);
		begin();
		wake();
	});
	stdout.on("close", () => {
		ended = true;
		begin();
		wake();
	});
	return {
		first,
		async read() {
			while (lines.length === 0 && !ended) {
				await new Promise<void>((resolve) => {
					wake = resolve;
				});
			}
			return lines.shift() ?? null;
		},
	};
}

/** Runs the executable for one life; with `killAfter` it is killed that many milliseconds after its first line. */
async function liveInProcess(
	place: Place,
	script: LifeScript,
	index: number,
	killAfter: number | null,
): Promise<ProcessLife> {
	const scriptFile = path.join(place.root, `scripts-${index}.json`);
	const configFile = path.join(place.root, `config-${index}.json`);
	await writeFile(scriptFile, JSON.stringify(script.model));
	const settings = {
		default_model: "m",
		models: { m: { provider: "p", model: "scripted_echo", max_context_size: 100_000 } },
		providers: {
			p: { type: "_scripted_echo", base_url: "", api_key: "", env: { KIMI_SCRIPTED_ECHO_SCRIPTS: scriptFile } },
		},
	};
	await writeFile(configFile, JSON.stringify(settings));
	const argv = ["--work-dir", place.workDir, "--config-file", configFile, "--session", sessionId(index)];
	const { PATH = "" } = process.env;
	const child = spawn(executable, argv, {
		cwd: place.workDir,
		env: { PATH, HOME: place.root, KIMI_SHARE_DIR: place.shareDir },
		stdio: ["pipe", "pipe", "ignore"],
	});
	const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
	child.stdin.on("error", () => {});
	const kill = (): void => void child.kill("SIGKILL");
	const hung = setTimeout(kill, patience);
	const reader = createLineReader(child.stdout);
	const told: string[] = [];
	let begun = performance.now();
	let killing: NodeJS.Timeout | undefined;
	void reader.first.then(() => {
		begun = performance.now();
		if (killAfter !== null) killing = setTimeout(kill, killAfter);
	});
	const read = async (): Promise<string | null> => {
		const line = await reader.read();
		if (line !== null) told.push(line);
		return line;
	};
	const completed = await play(script, { write: (line) => void child.stdin.write(line), read });
	const duration = performance.now() - begun;
	if (killAfter === null) child.stdin.end();
	while ((await read()) !== null) {
		// What was written before the end was received, wherever the script ended.
	}
	await exited;
	clearTimeout(hung);
	clearTimeout(killing);
	return { told, completed, duration };
}

async function readOrEmpty(file: string): Promise<Buffer> {
	return await readFile(file).catch(() => Buffer.alloc(0));
}

async function readSession({ shareDir, workDir }: Place, index: number): Promise<SessionFiles> {
	const name = createHash("md5").update(workDir).digest("hex");
	const read = (file: string) => readOrEmpty(path.join(shareDir, "sessions", name, sessionId(index), file));
	return {
		events: await read("wire.jsonl"),
		context: await read("context.jsonl"),
		calls: await read("calls.jsonl"),
		state: await read("state.json"),
	};
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
	scenario: Scenario,
	killAfter: number | null,
): Promise<Killed & { readonly duration: number }> {
	const root = await mkdtemp(path.join(tmpdir(), "agentwire-kill-"));
	const place: Place = { root, shareDir: path.join(root, "share"), workDir: path.join(root, "work") };
	try {
		await mkdir(place.workDir);
		const lives = scenario.scripts.map((): JudgedLife[] => []);
		const add = async (scripts: readonly LifeScript[], after: number | null): Promise<ProcessLife[]> => {
			const before = await Promise.all(scripts.map((_, index) => readSession(place, index)));
			const done = await Promise.all(scripts.map((script, index) => liveInProcess(place, script, index, after)));
			for (const [index, { told, completed }] of done.entries()) {
				const found = before[index] ?? (await readSession(place, index));
				const left = await readSession(place, index);
				lives[index]?.push({ told, completed, ran: [], before: found, after: left, lostPower: false });
			}
			return done;
		};
		if (scenario.earlier !== null) await add([scenario.earlier], null);
		const first = await add(scenario.scripts, killAfter);
		const recoveries = scenario.scripts.map((_, index) => recovery(2 + index));
		await add(recoveries, null);
		const scripts = [...(scenario.earlier === null ? [] : [scenario.earlier]), ...scenario.scripts, ...recoveries];
		const ran = await effectsOf(place, scripts.flatMap(commandsOf));
		const faults = lives.flatMap((judged, index) => {
			const own = [scenario.earlier, scenario.scripts[index], recoveries[index]].flatMap((one) => one ?? []);
			const commands = own.flatMap(commandsOf);
			const last = judged.at(-1);
			if (last === undefined) return [];
			return judge([...judged.slice(0, -1), { ...last, ran: ran.filter((command) => commands.includes(command)) }]);
		});
		return {
			faults,
			struck: first.some(({ completed }) => !completed),
			duration: Math.max(...first.map(({ duration }) => duration)),
		};
	} finally {
		await rm(root, { recursive: true, force: true, maxRetries: 5 });
	}
}

/** Needs the built executable. `points` bounds the scenarios used; `rounds` is the number of kills. */
export async function runCampaign({ rounds, seed, points, log }: CampaignOptions): Promise<CampaignReport> {
	const started = performance.now();
	const random = createRandom(seed);
	const used = points === "all" ? scenarios : scenarios.slice(0, points);
	const durations = new Map<Scenario, number>();
	const findings: string[] = [];
	let struck = 0;
	for (let round = 0; round < rounds; round += 1) {
		const scenario = used[random.below(used.length)];
		if (scenario === undefined) break;
		let usual = durations.get(scenario);
		if (usual === undefined) {
			const whole = await killScenario(scenario, null);
			for (const fault of whole.faults) findings.push(`${scenario.name}, not killed: ${fault}`);
			usual = whole.duration;
			durations.set(scenario, usual);
		}
		const killAfter = (random.below(1_000) / 1_000) * usual;
		const killed = await killScenario(scenario, killAfter);
		if (killed.struck) struck += 1;
		if (killed.faults.length > 0) {
			findings.push(`${scenario.name}, killed after ${killAfter.toFixed(1)} ms: ${killed.faults.join("; ")}`);
		}
		if ((round + 1) % 50 === 0) log(`${round + 1} kills, ${findings.length} findings`);
	}
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
