// The start and the first turns, of both forms, bare runtimes and peers, read by a process of its own.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { findBun } from "../../scripts/binary/bun.ts";
import type { Choice } from "../choice.ts";
import { writeBenchFiles } from "../measurements.ts";
import { findRegressions, measureStarts, toRatios } from "../starts.ts";
import { bare, createEnvironment, createTargets, findOneFile, oneFile, own, root } from "../targets.ts";
import { endProgress, printMeasures, showProgress } from "./printing.ts";

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

export async function runStarts(choice: Choice, folder: string): Promise<void> {
	const bun = findInstalledBun();
	const measures = await measureStarts({
		runs: choice.runs,
		targets: [...createTargets(choice, folder), ...findOneFile(folder)],
		bare: [
			{ name: bare, command: ["node", "-e", "0"] },
			...(bun === null ? [] : [{ name: "bare bun", command: [bun, "-e", "0"] } as const]),
		],
		environment: createEnvironment(folder, "bare"),
		files: writeBenchFiles(folder),
		folder,
		certificates: certificateFiles.find((file) => existsSync(file)) ?? null,
		progress: (text) => showProgress(choice, text),
	});
	endProgress(choice);
	printMeasures(choice, measures);
	const ratios = toRatios(measures, bare);
	if (choice.commit) {
		const ours = Object.entries(ratios).map(([name, programs]) => [
			name,
			Object.fromEntries(
				[own, oneFile].flatMap((program) => {
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
