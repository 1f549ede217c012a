// Many sessions of one process.
import type { Target } from "../child.ts";
import type { Choice } from "../choice.ts";
import {
	idleCount,
	measureIdleSessions,
	measureSessions,
	sessionCount,
	turnsAtOnce,
	writeSessionScripts,
} from "../many-sessions.ts";
import { writeBenchFiles } from "../measurements.ts";
import type { Measure } from "../report.ts";
import { createTargets } from "../targets.ts";
import { printMeasures, showProgress } from "./printing.ts";

/** The limits on loaded sessions: the default, and far fewer than there are sessions. */
const loadedCases = [null, 64];

export async function runSessions(choice: Choice, folder: string): Promise<void> {
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
		showProgress(choice, `run ${round} of ${choice.runs}`);
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
		showProgress(choice, `${idleCount.toLocaleString("en-US")} idle sessions`);
		const memory = await measureIdleSessions(target, workDir, scripts);
		idle.set(target.name, memory === null ? [] : [memory / 1000]);
	}
	if (!choice.json) process.stderr.write(`\r${sessionCount.toLocaleString("en-US")} sessions: `);
	printMeasures(choice, measures);
}
