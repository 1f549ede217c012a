// Measures the built executable: start, first event, a long turn and its memory; compared with bare Node and, if given, a peer.
// Run with `npm run bench [-- --peer "NAME=<command>"] [--runs N] [--json] [--providers | --sessions | --permissions | --acp | --gateway | --store | --start]`. What and how: docs/benchmarks.md.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Target } from "../bench/child.ts";
import { measureDeltas } from "../bench/delta-latency.ts";
import { measureEditorText, measureLoad, measureWireText } from "../bench/editors.ts";
import { type GatewayLoad, measureGateway } from "../bench/gateway-load.ts";
import { eventCount, logSize, longLog, manyEvents, messageCount, writeLongSessions } from "../bench/long-session.ts";
import {
	idleCount,
	measureIdleSessions,
	measureSessions,
	sessionCount,
	turnsAtOnce,
	writeSessionScripts,
} from "../bench/many-sessions.ts";
import {
	measureBareNode,
	measureFirstEvent,
	measureInitialize,
	measureLongTurn,
	measureNewSession,
	measureReplay,
	measureResume,
	partCount,
	writeBenchFiles,
} from "../bench/measurements.ts";
import { measurePermissions } from "../bench/permissions.ts";
import { type Measure, machineFacts, toData, toTable } from "../bench/report.ts";
import { findRegressions, measureStarts, toRatios } from "../bench/starts.ts";
import { measureDiskStore, measurePostgresStore, storeLoads } from "../bench/store-load.ts";
import { measureWorker, openSessions } from "../bench/worker-sessions.ts";
import { findPostgres, startPostgres } from "../test/support/postgres/postgres-server.ts";
import { binaryPath, findBun } from "./binary/bun.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const agentwire = "agentwire";
const own = agentwire;
const bare = "bare node";
const usage =
	'Usage: npm run bench [-- --peer "NAME=<command>" …] [--runs N] [--json] [--providers | --sessions | --permissions | --acp | --gateway | --store | --start | --check | --commit] [--executable FILE]';

interface Choice {
	readonly runs: number;
	readonly json: boolean;
	/** Only the time from a provider's delta to its event, for each provider type. */
	readonly providers: boolean;
	/** Only many sessions of one process. */
	readonly sessions: boolean;
	/** Only what rules and the sandbox add to a command. */
	readonly permissions: boolean;
	/** Only the Agent Client Protocol next to Kimi Wire. */
	readonly acp: boolean;
	/** Only the gateway under load. */
	readonly gateway: boolean;
	/** Only the store in PostgreSQL next to that on disk, and a worker with many sessions. */
	readonly store: boolean;
	/** Only the start and the first turns, of both forms, bare runtimes and peers, read by a process of its own. */
	readonly start: boolean;
	/** Fails when a ratio of these is over the committed one. */
	readonly check: boolean;
	/** Writes these ratios as those to compare with. */
	readonly commit: boolean;
	readonly peers: readonly string[];
	readonly executable: string;
}

function readChoice(): Choice {
	const { values } = parseArgs({
		options: {
			peer: { type: "string", multiple: true, default: [] },
			start: { type: "boolean", default: false },
			check: { type: "boolean", default: false },
			commit: { type: "boolean", default: false },
			runs: { type: "string", default: "11" },
			json: { type: "boolean", default: false },
			providers: { type: "boolean", default: false },
			sessions: { type: "boolean", default: false },
			permissions: { type: "boolean", default: false },
			acp: { type: "boolean", default: false },
			gateway: { type: "boolean", default: false },
			store: { type: "boolean", default: false },
			executable: { type: "string", default: path.join(root, "bin", "agentwire") },
		},
	});
	const runs = Number(values.runs);
	if (!Number.isInteger(runs) || runs < 1) throw new Error("--runs needs a whole number of at least 1.");
	return {
		runs,
		json: values.json,
		providers: values.providers,
		sessions: values.sessions,
		permissions: values.permissions,
		acp: values.acp,
		gateway: values.gateway,
		store: values.store,
		start: values.start || values.check || values.commit,
		check: values.check,
		commit: values.commit,
		peers: values.peer,
		executable: values.executable,
	};
}

