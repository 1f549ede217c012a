// A front end as campaigns see it: what a dialect brings to each of them makes it a thing that runs them.
import type { CampaignOptions, CampaignReport } from "./campaign.ts";
import { runCrash, runKill } from "./crash.ts";
import type { CrashDialect } from "./crash-round.ts";
import { type FuzzDialect, runFuzz } from "./fuzz.ts";

/** What a dialect brings. */
export interface Dialect<Scenario> {
	/** The words of the command line that choose it. */
	readonly words: string;
	readonly fuzz: FuzzDialect;
	readonly crash: CrashDialect<Scenario>;
	readonly liveness: (options: CampaignOptions) => Promise<CampaignReport>;
}

export type RunCampaign = (options: CampaignOptions) => Promise<CampaignReport>;

/** The campaigns of a front end. */
export type FrontEnd = Readonly<Record<"fuzz" | "liveness" | "crash" | "kill", RunCampaign>>;

export function createFrontEnd<Scenario>({ words, fuzz, crash, liveness }: Dialect<Scenario>): FrontEnd {
	return {
		fuzz: (options) => runFuzz(fuzz, `${words} --kind fuzz`, options),
		liveness,
		crash: (options) => runCrash(crash, `${words} --kind crash`, options),
		kill: (options) => runKill(crash, `${words} --kind kill`, options),
	};
}
