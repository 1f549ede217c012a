// Meerkat RPC in the crash and kill campaigns: a server with twenty sessions, each with a plan of its own.
import fc from "fast-check";
import { randomIdentifiers } from "../../../src/base/ids.ts";
import { silentLog } from "../../../src/base/log.ts";
import { noCompatibility } from "../../../src/dialects/dialect.ts";
import { plainSessionOptions } from "../../../src/kernel/compose/compose.ts";
import { SessionHost } from "../../../src/kernel/hosting/session-host.ts";
import { createSettingsDocuments } from "../../../src/kernel/hosting/settings-documents.ts";
import { hostDialects } from "../../../src/server/host-dialects.ts";
import { serve } from "../../../src/server/serve.ts";
import { createMemoryTransport } from "../../../src/transports/memory.ts";
import type { CrashDialect } from "../frame/crash-round.ts";
import { choose } from "../frame/hostile-lines.ts";
import type { Part } from "../frame/life.ts";
import { createCountingIdentifiers, type LifeWorld, type MemoryServer, workDir } from "../frame/memory-life.ts";
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
	interruptAfter: fc.oneof(
		{ weight: 4, arbitrary: fc.constant(null) },
		{ weight: 1, arbitrary: fc.integer({ min: 1, max: 12 }) },
	),
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

async function serveMeerkat(
	{ files, clock, life, createKernel }: LifeWorld,
	{ models }: Part,
	number: number,
	note: (line: string) => void,
): Promise<MemoryServer> {
	const { kernel, configuration } = await createKernel(models, number);
	const identifiers = createCountingIdentifiers(life * 2 + 50);
	const sessions = new SessionHost({
		...{ kernel, configuration, workDir, clock, identifiers, log: silentLog },
		environment: {},
		options: plainSessionOptions,
	});
	const documents = createSettingsDocuments({ files, clock, workDir, home: "/home" });
	const { transport, client } = createMemoryTransport(100 * 1024 * 1024, 262_144);
	const send = (line: string): void => {
		note(line);
		transport.send(line);
	};
	const serving = serve({
		transport: { ...transport, send },
		session: null,
		host: { dialects: hostDialects, sessions, documents, clock, identifiers: randomIdentifiers },
		server: { name: "agentwire", version: "0.0.0" },
		compatibility: noCompatibility,
		maximumInFlight: configuration.agentwire.limits.requestsInFlight,
		log: silentLog,
		signal: new AbortController().signal,
	});
	return { client, finish: () => serving.finish() };
}

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
	serve: serveMeerkat,
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