/** What measured processes see: their own sessions and compiled code, and no certificates that Node would read. */
function createEnvironment(folder: string, name: string): NodeJS.ProcessEnv {
	const { NODE_EXTRA_CA_CERTS: _certificates, NODE_OPTIONS: _options, ...rest } = process.env;
	return {
		...rest,
		KIMI_SHARE_DIR: path.join(folder, `${name}-share`),
		XDG_CACHE_HOME: path.join(folder, `${name}-cache`),
	};
}

function createTargets({ peers, executable }: Choice, folder: string): Target[] {
	const targets: Target[] = [{ name: own, command: [executable], environment: createEnvironment(folder, own) }];
	for (const [index, peer] of peers.entries()) {
		const [, name = index === 0 ? "peer" : `peer ${index + 1}`, command = ""] =
			/^(?:([\w .-]+)=)?(.*)$/s.exec(peer) ?? [];
		const [file = "", ...rest] = command.trim().split(/\s+/);
		if (file === "") throw new Error(`--peer needs NAME=COMMAND, not ${JSON.stringify(peer)}.`);
		targets.push({ name, command: [file, ...rest], environment: createEnvironment(folder, name.replaceAll(" ", "-")) });
	}
	return targets;
}

const oneFile = "one file";
const ratiosFile = path.join(root, "bench", "ratios.json");
const certificateFiles = ["/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/cert.pem"];

/** Bun, where it is installed. */
function findInstalledBun(): string | null {
	try {
		return findBun();
	} catch {
		return null;
	}
}

async function runStarts(choice: Choice, folder: string): Promise<void> {
	const binary = binaryPath(root);
	const own: Target[] = existsSync(binary)
		? [{ name: oneFile, command: [binary], environment: createEnvironment(folder, "one-file") }]
		: [];
	if (own.length === 0) process.stderr.write("Without the one file: build it with npm run build:binary.\n");
	const bun = findInstalledBun();
	const measures = await measureStarts({
		runs: choice.runs,
		targets: [...createTargets(choice, folder), ...own],
		bare: [
			{ name: bare, command: ["node", "-e", "0"] },
			...(bun === null ? [] : [{ name: "bare bun", command: [bun, "-e", "0"] } as const]),
		],
		environment: createEnvironment(folder, "bare"),
		files: writeBenchFiles(folder),
		folder,
		certificates: certificateFiles.find((file) => existsSync(file)) ?? null,
		progress: (text) => void (choice.json || process.stderr.write(`\r${text}  `)),
	});
	if (!choice.json) process.stderr.write("\r");
	printAlone(choice, measures);
	const ratios = toRatios(measures, bare);
	if (choice.commit) {
		const ours = Object.entries(ratios).map(([name, programs]) => [
			name,
			Object.fromEntries(
				[agentwire, oneFile].flatMap((program) => {
					const ratio = programs[program];
					return ratio === undefined ? [] : [[program, Number(ratio.toFixed(2))]];
				}),
			),
		]);
		writeFileSync(ratiosFile, `${JSON.stringify(Object.fromEntries(ours), null, "\t")}\n`);
	}
	if (!choice.check) return;
	const regressions = findRegressions(ratios, JSON.parse(readFileSync(ratiosFile, "utf8")));
	for (const sentence of regressions) console.error(sentence);
	if (regressions.length > 0) process.exitCode = 1;
}

async function runProviders(choice: Choice, folder: string): Promise<void> {
	const { workDir } = writeBenchFiles(folder);
	const targets = createTargets(choice, folder);
	const columns = new Map<string, Map<string, number[]>>();
	for (let round = 1; round <= choice.runs; round += 1) {
		if (!choice.json) process.stderr.write(`\rrun ${round} of ${choice.runs}  `);
		for (const target of targets) {
			for (const [type, value] of await measureDeltas(target, workDir)) {
				const column = columns.get(type) ?? new Map<string, number[]>();
				columns.set(type, column);
				column.set(target.name, [...(column.get(target.name) ?? []), value]);
			}
		}
	}
	if (!choice.json) process.stderr.write("\r");
	const measures = [...columns].map(
		([type, values]): Measure => ({ name: `delta to event, ${type}`, unit: "µs", values: inMicroseconds(values) }),
	);
	printAlone(choice, measures);
}

