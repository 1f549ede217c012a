// The shape every campaign shares: what it is asked to do, and what it hands back. Owns no campaign and prints nothing.

/** What a campaign is asked to do. `points` bounds campaigns that walk an enumerable set. */
export interface CampaignOptions {
	readonly rounds: number;
	readonly seed: number;
	readonly points: number | "all";
	/** Rounds against the real process, for campaigns that also run in memory. */
	readonly processRounds?: number;
	/** Plays only what has this in its name, for campaigns whose rounds have names. */
	readonly only?: string;
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
