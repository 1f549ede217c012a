// The Agent Client Protocol in the crash and kill campaigns: an editor with several sessions, each with a plan of its own.
import { acpDialect } from "../../../src/frontends/acp/dialect.ts";
import type { CrashDialect } from "../frame/crash-round.ts";
import { serveHosted } from "../frame/hosted-life.ts";
import { commandsOf, ofPlans, type Plans } from "../frame/session-plan.ts";
import { parseLine, playAgain, playPlans, sessionOf, toPart } from "./crash-client.ts";
import { gather, judgeAcp, planOf } from "./crash-deliveries.ts";

export const acpCrash: CrashDialect<Plans> = {
	...ofPlans,
	partsOf(scenario, kind, life, known) {
		if (kind === "earlier") return [];
		return [toPart(scenario, life, kind === "stopped" ? playPlans(scenario) : playAgain(known, life))];
	},
	serve: serveHosted(acpDialect),
	sessionOf: (line) => sessionOf(parseLine(line)),
	commandsOf(scenario, _id, lives) {
		const found = planOf(gather(lives));
		return scenario.flatMap((each) => (each.index === found ? commandsOf(each) : []));
	},
	judge: (id, lives) => judgeAcp(id, lives),
};