async function runPermissions(choice: Choice, folder: string): Promise<void> {
	const columns = {
		decision: { name: "decision over a command of 200 characters", values: [] as number[] },
		plain: { name: "`true` without the sandbox", values: [] as number[] },
		sandboxed: { name: "`true` in the sandbox", values: [] as number[] },
		added: { name: "what the sandbox adds to a `true`", values: [] as number[] },
	};
	for (let round = 1; round <= choice.runs; round += 1) {
		if (!choice.json) process.stderr.write(`\rrun ${round} of ${choice.runs}  `);
		const times = await measurePermissions(folder);
		columns.decision.values.push(times.decision);
		for (const key of ["plain", "sandboxed", "added"] as const) {
			if (times.commands !== null) columns[key].values.push(times.commands[key]);
		}
	}
	if (!choice.json) process.stderr.write("\r");
	const measured = Object.values(columns).filter(({ values }) => values.length > 0);
	printAlone(
		choice,
		measured.map(({ name, values }): Measure => ({ name, unit: "ms", values: new Map([[own, values]]) })),
	);
}

/** A measure whose values come one by one. */
function createColumns(name: string, unit: Measure["unit"]) {
	const values = new Map<string, number[]>();
	const add = (column: string, value: number) => void values.set(column, [...(values.get(column) ?? []), value]);
	return { name, unit, values, add };
}

async function runEditors(choice: Choice, folder: string): Promise<void> {
	const targets = createTargets(choice, folder);
	const setups = targets.map((target) => {
		const place = path.join(folder, `editors ${target.name}`);
		mkdirSync(place);
		const files = writeBenchFiles(place);
		writeLongSessions(target.environment["KIMI_SHARE_DIR"] ?? "", files.workDir);
		return { target, files };
	});
	const events = eventCount.toLocaleString("en");
	const texts = createColumns("start to the first text of an answer, as an editor", "ms");
	const long = createColumns(`\`session/load\` of ${logSize / 1_000_000} MB`, "MB/s");
	const many = createColumns(`the same of ${events} small events`, "MB/s");
	const replayed = createColumns(`the same of ${events} small events, from the first update on`, "MB/s");
	const opening = createColumns("from the request to that first update", "ms");
	// Round 0 fills the caches of disk and compiler.
	for (let round = 0; round <= choice.runs; round += 1) {
		if (!choice.json) process.stderr.write(`\rrun ${round} of ${choice.runs}  `);
		for (const { target, files } of setups) {
			const times = [await measureEditorText(target, files), await measureWireText(target, files)] as const;
			const [whole, small] = [await measureLoad(target, files, longLog), await measureLoad(target, files, manyEvents)];
			if (round === 0) continue;
			texts.add(target.name, times[0]);
			texts.add(`${target.name}, Kimi Wire`, times[1]);
			long.add(target.name, whole.rate);
			many.add(target.name, small.rate);
			replayed.add(target.name, small.replayRate);
			opening.add(target.name, small.opening);
		}
	}
	if (!choice.json) process.stderr.write("\r");
	printAlone(choice, [texts, long, many, replayed, opening]);
}

/** The limits on loaded sessions: the default, and far fewer than there are sessions. */
const loadedCases = [null, 64];

