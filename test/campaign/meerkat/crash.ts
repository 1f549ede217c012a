// Meerkat RPC in the crash and kill campaigns: a server with twenty sessions, each with a plan of its own.
import fc from "fast-check";
import { meerkatDialect } from "../../../src/frontends/meerkat/dialect.ts";
import type { CrashDialect } from "../frame/crash-round.ts";
import { serveHosted } from "../frame/hosted-life.ts";
import { cancelMoment, choose } from "../frame/hostile-lines.ts";
import { commandsOf, parseLine, playAgain, playPlans, type SessionPlan, sessionOf, toPart } from "./crash-client.ts";
import { gather, judgeMeerkat, planOf } from "./crash-deliveries.ts";

/** Sessions of a server, on the average. */
const size = 20;

type Plans = readonly SessionPlan[];

const often = (percent: number): fc.Arbitrary<boolean> =>
	fc.oneof({ weight: 100 - percent, arbitrary: fc.constant(false) }, { weight: percent, arbitrary: fc.constant(true) });

const plan: fc.Arbitrary<Omit<SessionPlan, "index">> = fc.record({
	isDeferred: often(25),
	hasTools: often(60),
	runs: fc.integer({ min: 1, max: 3 }),
	decision: choose<SessionPlan["decision"]>("approve", "approve", "approve_for_session", "reject", null),
	interruptAfter: cancelMoment(12),
	archives: often(15),
});

const plans: fc.Arbitrary<Plans> = fc
	.array(plan, { minLength: 1, maxLength: 2 * size - 1, size: "max" })
	.map((drawn) => drawn.map((each, index) => ({ ...each, index })));

/** What lives of other plans are measured by. */
const usual: Plans = Array.from({ length: size }, (_, index) => ({
	index,
	isDeferred: index % 4 === 0,
	hasTools: index % 5 < 3,
	runs: 1 + (index % 3),
	decision: "approve",
	interruptAfter: null,
	archives: index % 7 === 0,
}));

export const meerkatCrash: CrashDialect<Plans> = {
	scenarios: [],
	arbitrary: plans,
	processArbitrary: plans,
	describe: (scenario) => scenario.map((each) => JSON.stringify(each)),
	measure: ({ length }) => ({ key: "twenty sessions", whole: usual, share: length / size }),
	unwinds: () => false,
	partsOf(scenario, kind, life, known) {
		if (kind === "earlier") return [];
		return [toPart(scenario, life, kind === "stopped" ? playPlans(scenario) : playAgain(known, life))];
	},
	serve: serveHosted(meerkatDialect),
	sessionsOf: () => [],
	sessionOf: (line) => sessionOf(parseLine(line)),
	commandsOf(scenario, _id, lives) {
		const found = planOf(gather(lives));
		return scenario.flatMap((each) => (each.index === found ? commandsOf(each) : []));
	},
	isUsed: (lives) => lives.length > 1 && !gather(lives).isArchived,
	judge(id, lives, scenario) {
		const found = planOf(gather(lives));
		return judgeMeerkat(id, lives, scenario.find(({ index }) => index === found)?.archives ?? false);
	},
};
