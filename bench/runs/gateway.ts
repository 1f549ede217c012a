// The gateway under load: the package, the one file, the peers and a bare relay, in turns.
import type { Choice } from "../choice.ts";
import { loadLegend } from "../gateway/loads.ts";
import { type GatewayMeasurement, measureGateway } from "../gateway/measurement.ts";
import { writeBenchFiles } from "../measurements.ts";
import { type LoadMeasure, type Measure, toLoadTable } from "../report.ts";
import { bareRelay, createBareRelay, createTargets, findOneFile } from "../targets.ts";
import { endProgress, printMeasures, showProgress } from "./printing.ts";

interface ServerMeasure {
	readonly name: string;
	readonly unit: Measure["unit"];
	/** Null where the system does not report it. */
	readonly of: (measured: GatewayMeasurement) => number | null;
	/** Whether it is in the table, and compared with the bare relay there; what is not is in the data. */
	readonly form: "compared" | "shown" | "data";
}

const inMegabytes = (bytes: number | undefined): number | null => (bytes === undefined ? null : bytes / 1_000_000);

const serverMeasures: readonly ServerMeasure[] = [
	{ name: "delta to client, median", unit: "ms", of: ({ median }) => median, form: "compared" },
	{ name: "99 of 100 within", unit: "ms", of: ({ p99 }) => p99, form: "compared" },
	{ name: "processor time for each delta", unit: "µs", of: ({ cost }) => cost, form: "compared" },
	{ name: "deltas at clients", unit: "events/s", of: ({ deltasPerSecond }) => deltasPerSecond, form: "data" },
	{ name: "server", unit: "% of a core", of: ({ shares }) => shares?.gateway ?? null, form: "shown" },
	{ name: "provider", unit: "% of a core", of: ({ shares }) => shares?.provider ?? null, form: "data" },
	{ name: "clients", unit: "% of a core", of: ({ shares }) => shares?.readers ?? null, form: "data" },
	{ name: "all else on the machine", unit: "% of a core", of: ({ shares }) => shares?.others ?? null, form: "shown" },
	{ name: "provider late, 99 of 100 within", unit: "ms", of: ({ late }) => late, form: "shown" },
	{ name: "memory before", unit: "MB", of: ({ memory }) => inMegabytes(memory?.before), form: "data" },
	{ name: "peak memory", unit: "MB", of: ({ memory }) => inMegabytes(memory?.peak), form: "shown" },
];

export async function runGateway(choice: Choice, folder: string): Promise<void> {
	const { workDir } = writeBenchFiles(folder);
	const [own, ...peers] = createTargets(choice, folder);
	const servers = [...(own === undefined ? [] : [own]), ...findOneFile(folder), ...peers, createBareRelay(folder)];
	const programs = servers.map(({ name }) => name);
	const columns = choice.loads.map((load) => ({
		load,
		rows: serverMeasures.map(({ name, unit, of, form }) => {
			const values = new Map<string, number[]>(programs.map((program) => [program, []]));
			return { load: load.name, name, unit, of, form, isCompared: form === "compared", values };
		}),
	}));
	const faults: string[] = [];
	for (let round = 1; round <= choice.runs; round += 1) {
		for (const { load, rows } of columns) {
			for (const server of servers) {
				showProgress(choice, `run ${round} of ${choice.runs}, ${load.name}, ${server.name}`);
				const measured = await measureGateway(server, workDir, load);
				for (const { of, values } of rows) {
					const value = of(measured);
					if (value !== null) values.get(server.name)?.push(value);
				}
				faults.push(...measured.faults.map((fault) => `${server.name}, ${load.name}: ${fault}`));
			}
		}
	}
	endProgress(choice);
	const measures = columns.flatMap(({ rows }) => rows);
	const shown: readonly LoadMeasure[] = measures.filter(({ form }) => form !== "data");
	printMeasures(
		choice,
		measures.map(({ load, name, unit, values }): Measure => ({ name: `${load}: ${name}`, unit, values })),
		`${toLoadTable(shown, programs, bareRelay)}\n\n${loadLegend}`,
	);
	if (faults.length === 0) return;
	process.stderr.write(`Lost or twice:\n${faults.slice(0, 20).join("\n")}\n`);
	process.exitCode = 1;
}
