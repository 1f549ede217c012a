// The gateway in the crash campaign: what clients were sent as events is there after a restart, each event once and in order,
// and their cursors continue.
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { isRecord } from "../../../src/base/json.ts";
import { runCrash } from "../frame/crash.ts";
import type { CrashDialect, SessionLife } from "../frame/crash-round.ts";
import type { RunCampaign } from "../frame/front-end.ts";
import { cancelMoment, choose } from "../frame/hostile-lines.ts";
import type { Fields } from "../frame/life.ts";
import {
	commandsOf,
	dataOf,
	type KnownSession,
	parseLine,
	playAgain,
	playPlans,
	resultOf,
	type SessionPlan,
	sessionOf,
	toPart,
} from "./crash-client.ts";
import { serveGateway } from "./crash-server.ts";

/** Sessions of a client, on the average. */
const size = 4;

type Plans = readonly SessionPlan[];

const plan: fc.Arbitrary<Omit<SessionPlan, "index">> = fc.record({
	hasTools: choose(true, true, true, false),
	turns: fc.integer({ min: 1, max: 3 }),
	decision: choose<SessionPlan["decision"]>("approve", "approve", "approve_for_session", "reject", null),
	cancelAfter: cancelMoment(16),
	othersFirst: fc.boolean(),
});

const plans: fc.Arbitrary<Plans> = fc
	.array(plan, { minLength: 1, maxLength: 2 * size - 1, size: "max" })
	.map((drawn) => drawn.map((each, index) => ({ ...each, index })));

const usual: SessionPlan = {
	index: 0,
	hasTools: true,
	turns: 1,
	decision: "approve",
	cancelAfter: null,
	othersFirst: false,
};
const single = (change: Partial<SessionPlan>): Plans => [{ ...usual, ...change }];
const several: Plans = Array.from({ length: size }, (_, index) => ({
	...usual,
	index,
	hasTools: index % 3 < 2,
	turns: 1 + (index % 3),
}));

type Delivered = Pick<SessionLife, "delivered" | "lostPower">;

export const gatewayCrash: CrashDialect<Plans> = {
	scenarios: [
		single({}),
		single({ othersFirst: true }),
		single({ decision: "reject" }),
		single({ decision: null }),
		single({ cancelAfter: 6 }),
	],
	arbitrary: plans,
	processArbitrary: plans,
	describe: (scenario) => scenario.map((each) => JSON.stringify(each)),
	measure: (scenario) =>
		scenario.length === 1
			? { key: JSON.stringify(scenario), whole: scenario, share: 1 }
			: { key: "a client of several sessions", whole: several, share: scenario.length / size },
	unwinds: () => false,
	partsOf(scenario, kind, life, known, livesOf) {
		if (kind === "earlier") return [];
		const sessions = known.map((sessionId): KnownSession => {
			const lives = livesOf(sessionId);
			const { othersFirst = false } = scenario.find(({ index }) => index === planOf(lives)) ?? {};
			return { sessionId, cursor: viewOf(lives).cursor, othersFirst };
		});
		return [toPart(scenario, life, kind === "stopped" ? playPlans(scenario) : playAgain(sessions, life))];
	},
	serve: serveGateway,
	sessionsOf: () => [],
	sessionOf: (line) => sessionOf(parseLine(line)),
	commandsOf(scenario, _id, lives) {
		const found = planOf(lives);
		return scenario.flatMap((each) => (each.index === found ? commandsOf(each) : []));
	},
	isUsed: (lives) => startedTurn(lives.at(-1)),
	judge: (_id, lives) => judgeGateway(lives),
};

export const runGatewayCrash: RunCampaign = (options) =>
	runCrash(gatewayCrash, "--dialect gateway --kind crash", options);

const messagesOf = ({ delivered }: Pick<Delivered, "delivered">): readonly Fields[] => delivered.map(parseLine);

function planOf(lives: readonly Delivered[]): number | null {
	const ids = lives.flatMap(messagesOf).map(({ id }) => /^create (\d+)$/.exec(String(id))?.[1]);
	const found = ids.find((index) => index !== undefined);
	return found === undefined ? null : Number(found);
}

