// Plays a batch of the oracle campaign, and prints its report as one line of JSON.
import { shrinkText } from "../frame/shrink-text.ts";
import { judge, type Outcome, readForRun } from "./judge.ts";
import { createRunner, type Run, type Runner } from "./runner.ts";
import { createScript } from "./scripts.ts";

export interface OracleReport {
	readonly outcomes: Readonly<Record<Outcome, number>>;
	readonly executions: number;
	readonly findings: readonly string[];
}

/** Scripts that one start of bubblewrap runs. */
const scriptsPerStart = 200;
/** Milliseconds that may be spent on making one finding smaller, and findings of a batch that are. */
const shrinkLimit = 20_000;
const shrunkFindings = 6;
const nothing: Run = { executions: [], files: [] };

/** Null where nothing can be run. */
export async function playOracle(seed: number, from: number, to: number): Promise<OracleReport | null> {
	const runner = createRunner();
	if (runner === null) return null;
	try {
		return await play(runner, seed, from, to);
	} finally {
		runner.close();
	}
}

async function play(runner: Runner, seed: number, from: number, to: number): Promise<OracleReport> {
	const outcomes = { doubt: 0, asked: 0, predicted: 0, "ran nothing": 0, finding: 0 };
	const findings: string[] = [];
	let executions = 0;
	const judgeAlone = async (script: string) => {
		const reading = await readForRun(script);
		const [run = nothing] = reading.doubts.length > 0 ? [] : await runner.run([script]);
		return await judge(reading, run);
	};
	const fails = async (script: string): Promise<boolean> => (await judgeAlone(script)).outcome === "finding";
	for (let start = from; start < to; start += scriptsPerStart) {
		const size = Math.min(scriptsPerStart, to - start);
		const scripts = Array.from({ length: size }, (_, index) => createScript(seed, start + index));
		const runs = await runner.run(scripts);
		for (const [index, script] of scripts.entries()) {
			const run = runs[index] ?? nothing;
			executions += run.executions.length;
			const { outcome, words } = await judge(await readForRun(script), run);
			outcomes[outcome] += 1;
			if (outcome !== "finding") continue;
			const isShrunk = findings.length < shrunkFindings && (await fails(script));
			const shown = isShrunk ? await shrinkText(script, fails, shrinkLimit) : script;
			findings.push(
				`round ${start + index}: ${JSON.stringify(shown)} ${isShrunk ? (await judgeAlone(shown)).words : words}`,
			);
		}
	}
	return { outcomes, executions, findings };
}

if (process.argv[1] === import.meta.filename) {
	const [seed = 0, from = 0, to = 0] = process.argv.slice(2).map(Number);
	process.stdout.write(`${JSON.stringify(await playOracle(seed, from, to))}\n`);
}
