// The liveness campaign: random interleavings of client, models and time, each brought to its end and checked against the
// promises of the protocol; then another server opens what is left. A dialect says what can be done and what must hold.
import fc from "fast-check";
import type { FakeClock } from "../../support/host/campaign-clock.ts";
import { nextTurn } from "../../support/sessions/campaign-server.ts";
import type { Actor, Sent } from "./actor.ts";
import { type CampaignOptions, type CampaignReport, reportOn, Tally } from "./campaign.ts";
import { type Cases, type Played, playCases } from "./cases.ts";
import { choose } from "./hostile-lines.ts";
import { withPatience } from "./patience.ts";

/** What any client, and time, can do. */
export type CommonAction<How extends string> =
	/** Answers the n-th open request, counted round. */
	| { readonly do: "answer"; readonly which: number; readonly how: How }
	/** Answers a request that was answered or settled before. */
	| { readonly do: "answer-late"; readonly which: number; readonly how: How }
	| { readonly do: "wait"; readonly seconds: number }
	| { readonly do: "stop-reading" }
	| { readonly do: "read-again" };

/** What is let happen before the next action: nothing, some turns of the event loop, or all there is to happen. */
export type Rest = number | "all";

export interface Step<Action> {
	readonly action: Action;
	readonly rest: Rest;
}

/**
 * How everything is brought to its end: the client answers all, or lets time pass; it cancels or archives what there is; its
 * input ends under what runs, or it disappears.
 */
export type Finish = "answer" | "time" | "cancel" | "archive" | "end" | "gone";

export interface Interleaving<Action, Settings> {
	readonly steps: readonly Step<Action>[];
	readonly finish: Finish;
	readonly settings: Settings;
}

/** A server with its client, as far as the frame knows them. */
export interface Running<How extends string> {
	readonly client: Actor<How>;
	readonly serving: { readonly ended: Promise<unknown>; finish(): Promise<void> };
	readonly clock: FakeClock;
	/** Turns of the event loop in which nothing may be seen to happen although something does. */
	readonly quietTurns: number;
	/** Milliseconds that are waited for what a client that does not read cannot see. */
	readonly unseen: number;
	readonly faults: string[];
	/** Counts what happens on the server's side. */
	activity(): number;
	close(): Promise<void>;
}

/** What a dialect brings to the liveness campaign. */
export interface LivenessDialect<
	How extends string,
	Action extends { readonly do: string },
	Settings,
	R extends Running<How>,
> {
	/** Its own actions by their weights; those of any client have about twenty in all. */
	readonly actions: readonly fc.WeightedArbitrary<Action>[];
	/** Parts of a dialogue that chance alone seldom puts in a row. */
	readonly scenes: fc.Arbitrary<readonly (Action | CommonAction<How>)[]>;
	readonly answers: readonly How[];
	/** The answer that lets everything go on. */
	readonly yes: How;
	readonly finishes: readonly Finish[];
	readonly settings: fc.Arbitrary<Settings>;
	readonly maxSteps: number;
	start(settings: Settings): Promise<R>;
	perform(action: Action, running: R): void;
	/** Whether a request that is not answered waits for a model, for time or for the client. */
	mayWait(sent: Sent, running: R): boolean;
	/** Lets every model answer at once from now on. */
	openModels(running: R): void;
	/** What is done before everything is brought to its end. */
	prepareEnd?(running: R, finish: Finish): Promise<void>;
	/** Cancels or archives everything that there is. */
	cancelAll(running: R, finish: "cancel" | "archive"): void;
	/** Requests that go on although everything was cancelled or archived. */
	survivors(running: R): readonly Sent[];
	/** After everything, a good request works. */
	requestOnceMore(running: R): Promise<void>;
	/** What the protocol promises of the transcript, and of the server's side. */
	judge(running: R, finish: Finish): Promise<readonly string[]>;
	/** Whether another server over what is left finds it as it should. */
	reopen(running: R, finish: Finish): Promise<readonly string[]>;
	/** What happened how often. */
	count(running: R, tally: Tally): void;
}

const batchSize = 500;
/** Milliseconds that may be spent on making a failing case smaller. */
const shrinkLimit = 40_000;
/** Real milliseconds in which what is under way shows itself: modules are loaded in no turn of this loop. */
const patience = 3000;

export function runLiveness<
	How extends string,
	Action extends { readonly do: string },
	Settings,
	R extends Running<How>,
