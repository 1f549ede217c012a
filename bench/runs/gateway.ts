// The gateway under load.
import type { Choice } from "../choice.ts";
import { type GatewayLoad, measureGateway } from "../gateway/measurement.ts";
import { writeBenchFiles } from "../measurements.ts";
import type { Measure } from "../report.ts";
import { createTargets, own } from "../targets.ts";
import { endProgress, printMeasures, showProgress } from "./printing.ts";

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

export async function runGateway(choice: Choice, folder: string): Promise<void> {
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
			showProgress(choice, `run ${round} of ${choice.runs}, ${load.sessions} sessions`);
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
	endProgress(choice);
	printMeasures(choice, measures);
	if (faults.length === 0) return;
	process.stderr.write(`Lost or twice:\n${faults.slice(0, 20).join("\n")}\n`);
	process.exitCode = 1;
}