async function runSessions(choice: Choice, folder: string): Promise<void> {
	const { workDir } = writeBenchFiles(folder);
	const scripts = writeSessionScripts(folder);
	const targets = createTargets(choice, folder);
	const measures: Measure[] = [];
	const columns = loadedCases.map((loaded) => {
		const place = loaded === null ? "all loaded" : `${loaded} loaded`;
		const add = (name: string, unit: Measure["unit"]) => {
			const values = new Map<string, number[]>(targets.map((target) => [target.name, []]));
			measures.push({ name: `${name}, ${place}`, unit, values });
			return (target: Target, value: number) => values.get(target.name)?.push(value);
		};
		return {
			loaded,
			// What few loaded sessions leave to the others is lost in the heap's own ups and downs.
			memory: loaded === null ? add("memory of an idle session", "KB") : null,
			median: add("`turn/start` to `run_started`, median", "ms"),
			p99: add("the same, 99 of 100 within", "ms"),
			rate: add(`${turnsAtOnce} turns at a time`, "turns/s"),
			slowestSession: add("slowest session by median session", "×"),
			slowestTurn: add("slowest turn by median turn", "×"),
			end: add("end of input to end of process", "ms"),
		};
	});
	for (let round = 1; round <= choice.runs; round += 1) {
		if (!choice.json) process.stderr.write(`\rrun ${round} of ${choice.runs}  `);
		for (const column of columns) {
			for (const target of targets) {
				const { memory, beginning, fairness, turnsPerSecond, end } = await measureSessions(
					target,
					workDir,
					scripts,
					column.loaded,
				);
				if (memory !== null) column.memory?.(target, memory / 1000);
				column.median(target, beginning.median);
				column.p99(target, beginning.p99);
				column.rate(target, turnsPerSecond);
				column.slowestSession(target, fairness.slowestSession);
				column.slowestTurn(target, fairness.slowestTurn);
				column.end(target, end);
			}
		}
	}
	// Once: it takes minutes, and does not depend on what else runs.
	const idle = new Map<string, number[]>();
	measures.push({
		name: `memory of each of ${idleCount.toLocaleString("en-US")} idle sessions`,
		unit: "KB",
		values: idle,
	});
	for (const target of targets) {
		if (!choice.json) process.stderr.write(`\r${idleCount.toLocaleString("en-US")} idle sessions  `);
		const memory = await measureIdleSessions(target, workDir, scripts);
		idle.set(target.name, memory === null ? [] : [memory / 1000]);
	}
	if (!choice.json) process.stderr.write(`\r${sessionCount.toLocaleString("en-US")} sessions: `);
	printAlone(choice, measures);
}

/** The load of many sessions, from what is aimed at down to what a machine of two cores can take, and of many clients at one session. */
const gatewayLoads: readonly (readonly [name: string, GatewayLoad])[] = [
	...(
		[
			[1000, 20],
			[500, 20],
			[250, 20],
			[1000, 5],
			[100, 20],
		] as const
	).map(([sessions, rate]): [string, GatewayLoad] => [
		`${sessions.toLocaleString("en-US")} sessions at ${rate} deltas/s, ${Math.min(200, sessions)} streams, one stalled`,
		{ sessions, streams: Math.min(200, sessions), isShared: false, stalled: 1, rate, warmUp: 5, seconds: 10 },
	]),
	[
		"50 clients at one session of 20 deltas/s",
		{ sessions: 1, streams: 50, isShared: true, stalled: 0, rate: 20, warmUp: 5, seconds: 10 },
	],
];

async function runGateway(choice: Choice, folder: string): Promise<void> {
	const { workDir } = writeBenchFiles(folder);
	const [target] = createTargets(choice, folder);
	if (target === undefined) return;
	const measures: Measure[] = [];
	const columns = gatewayLoads.map(([name, load]) => {
		const add = (what: string, unit: Measure["unit"]) => {
			const values: number[] = [];
			measures.push({ name: `${name}: ${what}`, unit, values: new Map([[own, values]]) });
			return values;
		};
		return {
			load,
			median: add("delta to client, median", "ms"),
			p99: add("99 of 100 within", "ms"),
			late: add("provider late, 99 of 100 within", "ms"),
			rate: add("deltas at clients", "events/s"),
			cost: add("processor time of the gateway for each", "µs"),
			gateway: add("gateway", "% of a core"),
			provider: add("provider", "% of a core"),
			readers: add("clients", "% of a core"),
			others: add("all else on the machine", "% of a core"),
			memory: add("memory before", "MB"),
			peak: add("peak memory", "MB"),
		};
	});
	let faults: readonly string[] = [];
	for (let round = 1; round <= choice.runs; round += 1) {
		for (const { load, median, p99, late, rate, cost, memory, peak, ...shares } of columns) {
			if (!choice.json) process.stderr.write(`\rrun ${round} of ${choice.runs}, ${load.sessions} sessions  `);
			const measured = await measureGateway(target, workDir, load);
			median.push(measured.median);
			p99.push(measured.p99);
			late.push(measured.late);
			rate.push(measured.deltasPerSecond);
			if (measured.cost !== null) cost.push(measured.cost);
			if (measured.shares !== null) {
				for (const name of ["gateway", "provider", "readers", "others"] as const)
					shares[name].push(measured.shares[name]);
			}
			if (measured.memory !== null) memory.push(measured.memory.before / 1_000_000);
			if (measured.memory !== null) peak.push(measured.memory.peak / 1_000_000);
			faults = [...faults, ...measured.faults];
		}
	}
	if (!choice.json) process.stderr.write("\r");
	printAlone(choice, measures);
	if (faults.length === 0) return;
	process.stderr.write(`Lost or twice:\n${faults.slice(0, 20).join("\n")}\n`);
	process.exitCode = 1;
}

