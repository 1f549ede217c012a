// Plays a batch of the parsers campaign, and prints its report as one line of JSON.
import { shrinkText } from "../frame/shrink-text.ts";
import { createScript } from "./grammar.ts";
import { createJudge, type Outcome } from "./judge.ts";

export interface ParsersReport {
	readonly outcomes: Readonly<Record<Outcome, number>>;
	readonly findings: readonly string[];
	/** Some of the scripts that no other parser understands as bash does. */
	readonly decided: readonly string[];
}

/** Milliseconds that may be spent on making one finding smaller, and findings of a batch that are. */
const shrinkLimit = 10_000;
const shrunkFindings = 10;
const shownDecisions = 3;
/** Scripts that are judged at once, so that some are while bash parses another. */
const lanes = 4;

export async function playParsers(seed: number, from: number, to: number): Promise<ParsersReport> {
	const judge = await createJudge();
	const outcomes = {
		doubt: 0,
		"all agree": 0,
		"bash decides": 0,
		"bash alone": 0,
		"bash refuses": 0,
		"more than bash": 0,
		undecided: 0,
		finding: 0,
	};
	const findings: string[] = [];
	const decided: string[] = [];
	const fails = async (text: string): Promise<boolean> => (await judge.judge(text)).outcome === "finding";
	const play = async (number: number): Promise<void> => {
		const script = createScript(seed, number);
		const { outcome, words } = await judge.judge(script);
		outcomes[outcome] += 1;
		if (outcome === "bash alone" && decided.length < shownDecisions) {
			decided.push(`round ${number}: ${JSON.stringify(script)}: ${words}`);
		}
		// What the load of the machine brings about does not come twice.
		if (outcome !== "finding" || !(await fails(script))) return;
		const isShrunk = findings.length < shrunkFindings;
		const shown = isShrunk ? await shrinkText(script, fails, shrinkLimit) : script;
		findings.push(`round ${number}: ${JSON.stringify(shown)}: ${(await judge.judge(shown)).words}`);
	};
	let next = from;
	const work = async (): Promise<void> => {
		while (next < to) {
			const number = next;
			next += 1;
			await play(number);
		}
	};
	await Promise.all(Array.from({ length: lanes }, work));
	judge.close();
	return { outcomes, findings, decided };
}

if (process.argv[1] === import.meta.filename) {
	const [seed = 0, from = 0, to = 0] = process.argv.slice(2).map(Number);
	process.stdout.write(`${JSON.stringify(await playParsers(seed, from, to))}\n`);
}
