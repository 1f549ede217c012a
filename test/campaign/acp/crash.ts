// The Agent Client Protocol in the crash and kill campaigns: an editor with several sessions, each with a plan of its own.
import fc from "fast-check";
import { acpDialect } from "../../../src/frontends/acp/dialect.ts";
import type { CrashDialect } from "../frame/crash-round.ts";
import { serveHosted } from "../frame/hosted-life.ts";
import { cancelMoment, choose } from "../frame/hostile-lines.ts";
import { commandsOf, parseLine, playAgain, playPlans, type SessionPlan, sessionOf, toPart } from "./crash-client.ts";
import { gather, judgeAcp, planOf } from "./crash-deliveries.ts";

/** Sessions of an editor, on the average. */
const size = 6;

type Plans = readonly SessionPlan[];

const plan: fc.Arbitrary<Omit<SessionPlan, "index">> = fc.record({
	hasTools: choose(true, true, true, false),
	prompts: fc.integer({ min: 1, max: 3 }),
	choice: choose<SessionPlan["choice"]>("approve", "approve", "approve_for_session", "reject", null),
	cancelAfter: cancelMoment(16),
});

const plans: fc.Arbitrary<Plans> = fc
	.array(plan, { minLength: 1, maxLength: 2 * size - 1, size: "max" })
	.map((drawn) => drawn.map((each, index) => ({ ...each, index })));

const usual: Plans = Array.from({ length: size }, (_, index) => ({
	index,
	hasTools: index % 3 < 2,
	prompts: 1 + (index % 3),
	choice: "approve",
	cancelAfter: null,
}));

const single = (change: Partial<SessionPlan>): Plans => [
	{ index: 0, hasTools: true, prompts: 1, choice: "approve", cancelAfter: null, ...change },
];

export const acpCrash: CrashDialect<Plans> = {
	scenarios: [single({}), single({ choice: "reject" }), single({ choice: null }), single({ cancelAfter: 8 })],
	arbitrary: plans,
	processArbitrary: plans,
	describe: (scenario) => scenario.map((each) => JSON.stringify(each)),
	measure: (scenario) =>
		scenario.length === 1
			? { key: JSON.stringify(scenario), whole: scenario, share: 1 }
			: { key: "an editor", whole: usual, share: scenario.length / size },
	unwinds: () => false,
	partsOf(scenario, kind, life, known) {
		if (kind === "earlier") return [];
		return [toPart(scenario, life, kind === "stopped" ? playPlans(scenario) : playAgain(known, life))];
	},
	serve: serveHosted(acpDialect),
	sessionsOf: () => [],
	sessionOf: (line) => sessionOf(parseLine(line)),
	commandsOf(scenario, _id, lives) {
		const found = planOf(gather(lives));
		return scenario.flatMap((each) => (each.index === found ? commandsOf(each) : []));
	},
	isUsed: (lives) => lives.length > 1,
	judge: (id, lives) => judgeAcp(id, lives),
};