const disk = "disk";

async function runStore(choice: Choice, folder: string): Promise<void> {
	if (findPostgres() === null) throw new Error("There is no PostgreSQL: install Debian's package postgresql.");
	const { workDir } = writeBenchFiles(folder);
	const [target] = createTargets(choice, folder);
	if (target === undefined) return;
	const measures: Measure[] = [];
	const add = (name: string, unit: Measure["unit"], others: readonly string[] = []) => {
		const values = new Map<string, number[]>([own, ...others].map((column) => [column, []]));
		measures.push({ name, unit, values });
		return (column: string, value: number) => values.get(column)?.push(value);
	};
	const columns = storeLoads.map((load) => {
		const about = `${load.sessions} ${load.sessions === 1 ? "session" : "sessions"}`;
		return {
			load,
			rate: add(`commits, ${about}`, "commits/s", [disk]),
			median: add(`from a commit to its answer, ${about}, median`, "ms", [disk]),
			p99: add("the same, 99 of 100 within", "ms", [disk]),
		};
	});
	const server = await startPostgres({ isDurable: true });
	try {
		for (let round = 1; round <= choice.runs; round += 1) {
			for (const [index, { load, rate, median, p99 }] of columns.entries()) {
				if (!choice.json) process.stderr.write(`\rrun ${round} of ${choice.runs}, ${load.sessions} sessions  `);
				const measured = [
					[own, await measurePostgresStore(server.url, `bench_${round}_${index}`, load)],
					[disk, await measureDiskStore(load)],
				] as const;
				for (const [name, values] of measured) {
					rate(name, values.commitsPerSecond);
					median(name, values.median);
					p99(name, values.p99);
				}
			}
		}
		if (!choice.json) process.stderr.write(`\r${openSessions.toLocaleString("en-US")} sessions of a worker  `);
		const worker = await measureWorker(target, workDir, folder, server.url);
		const sessions = `of ${openSessions.toLocaleString("en-US")} idle sessions at a worker`;
		if (worker.memory !== null) add(`memory of each ${sessions}`, "KB")(own, worker.memory / 1000);
		add("its rows and indexes", "KB")(own, worker.stored / 1000);
		add("connections of the worker and a gateway", "connections")(own, worker.connections);
		add("their statements without sessions", "statements/min")(own, worker.statements.before);
		add("their statements with all of them", "statements/min")(own, worker.statements.after);
		add("sessions made, each with a short turn", "sessions/s")(own, worker.madePerSecond);
	} finally {
		await server.remove();
	}
	if (!choice.json) process.stderr.write("\r");
	printAlone(choice, measures);
}

function printAlone(choice: Choice, measures: readonly Measure[]): void {
	const facts = machineFacts();
	if (choice.json) console.log(JSON.stringify({ facts, runs: choice.runs, measures: toData(measures) }, null, 2));
	else console.log(`${Object.values(facts).join(", ")}; medians of ${choice.runs} runs\n\n${toTable(measures, own)}`);
}

function inMicroseconds(values: ReadonlyMap<string, readonly number[]>): Map<string, readonly number[]> {
	return new Map([...values].map(([name, times]) => [name, times.map((time) => time * 1000)]));
}