function startedTurn(life: Delivered | undefined): boolean {
	return (
		life !== undefined && messagesOf(life).some((each) => /^turn /.test(String(each["id"])) && resultOf(each) !== null)
	);
}

/** What a client has of a session that drops what it has when a reset says so. */
interface View {
	readonly events: readonly Fields[];
	readonly cursor: string | null;
	/** What it had when the power was lost, up to the last event by which all was on stable storage. */
	readonly committed: readonly Fields[];
	readonly faults: readonly string[];
}

/** By then, all before it is on stable storage: a turn has ended, or a command is about to run. One of another program has no id. */
const isCommit = ({ type, turnId }: Fields): boolean =>
	turnId !== null && (type === "turn.ended" || type === "tool.started");

/** The events of the lives as a client keeps them: each the one after the one before it. */
export function viewOf(lives: readonly Delivered[]): View {
	let events: Fields[] = [];
	let committed: readonly Fields[] = [];
	let cursor: string | null = null;
	let lostPower = false;
	const faults: string[] = [];
	for (const [index, life] of lives.entries()) {
		for (const message of messagesOf(life)) {
			if (message["event"] === "reset") {
				// Who has nothing asks for all of it with a cursor of no history.
				if (!lostPower && events.length > 0) faults.push(`life ${index + 1} begins anew, and no power was lost`);
				events = [];
				cursor = null;
			}
			if (message["event"] !== "e") continue;
			const data = dataOf(message);
			const expected = Number(events.at(-1)?.["seq"] ?? 0) + 1;
			if (data["seq"] !== expected) faults.push(`event ${data["seq"]} comes where ${expected} was due`);
			const id = `${data["sessionId"]}@${data["epoch"]}:${data["seq"]}`;
			if (message["id"] !== id) faults.push(`event ${id} has the id ${message["id"]}`);
			events.push(data);
			cursor = id;
		}
		if (!life.lostPower) continue;
		lostPower = true;
		const stored = events.slice(0, events.findLastIndex(isCommit) + 1);
		if (stored.length > committed.length) committed = stored;
	}
	return { events, cursor, committed, faults };
}

/** What the gateway promises of a session over all its lives. */
export function judgeGateway(lives: readonly (Delivered & Pick<SessionLife, "completed">)[]): string[] {
	const last = lives.at(-1);
	const view = viewOf(lives);
	const faults = [...view.faults];
	if (last === undefined || lives.length === 1 || !last.completed) return faults;
	const messages = messagesOf(last);
	const broken = messages.find((message) => "broken" in message);
	if (broken !== undefined) faults.push(`a request was not answered: ${broken["broken"]}`);
	if (messages.some((message) => message["event"] === "failed")) {
		// A session without a turn is not stored.
		const { events, committed } = viewOf(lives.slice(0, -1));
		const due = lives.some(({ lostPower }) => lostPower) ? committed.length : events.length;
		return due === 0 ? faults : [...faults, `it cannot be followed any more, after ${due} events`];
	}
	const shown = messages.find((message) => "history" in message)?.["history"];
	const history: unknown = isRecord(shown) ? shown["events"] : null;
	if (!Array.isArray(history)) return [...faults, `there is no history: ${JSON.stringify(shown)}`];
	for (const [index, event] of history.entries()) {
		const own = view.events[index];
		if (own === undefined) return [...faults, `event ${index + 1} of ${history.length} was not delivered`];
		if (!isDeepStrictEqual(own, event)) {
			return [...faults, `event ${index + 1} was ${JSON.stringify(own)}, and is ${JSON.stringify(event)}`];
		}
	}
	// After a power loss the history has another name.
	const epoch: unknown = history.at(-1)?.epoch;
	const lost = view.committed.find((event, index) => !isDeepStrictEqual({ ...event, epoch }, history[index]));
	if (lost !== undefined) faults.push(`event ${lost["seq"]} was on stable storage, and is lost`);
	const more = view.events.length - history.length;
	return more > 0 ? [...faults, `${more} events that were delivered are not stored`] : faults;
}