>(
	dialect: LivenessDialect<How, Action, Settings, R>,
	command: string,
	options: CampaignOptions,
): Promise<CampaignReport> {
	return reportOn("liveness", options.seed, async () => {
		const started = performance.now();
		const tally = new Tally();
		const cases: Cases<Interleaving<Action | CommonAction<How>, Settings>> = {
			command,
			arbitrary: interleavings(dialect),
			play: (interleaving) => playInterleaving(dialect, interleaving, tally),
			describe: ({ steps, ...others }) => [JSON.stringify(others), ...steps.map((step) => JSON.stringify(step))],
			isEven: false,
			perSeed: batchSize,
			shrinkLimit,
		};
		const { rounds, findings } = await playCases(cases, options);
		const seconds = (performance.now() - started) / 1000;
		return {
			rounds,
			findings,
			figures: { "interleavings per second": Math.round(rounds / seconds), ...tally.figures() },
		};
	});
}

function interleavings<How extends string, Action extends { readonly do: string }, Settings, R extends Running<How>>({
	actions,
	scenes,
	answers,
	yes,
	finishes,
	settings,
	maxSteps,
}: LivenessDialect<How, Action, Settings, R>): fc.Arbitrary<Interleaving<Action | CommonAction<How>, Settings>> {
	type Any = Action | CommonAction<How>;
	const which = fc.nat({ max: 5 });
	const how = choose(...answers, yes, yes, yes);
	const common: readonly fc.WeightedArbitrary<Any>[] = [
		{ weight: 7, arbitrary: fc.record({ do: fc.constant("answer" as const), which, how }) },
		{ weight: 1, arbitrary: fc.record({ do: fc.constant("answer-late" as const), which, how }) },
		{ weight: 1, arbitrary: choose(1, 10, 40).map((seconds): Any => ({ do: "wait", seconds })) },
		{ weight: 1, arbitrary: fc.constant<Any>({ do: "stop-reading" }) },
		{ weight: 2, arbitrary: fc.constant<Any>({ do: "read-again" }) },
	];
	const rest = choose<Rest>("all", "all", "all", 0, 0, 1, 2, 4);
	const single = fc
		.record({ action: fc.oneof(...common, ...actions), rest })
		.map((step): readonly Step<Any>[] => [step]);
	const scene = fc
		.tuple(scenes, fc.array(rest, { minLength: 8, maxLength: 8 }))
		.map(([row, rests]): readonly Step<Any>[] => row.map((action, index) => ({ action, rest: rests[index] ?? "all" })));
	const steps = fc
		.array(fc.oneof({ weight: 7, arbitrary: single }, { weight: 1, arbitrary: scene }), {
			minLength: 1,
			maxLength: maxSteps,
			size: "max",
		})
		.map((parts) => parts.flat());
	return fc.record({ steps, finish: choose(...finishes), settings });
}

function isCommon<How extends string, Action extends { readonly do: string }>(
	action: Action | CommonAction<How>,
): action is CommonAction<How> {
	return ["answer", "answer-late", "wait", "stop-reading", "read-again"].includes(action.do);
}

/** Plays one interleaving against a server in memory, and gathers what went wrong. */
async function playInterleaving<
	How extends string,
	Action extends { readonly do: string },
	Settings,
	R extends Running<How>,
>(
	dialect: LivenessDialect<How, Action, Settings, R>,
	{ steps, finish, settings }: Interleaving<Action | CommonAction<How>, Settings>,
	tally: Tally,
): Promise<Played> {
	const running = await dialect.start(settings);
	const { client } = running;
	try {
		await performAll(dialect, running, steps);
		await bringToEnd(dialect, running, finish);
	} catch (thrown) {
		if (!(thrown instanceof StuckError)) throw thrown;
		// What waits for ever would let every further check wait as well.
		return toPlayed(running, [thrown.message]);
	}
	const missing = client.isGone ? [] : client.unanswered().map(({ id }) => `no response to ${id}`);
	const judged = await dialect.judge(running, finish);
	const reopened = await dialect.reopen(running, finish);
	dialect.count(running, tally);
	return toPlayed(running, [...missing, ...judged, ...reopened]);
}

/** What is thrown when something does not end that nobody else can end. */
class StuckError extends Error {
	override readonly name = "StuckError";
}

function toPlayed({ client, faults }: Running<string>, more: readonly string[]): Played {
	const all = [...faults, ...client.faults, ...more];
	return { faults: all, rounds: 1, transcript: [...client.describe(), ...all.map((fault) => `✗ ${fault}`)] };
}

async function performAll<How extends string, Action extends { readonly do: string }, Settings, R extends Running<How>>(
	dialect: LivenessDialect<How, Action, Settings, R>,
	running: R,
	steps: readonly Step<Action | CommonAction<How>>[],
): Promise<void> {
	for (const { action, rest } of steps) {
		// No machine lets time pass while a program that has work gets no turn.
		if (action.do === "wait") await settle(dialect, running);
		if (isCommon<How, Action>(action)) performCommon(action, running);
		else dialect.perform(action, running);
		if (rest === "all") await settle(dialect, running);
		else for (let turn = 0; turn < rest; turn += 1) await nextTurn();
		running.client.atRest = rest === "all";
	}
}