async function run(choice: Choice, folder: string): Promise<void> {
	const files = writeBenchFiles(folder);
	const targets = createTargets(choice, folder);
	const columns = () => new Map<string, number[]>([...targets.map(({ name }) => name), bare].map((name) => [name, []]));
	const initialize = columns();
	const firstEvent = columns();
	const perTarget = () => new Map<string, number[]>(targets.map(({ name }) => [name, []]));
	const rate = perTarget();
	const memory = perTarget();
	const newSession = perTarget();
	const resume = perTarget();
	const replay = perTarget();
	const replayMemory = perTarget();
	for (const { environment } of targets) writeLongSessions(environment["KIMI_SHARE_DIR"] ?? "", files.workDir);
	const firstStart = new Map<string, number>();

	// Round 0 fills the caches of disk and compiler and is not counted, but for what it is: the very first start.
	for (let round = 0; round <= choice.runs; round += 1) {
		const isCounted = round > 0;
		if (!choice.json) process.stderr.write(`\r${isCounted ? `run ${round} of ${choice.runs}` : "warming up"}  `);
		const bareTime = await measureBareNode(createEnvironment(folder, bare));
		if (isCounted) for (const column of [initialize, firstEvent]) column.get(bare)?.push(bareTime);
		for (const target of targets) {
			const value = await measureInitialize(target, files);
			if (isCounted) initialize.get(target.name)?.push(value);
			else firstStart.set(target.name, value);
		}
		for (const target of targets) {
			const value = await measureFirstEvent(target, files);
			if (isCounted) firstEvent.get(target.name)?.push(value);
		}
		for (const target of targets) {
			const { eventsPerSecond, peakMemory } = await measureLongTurn(target, files);
			if (!isCounted) continue;
			rate.get(target.name)?.push(eventsPerSecond);
			if (peakMemory !== null) memory.get(target.name)?.push(peakMemory / 1_000_000);
		}
		for (const target of targets) {
			const fresh = await measureNewSession(target, files);
			const resumed = await measureResume(target, files);
			const replayed = await measureReplay(target, files);
			if (!isCounted) continue;
			newSession.get(target.name)?.push(fresh);
			resume.get(target.name)?.push(resumed);
			replay.get(target.name)?.push(replayed.megabytesPerSecond);
			if (replayed.peakMemory !== null) replayMemory.get(target.name)?.push(replayed.peakMemory / 1_000_000);
		}
	}
	if (!choice.json) process.stderr.write("\r");

	const measures: Measure[] = [
		{ name: "start to `initialize` reply", unit: "ms", values: initialize },
		{ name: "start to first event", unit: "ms", values: firstEvent },
		{ name: `turn of ${partCount.toLocaleString("en-US")} parts`, unit: "events/s", values: rate },
		{ name: "its peak memory", unit: "MB", values: memory },
		{ name: "start to end of a short turn", unit: "ms", values: newSession },
		{ name: `the same behind ${messageCount.toLocaleString("en-US")} messages`, unit: "ms", values: resume },
		{ name: `replay of ${logSize / 1_000_000} MB`, unit: "MB/s", values: replay },
		{ name: "its peak memory", unit: "MB", values: replayMemory },
	];
	const facts = machineFacts();
	if (choice.json) {
		const data = { facts, runs: choice.runs, firstStart: Object.fromEntries(firstStart), measures: toData(measures) };
		console.log(JSON.stringify(data, null, 2));
		return;
	}
	console.log(`${Object.values(facts).join(", ")}; medians of ${choice.runs} interleaved runs\n`);
	console.log(toTable(measures, own));
	for (const [name, value] of firstStart) {
		console.log(`\n${name}: the first start of all, nothing cached: ${value.toFixed(1)} ms`);
	}
}

let choice: Choice;
try {
	choice = readChoice();
	if (!existsSync(choice.executable)) throw new Error(`There is no ${choice.executable}.`);
	if (!existsSync(path.join(path.dirname(choice.executable), "..", "dist"))) {
		throw new Error("The executable is not built yet. Build it with: npm run prepare");
	}
} catch (thrown) {
	console.error(`${thrown instanceof Error ? thrown.message : String(thrown)}\n${usage}`);
	process.exit(2);
}
const folder = mkdtempSync(path.join(tmpdir(), "agentwire-bench-"));
try {
	const alone = {
		providers: runProviders,
		sessions: runSessions,
		permissions: runPermissions,
		acp: runEditors,
		gateway: runGateway,
		store: runStore,
		start: runStarts,
	};
	const asked = (["providers", "sessions", "permissions", "acp", "gateway", "store", "start"] as const).find(
		(name) => choice[name],
	);
	await (asked === undefined ? run : alone[asked])(choice, folder);
} finally {
	rmSync(folder, { recursive: true, force: true });
}
