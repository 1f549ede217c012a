// A front end as campaigns see it: what a dialect brings to each of them makes it a thing that runs them.
import type { CampaignOptions, CampaignReport } from "./campaign.ts";
import { runCrash, runKill } from "./crash.ts";
import type { CrashDialect } from "./crash-round.ts";
import { type FuzzDialect, runFuzz } from "./fuzz.ts";
import { type LivenessDialect, type Running, runLiveness } from "./liveness.ts";

/** What a dialect brings. */
export interface Dialect<
	Scenario,
	How extends string,
	Action extends { readonly do: string },
	Settings,
	R extends Running<How>,
> {
	/** The words of the command line that choose it, with a blank at their end. */
	readonly words: string;
	readonly fuzz: FuzzDialect;
	readonly crash: CrashDialect<Scenario>;
	readonly liveness: LivenessDialect<How, Action, Settings, R>;
}

export type RunCampaign = (options: CampaignOptions) => Promise<CampaignReport>;

/** The campaigns of a front end. */
export type FrontEnd = Readonly<Record<"fuzz" | "liveness" | "crash" | "kill", RunCampaign>>;

export function createFrontEnd<
	Scenario,
	How extends string,
	Action extends { readonly do: string },
	Settings,
	R extends Running<How>,
>({ words, fuzz, crash, liveness }: Dialect<Scenario, How, Action, Settings, R>): FrontEnd {
	return {
		fuzz: (options) => runFuzz(fuzz, `${words}--kind fuzz`, options),
		liveness: (options) => runLiveness(liveness, `${words}--kind liveness`, options),
		crash: (options) => runCrash(crash, `${words}--kind crash`, options),
		kill: (options) => runKill(crash, `${words}--kind kill`, options),
	};
}
