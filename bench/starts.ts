// The start of any number of programs, interleaved, read by a process of its own: bench/reader.mjs.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Target } from "./child.ts";
import type { BenchFiles } from "./measurements.ts";
import { type Measure, median } from "./report.ts";

/** Milliseconds after which files count as settled. */
const settling = 2500;

const reader = fileURLToPath(new URL("reader.mjs", import.meta.url));

/** What a runtime takes that does nothing: a program without a protocol. */
export interface BareRuntime {
	readonly name: string;
	readonly command: readonly [string, ...string[]];
}

export interface StartPlan {
	readonly runs: number;
	readonly targets: readonly Target[];
	readonly bare: readonly BareRuntime[];
	readonly environment: NodeJS.ProcessEnv;
	readonly files: BenchFiles;
	readonly folder: string;
	/** For the runs with `NODE_EXTRA_CA_CERTS`; null without a file of certificates. */
	readonly certificates: string | null;
	progress(text: string): void;
}

interface Step {
	readonly idle: number | null;
	readonly first: number;
	readonly reply: number;
	readonly afterFirst: number;
	readonly lines: number;
}

interface Reading {
	readonly results: readonly Step[];
	readonly peak: number | null;
}

const request = (id: string, method: string, params: object): string =>
	JSON.stringify({ jsonrpc: "2.0", id, method, params });

const initialize = { wait: 0, line: request("1", "initialize", { protocol_version: "1.10" }) };
const prompt = (id: string) => request(id, "prompt", { user_input: "hi" });

async function read(
	target: Target,
	words: readonly string[],
	steps: readonly { readonly wait: number; readonly line: string }[],
): Promise<Reading> {
	const child = spawn(process.execPath, [reader], {
		env: { PATH: process.env["PATH"] ?? "" },
		stdio: ["pipe", "pipe", "inherit"],
	});
	let text = "";
	child.stdout.setEncoding("utf8").on("data", (piece: string) => {
		text += piece;
	});
	child.stdin.end(JSON.stringify({ command: [...target.command, ...words], environment: target.environment, steps }));
	await once(child, "close");
	const reading: Reading & { readonly error?: string } = JSON.parse(text);
	if (reading.error !== undefined) throw new Error(`${target.name}: ${reading.error}`);
	return reading;
}

/** Milliseconds from the start of a program to its end. */
async function runBare({ command: [file, ...words] }: BareRuntime, environment: NodeJS.ProcessEnv): Promise<number> {
	const begun = performance.now();
	await once(spawn(file, words, { env: environment, stdio: "ignore" }), "exit");
	return performance.now() - begun;
}

export async function measureStarts(plan: StartPlan): Promise<Measure[]> {
	const measures: { name: string; unit: Measure["unit"]; values: Map<string, number[]> }[] = [];
	const add = (name: string, unit: Measure["unit"], own: string, value: number | null): void => {
		if (value === null) return;
		let measure = measures.find((known) => known.name === name);
		if (measure === undefined) {
			measure = { name, unit, values: new Map() };
			measures.push(measure);
		}
		measure.values.set(own, [...(measure.values.get(own) ?? []), value]);
	};
	const words = (config: string) => ["--wire", "--work-dir", plan.files.workDir, "--config-file", config];
	const { certificates } = plan;
	// From files that have just been written no answer is remembered.
	await sleep(settling);
	// Round 0 fills the caches.
	for (let round = 0; round <= plan.runs; round += 1) {
		plan.progress(round === 0 ? "warming up" : `run ${round} of ${plan.runs}`);
		const take: typeof add = (...all) => (round === 0 ? undefined : add(...all));
		for (const bare of plan.bare) {
			const warm = await runBare(bare, plan.environment);
			for (const name of ["", ", empty cache"]) take(`start to \`initialize\` reply${name}`, "ms", bare.name, warm);
			if (certificates === null) continue;
			const own = { ...plan.environment, NODE_EXTRA_CA_CERTS: certificates };
			take(startWithCertificates, "ms", bare.name, await runBare(bare, own));
		}
		for (const target of plan.targets) {
			const short = words(plan.files.shortConfig);
			const { results } = await read(target, short, [
				initialize,
				{ wait: 300, line: prompt("2") },
				{ wait: 100, line: prompt("3") },
			]);
			take("start to `initialize` reply", "ms", target.name, results[0]?.reply ?? null);
			take("prompt to first event", "ms", target.name, results[1]?.first ?? null);
			take("a short turn later", "ms", target.name, results[2]?.reply ?? null);
			take("idle memory", "MB", target.name, megabytes(results[1]?.idle ?? null));
		}
		for (const target of plan.targets) {
			const cache = mkdtempSync(path.join(plan.folder, "cache-"));
			const cold = { ...target, environment: { ...target.environment, XDG_CACHE_HOME: cache } };
			const { results } = await read(cold, words(plan.files.shortConfig), [initialize]);
			rmSync(cache, { recursive: true, force: true });
			take("start to `initialize` reply, empty cache", "ms", target.name, results[0]?.reply ?? null);
		}
		for (const target of certificates === null ? [] : plan.targets) {
			const given = { ...target, environment: { ...target.environment, NODE_EXTRA_CA_CERTS: certificates ?? "" } };
			const { results } = await read(given, words(plan.files.shortConfig), [initialize]);
			take(startWithCertificates, "ms", target.name, results[0]?.reply ?? null);
		}
		for (const target of plan.targets) {
			const { results, peak } = await read(target, words(plan.files.longConfig), [
				initialize,
				{ wait: 100, line: prompt("2") },
			]);
			const turn = results[1];
			const rate = turn === undefined ? null : ((turn.lines - 1) / turn.afterFirst) * 1000;
			take("turn of 20,000 parts", "events/s", target.name, rate);
			take("its peak memory", "MB", target.name, megabytes(peak));
		}
	}
	return measures;
}

const startWithCertificates = "start to `initialize` reply, with NODE_EXTRA_CA_CERTS";

const megabytes = (bytes: number | null): number | null => (bytes === null ? null : bytes / 1_000_000);

/** By measure and program: its median by that of bare Node in the same run. */
export type Ratios = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Of the measures that bare Node has as well: they mean the same on another machine. */
export function toRatios(measures: readonly Measure[], bare: string): Ratios {
	return Object.fromEntries(
		measures.flatMap(({ name, values }) => {
			const base = values.get(bare);
			if (base === undefined) return [];
			const ratios = [...values].filter(([program]) => program !== bare);
			return [[name, Object.fromEntries(ratios.map(([program, runs]) => [program, median(runs) / median(base)]))]];
		}),
	);
}

/** One sentence for each ratio that is more than 15 % over the committed one. */
export function findRegressions(measured: Ratios, committed: Ratios): string[] {
	return Object.entries(committed).flatMap(([name, programs]) =>
		Object.entries(programs).flatMap(([program, before]) => {
			const now = measured[name]?.[program];
			if (now === undefined || now <= before * 1.15) return [];
			return [
				`${name}: ${program} takes ${now.toFixed(2)} times as long as bare Node; committed is ${before.toFixed(2)}.`,
			];
		}),
	);
}
