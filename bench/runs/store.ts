// The store in PostgreSQL next to that on disk, and a worker with many sessions.
import { findPostgres, startPostgres } from "../../test/support/postgres/postgres-server.ts";
import type { Choice } from "../choice.ts";
import { writeBenchFiles } from "../measurements.ts";
import type { Measure } from "../report.ts";
import { measureDiskStore, measurePostgresStore, storeLoads } from "../store-load.ts";
import { createTargets, own } from "../targets.ts";
import { measureWorker, openSessions } from "../worker-sessions.ts";
import { endProgress, printMeasures, showProgress } from "./printing.ts";

const disk = "disk";

export async function runStore(choice: Choice, folder: string): Promise<void> {
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
				showProgress(choice, `run ${round} of ${choice.runs}, ${load.sessions} sessions`);
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
		showProgress(choice, `${openSessions.toLocaleString("en-US")} sessions of a worker`);
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
	endProgress(choice);
	printMeasures(choice, measures);
}
