// The loop of the campaigns whose cases fast-check generates: plays them, shrinks what fails to the smallest case that
// still fails, and says how to play that one again.
import fc from "fast-check";
import type { CampaignOptions } from "./campaign.ts";

/** What is known of one case after it was played. */
export interface Played {
	readonly faults: readonly string[];
	/** What the case counts for in the number of rounds. */
	readonly rounds: number;
	/** What happened, line by line: printed for the smallest failing case. */
	readonly transcript: readonly string[];
}

export interface Cases<T> {
	/** The words of the command line that choose these cases; seed and path come after them. */
	readonly command: string;
	readonly arbitrary: fc.Arbitrary<T>;
	/** Plays a case; whatever it throws is a fault of the case. */
	readonly play: (value: T) => Promise<Played>;
	/** A case as lines of text. */
	readonly describe: (value: T) => readonly string[];
	/** Whether all values are equally likely: otherwise small and extreme ones come more often, and lists are short. */
	readonly isEven: boolean;
	/** Cases that are generated with one seed: of these at most one finding is reported. */
	readonly perSeed: number;
	/** Milliseconds that may be spent on making a failing case smaller; 0 where a case does not fail alike twice. */
	readonly shrinkLimit: number;
}

/** More is not worth reading, and so many are worth the time that shrinking takes. */
const findingLimit = 10;
const shrunkFindings = 3;

/** Plays cases until they count for `rounds` rounds, or the one case that `path` names. */
export async function playCases<T>(
	cases: Cases<T>,
	{ rounds, seed, path, log }: Pick<CampaignOptions, "rounds" | "seed" | "path" | "log">,
): Promise<{ readonly rounds: number; readonly findings: readonly string[] }> {
	const findings: string[] = [];
	let done = 0;
	for (let batch = 0; done < rounds && findings.length < findingLimit; batch += 1) {
		const limit = rounds - done;
		const shrinkLimit = findings.length < shrunkFindings ? cases.shrinkLimit : 0;
		const { finding, played } = await playBatch({ ...cases, shrinkLimit }, seed + batch, path ?? "", limit);
		done += played;
		if (finding !== null) findings.push(finding);
		if (path !== undefined) break;
		if (done < rounds || batch > 0) log(`${done} rounds, ${findings.length} findings`);
	}
	return { rounds: done, findings };
}

interface Batch {
	readonly finding: string | null;
	readonly played: number;
}

async function playBatch<T>(
	{ arbitrary, play, describe, command, isEven, perSeed, shrinkLimit }: Cases<T>,
	seed: number,
	path: string,
	limit: number,
): Promise<Batch> {
	let played = 0;
	/** When a case failed first; from then on smaller ones are tried. */
	let failedAt: number | null = null;
	let last: Played | null = null;
	const property = fc.asyncProperty(isEven ? fc.noBias(arbitrary) : arbitrary, async (value) => {
		if (failedAt === null && played >= limit) return true;
		if (failedAt !== null && performance.now() - failedAt > shrinkLimit) return true;
		const result = await play(value).catch(
			(thrown: unknown): Played => ({ faults: [toText(thrown)], rounds: 1, transcript: [] }),
		);
		if (failedAt === null) played += result.rounds;
		if (result.faults.length === 0) return true;
		failedAt ??= performance.now();
		last = result;
		return false;
	});
	const single = path === "" ? {} : { path };
	const result = await fc.check(property, {
		seed,
		numRuns: Math.min(perSeed, limit),
		endOnFailure: shrinkLimit === 0,
		...single,
	});
	if (!result.failed) return { finding: null, played };
	const [value] = result.counterexample ?? [];
	const failed: Played | null = last;
	if (value === undefined || failed === null)
		return { finding: `seed ${seed}: ${toText(result.errorInstance)}`, played };
	const { faults, transcript } = failed as Played;
	const finding = [
		faults.join("; "),
		`  the case, ${result.numShrinks === 0 ? "not shrunk" : `shrunk ${result.numShrinks} times`}:`,
		...describe(value).map((line) => `    ${line}`),
		...transcript.map((line) => `  ${line}`),
		`  again: npm run campaign -- ${command} --seed ${result.seed} --path ${result.counterexamplePath ?? path}`,
	];
	return { finding: finding.join("\n"), played };
}

function toText(thrown: unknown): string {
	return thrown instanceof Error ? `thrown: ${thrown.stack ?? thrown.message}` : `thrown: ${String(thrown)}`;
}
