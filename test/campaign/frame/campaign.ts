// What every campaign is asked to do and what it reports. Knows no campaign and prints nothing.

/** What a campaign is asked to do. `points` bounds campaigns that walk an enumerable set. */
export interface CampaignOptions {
	readonly rounds: number;
	readonly seed: number;
	readonly points: number | "all";
	/** Plays one case again: the path that a finding names, together with its seed. */
	readonly path?: string;
	/** Rounds against the real process, for campaigns that also run in memory. */
	readonly processRounds?: number;
	/** Plays only what has this in its name, for campaigns whose rounds have names. */
	readonly only?: string;
	/** How clients reach what is tried, for campaigns that can do without a process: in memory unless it says otherwise. */
	readonly over?: "socket";
	/** Takes one line of progress. */
	readonly log: (line: string) => void;
}

/** What a campaign found. A campaign passed when `findings` is empty. */
export interface CampaignReport {
	readonly kind: string;
	readonly rounds: number;
	readonly seed: number;
	readonly seconds: number;
	/** One readable text per fault, with all that is needed to see it again. */
	readonly findings: readonly string[];
	/** Measured values, by name. */
	readonly figures: Readonly<Record<string, number | string>>;
}

/** Runs the work of a campaign and reports it, with the time it took and the rejections that nobody handled. */
export async function reportOn(
	kind: string,
	seed: number,
	work: () => Promise<Pick<CampaignReport, "rounds" | "findings" | "figures">>,
): Promise<CampaignReport> {
	const started = performance.now();
	const unhandled: string[] = [];
	const onUnhandled = (reason: unknown): void => void unhandled.push(`unhandled rejection: ${String(reason)}`);
	process.on("unhandledRejection", onUnhandled);
	try {
		const { rounds, findings, figures } = await work();
		const seconds = (performance.now() - started) / 1000;
		return { kind, rounds, seed, seconds, findings: [...findings, ...unhandled], figures };
	} finally {
		process.off("unhandledRejection", onUnhandled);
	}
}

/** Counts what happened, by name. */
export class Tally {
	readonly #counts = new Map<string, number>();

	add(name: string, times = 1): void {
		this.#counts.set(name, this.count(name) + times);
	}

	/** Retains the greatest of the values. */
	atMost(name: string, value: number): void {
		this.#counts.set(name, Math.max(this.count(name), value));
	}

	count(name: string): number {
		return this.#counts.get(name) ?? 0;
	}

	/** The counts in the order of their names, which get `prefix` before them. */
	figures(prefix = ""): Record<string, number> {
		const sorted = [...this.#counts].sort(([one], [other]) => (one < other ? -1 : 1));
		return Object.fromEntries(sorted.map(([name, count]) => [prefix + name, count]));
	}
}