function performCommon<How extends string>(action: CommonAction<How>, running: Running<How>): void {
	const { client } = running;
	switch (action.do) {
		case "answer":
		case "answer-late":
			client.answerNth(action.which, action.how, action.do === "answer-late");
			return;
		case "wait":
			passTime(running, action.seconds);
			return;
		case "stop-reading":
			client.pause();
			return;
		case "read-again":
			client.resume();
			return;
	}
}

export function passTime({ client, clock }: Running<string>, seconds: number): void {
	client.note(`${seconds} s pass`);
	client.timePassedAt = client.transcript.length;
	clock.advance(seconds * 1000);
}

type Settling<How extends string, R extends Running<How>> = Pick<LivenessDialect<How, never, unknown, R>, "mayWait">;

/**
 * Lets everything happen that can without the client, the models or time: until nothing moves, and every request that is not
 * answered waits for a reason.
 */
export async function settle<How extends string, R extends Running<How>>(
	{ mayWait }: Settling<How, R>,
	running: R,
): Promise<void> {
	const { client, quietTurns, unseen } = running;
	const seen = () => running.activity() + client.received;
	const started = performance.now();
	const isExplained = (): boolean => {
		const waited = performance.now() - started;
		// What the client does not read it cannot know.
		if (client.isPaused || client.isGone) return waited >= unseen;
		const lost = client.unanswered().filter((sent) => !mayWait(sent, running));
		if (lost.length > 0 && waited < patience) return false;
		if (lost.length > 0) throw new StuckError(`${lost.map(({ id }) => id).join(", ")} waits for nothing`);
		return true;
	};
	for (let quiet = 0, last = seen(); quiet < quietTurns || !isExplained(); ) {
		await nextTurn();
		const now = seen();
		quiet = now === last ? quiet + 1 : 0;
		last = now;
	}
}

async function bringToEnd<How extends string, Action extends { readonly do: string }, Settings, R extends Running<How>>(
	dialect: LivenessDialect<How, Action, Settings, R>,
	running: R,
	finish: Finish,
): Promise<void> {
	const { client, faults } = running;
	if (finish === "gone") {
		client.disconnect();
		return await shutDown(dialect, running);
	}
	if (client.isPaused) client.resume();
	await dialect.prepareEnd?.(running, finish);
	if (finish !== "end") {
		await settle(dialect, running);
		client.atRest = true;
		if (finish === "cancel" || finish === "archive") {
			// What waited for a canceled run may begin: each time fewer are left.
			for (let left = Infinity; dialect.survivors(running).length < left; ) {
				left = dialect.survivors(running).length;
				dialect.cancelAll(running, finish);
				await settle(dialect, running);
				if (left === 0) break;
			}
			for (const { id } of dialect.survivors(running)) faults.push(`${id} goes on after everything was ${finish}ed`);
		}
		await answerAll(dialect, running, finish !== "time");
		await dialect.requestOnceMore(running);
	}
	client.endInput();
	await shutDown(dialect, running);
}

/** Lets models answer and time pass, with or without the answers of the client, until every request has its response. */
async function answerAll<How extends string, Action extends { readonly do: string }, Settings, R extends Running<How>>(
	dialect: LivenessDialect<How, Action, Settings, R>,
	running: R,
	answers: boolean,
): Promise<void> {
	const { client } = running;
	dialect.openModels(running);
	for (let round = 0; round < 40; round += 1) {
		await settle(dialect, running);
		client.atRest = true;
		// Where there are no deadlines, time alone ends nothing.
		const open = answers || round >= 30 ? client.openInteractions() : [];
		for (const interaction of open) client.answer(interaction, dialect.yes);
		if (client.unanswered().length === 0) return;
		if (open.length === 0) passTime(running, answers ? 10 : 61);
	}
	throw new StuckError("something is still unanswered");
}

/** Approves whatever is requested until nothing more is. */
export async function answerOpen<How extends string, R extends Running<How>>(
	dialect: Settling<How, R> & { readonly yes: How },
	running: R,
): Promise<void> {
	for (let round = 0; round < 20; round += 1) {
		await settle(dialect, running);
		const open = running.client.openInteractions();
		if (open.length === 0) return;
		for (const interaction of open) running.client.answer(interaction, dialect.yes);
	}
}

/** The input has ended or the client is gone: the server comes to its end by itself. */
export async function shutDown<How extends string, R extends Running<How>>(
	dialect: Settling<How, R>,
	running: R,
): Promise<void> {
	const { serving } = running;
	let isOver = false;
	const over = serving.ended
		.then(() => serving.finish())
		.then(() => {
			isOver = true;
		});
	await withPatience(over, patience);
	if (!isOver) throw new StuckError("the server does not come to its end");
	// What was written before the end is received.
	await settle(dialect, running);
	await running.close();
}
