// One turn of a session from its input to its end: the hooks around it, the agent's run, the title, the outcome.

import { inputText, textPart, toParts, type UserInput } from "../../api/values/content.ts";
import type { EventBody, TurnError, TurnOutcome } from "../../api/values/event.ts";
import type { AnswerForm, TurnOptions } from "../../api/values/turn-options.ts";
import { unlessLate, workIsOver } from "../../base/abort.ts";
import { KernelError, toKernelError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { missingCapability } from "../../core/agent/capabilities.ts";
import { lastText, userRow } from "../../core/agent/context.ts";
import type { TurnDependencies } from "../../core/agent/dependencies.ts";
import { formAnswer } from "../../core/agent/formed-answer.ts";
import { toHookFailure } from "../../core/agent/hook-failure.ts";
import { continueTurn, runTurn } from "../../core/agent/turn.ts";
import type { Notifications } from "../background/notifications.ts";
import type { Budgets } from "../budgets/budgets.ts";
import type { SlashCommands } from "../commands/slash-commands.ts";
import type { SessionKeys } from "../compose/key-ring.ts";
import type { ChosenModel } from "../session/session-model.ts";
import type { ToolServers } from "../session/tool-servers.ts";
import { type CommandRunSettings, createCommandRun } from "./command-run.ts";
import { loopOver, runFlow } from "./flow-run.ts";
import type { HookRunner } from "./hook-runner.ts";
import type { MainAgent } from "./main-agent.ts";
import { askToStop, showPrompt } from "./prompt-hooks.ts";
import type { SessionHooks } from "./session-hooks.ts";
import type { OpenSteerQueue } from "./steers.ts";
import { limitTools } from "./tool-box.ts";
import { createToolWatch, type WatchedTurn } from "./tool-hooks.ts";
import { type AgentServices, type AgentTurn, createTurnDependencies } from "./turn-dependencies.ts";
import { createTurnEmit, type EmitInTurn } from "./turn-emitter.ts";

/** Milliseconds for the work of a cancelled turn to end: more than its calls get. */
const patience = 1400;

export interface RunningTurn {
	readonly id: string;
	readonly controller: AbortController;
	/** Its model, whatever is chosen while it runs. */
	readonly chosen: ChosenModel;
	readonly options: TurnOptions;
	readonly steers: OpenSteerQueue;
	/**
	 * Set when something other than a cancel aborted it: an exhausted time budget, or an uncaught exception in its
	 * work.
	 */
	broken: TurnError | null;
	/** Why it ended, when it failed. */
	failure: TurnError | null;
	/** Resolves when its end was delivered. */
	ended: Promise<void>;
}

/** What a turn is started with. */
export interface TurnStart {
	readonly input: UserInput;
	/**
	 * Whether the program itself wrote the input: no prompt hook sees it, it is not repeated, and it does not title the
	 * session.
	 */
	readonly isOwn: boolean;
	/** Whether a turn of the session that runs in another process is ended for it. */
	readonly takesOver: boolean;
	/** The key that names it among the turns of the session; absent for none. */
	readonly key?: string;
	/** The place in a trace of what started it; absent for none. */
	readonly trace?: string;
}

export interface MainTurnSettings {
	readonly services: AgentServices;
	readonly hooks: HookRunner;
	readonly main: MainAgent;
	/** Null for a session without tool servers. */
	readonly servers: Pick<ToolServers, "prepareTurn"> | null;
	readonly commands: SlashCommands;
	/** How often a prompt is repeated; see `loopOver`. */
	readonly loopIterations: number;
	readonly notifications: Pick<Notifications, "openTurn" | "closeTurn">;
	readonly keys: Pick<SessionKeys, "renewDue">;
	readonly budgets: Pick<Budgets, "openTurn" | "closeTurn">;
	/** Titles a session that has no title after an input. */
	readonly title: { derive(input: UserInput): Promise<void> };
	/** Makes this process the one that writes the session. */
	claim(): Promise<void>;
	readonly log: Log;
	/** From now on only the events that end something are delivered for the turn. */
	seal(error: Error): void;
	/** Called once its beginning was persisted and delivered. */
	begun(): void;
	/** Called right before the end is delivered: a client that receives it may start the next turn at once. */
	release(): void;
}

/** The hooks of a turn: those of settings and clients, and the session's own, null for none. */
interface TurnHooks {
	readonly watch: WatchedTurn;
	readonly runHooks: SessionHooks | null;
}

/** The events of a turn while it runs. */
interface TurnEvents {
	readonly emit: EmitInTurn;
	/** Whether its beginning was persisted and delivered. */
	isBegun: boolean;
	/** Resolves once that is decided, from the moment on at which its beginning is emitted. */
	beginning: Promise<void>;
}

/** Runs the turn; never rejects. Its outcome is in the event that ends it. */
export async function runMainTurn(turn: RunningTurn, start: TurnStart, settings: MainTurnSettings): Promise<void> {
	const { services, hooks, log, release } = settings;
	const { signal } = turn.controller;
	const { stored, emitter, clock } = services;
	const turnEvents: TurnEvents = {
		emit: createTurnEmit(services, [], turn.id, signal),
		isBegun: false,
		beginning: Promise.resolve(),
	};
	const watch = createToolWatch(hooks, turnEvents.emit, clock, signal);
	const runHooks = hooks.openRun(false, turnEvents.emit, signal);
	let outcome: TurnOutcome;
	try {
		const prompt = runPrompt(turn, start, turnEvents, { watch, runHooks }, settings);
		outcome = (await unlessLate(prompt, signal, patience, clock)) ?? giveUp(turn, settings);
		if (outcome.status === "failed") {
			const { code, message: reason, data } = outcome.error;
			log.warn("A turn ended in an error.", { session: stored.id, code, reason, data });
		}
	} catch (thrown) {
		log.error("A turn failed.", { session: stored.id, error: thrown });
		const { code, message, data } = toKernelError(thrown);
		outcome = { status: "failed", error: { code, message, data } };
	}
	turn.steers.close();
	if (outcome.status === "failed" && turnEvents.isBegun) await runHooks?.failed(outcome.error);
	await watch.end();
	await runHooks?.end();
	await settings.notifications.closeTurn();
	// A cancel that was accepted while the last hooks ran is honored.
	if (signal.aborted && outcome.status !== "failed") outcome = toCutOff(turn);
	if (outcome.status === "failed") turn.failure = outcome.error;
	const ended: EventBody = { type: "turn.ended", outcome };
	try {
		// From here on nothing of the turn may wait for a slow client, or stay open after the turn.
		turn.controller.abort(workIsOver);
		// One that was given up may have its beginning on the way to the store.
		await turnEvents.beginning;
		if (turnEvents.isBegun) {
			const snapshot = await services.sessionFiles.closeTurn(turn.id);
			if (snapshot !== null) await turnEvents.emit(snapshot);
			const used = settings.budgets.closeTurn();
			if (used !== null) await turnEvents.emit(used);
			return await turnEvents.emit(ended, { sync: true, beforeDelivery: release });
		}
	} catch (thrown) {
		log.error("The end of a turn could not be stored.", { session: stored.id, error: thrown });
	}
	// A log without the beginning of a turn must not contain its end.
	release();
	emitter.deliverVolatile({ turnId: turn.id, agentPath: [] }, ended);
}

/** The work of a cancelled turn hangs in something that ignores the abort: the turn ends without it. */
function giveUp(turn: RunningTurn, { services, log, seal }: MainTurnSettings): TurnOutcome {
	log.error("A cancelled turn did not end and is given up.", { session: services.stored.id });
	seal(new KernelError("closed", "The turn was given up."));
	return toCutOff(turn);
}

/** Ends the running work as a cancel would; the outcome reports whichever of the two came first. */
export function breakOff(turn: RunningTurn, error: TurnError): void {
	if (turn.controller.signal.aborted) return;
	turn.broken = error;
	turn.steers.close();
	turn.controller.abort();
}

function toCutOff({ broken }: RunningTurn): TurnOutcome {
	return broken === null ? { status: "cancelled" } : { status: "failed", error: broken };
}

/** Hooks before the run, the run, hooks after it: one of those may make the agent continue once. */
async function runPrompt(
	turn: RunningTurn,
	{ input, isOwn, key, trace }: TurnStart,
	turnEvents: TurnEvents,
	turnHooks: TurnHooks,
	settings: MainTurnSettings,
): Promise<TurnOutcome> {
	const { services, hooks } = settings;
	const { runHooks } = turnHooks;
	const { emit } = turnEvents;
	const { signal } = turn.controller;
	await settings.claim();
	const renewing = settings.keys.renewDue(signal);
	if (renewing !== undefined) await renewing;
	const blocked = isOwn ? null : await showPrompt(input, hooks, emit, signal);
	const refusedAtStart = await failureOf(runHooks?.started(input));
	const isAllowed = blocked === null && refusedAtStart === null;
	const entersContext = isAllowed && goesToModel(turn, { input, isOwn }, settings);
	const body: EventBody = {
		type: "turn.started",
		input,
		...(key === undefined ? {} : { key }),
		...(trace === undefined ? {} : { trace }),
		...(entersContext ? { enters_context: true } : {}),
	};
	const started = emit(body, {
		sync: true,
		beforeDelivery() {
			turnEvents.isBegun = true;
			settings.begun();
		},
	});
	turnEvents.beginning = Promise.resolve(started).catch(() => {});
	await started;
	settings.budgets.openTurn((error) => breakOff(turn, error));
	// Meanwhile the turn goes on, up to its first step.
	const marked = services.stored.markStarted();
	marked.catch(() => undefined);
	await settings.notifications.openTurn(emit);
	let outcome: TurnOutcome;
	if (blocked !== null) {
		await emit({ type: "content.delta", part: textPart(blocked.text) });
		outcome = { status: "finished" };
	} else if (refusedAtStart !== null) outcome = { status: "failed", error: refusedAtStart };
	else outcome = await runMarked(turn, { input, isOwn, entersContext }, marked, turnEvents, turnHooks, settings);
	await marked;
	return outcome;
}

/** Whether the input becomes the first message of the turn, as it is. */
function goesToModel(
	{ chosen: { model } }: RunningTurn,
	{ input, isOwn }: Pick<TurnStart, "input" | "isOwn">,
	{ commands, loopIterations }: Pick<MainTurnSettings, "commands" | "loopIterations">,
): boolean {
	if (model === null || missingCapability(model, toParts(input)) !== null) return false;
	return commands.find(inputText(input)) === null && (isOwn || loopIterations === 0);
}

/** The run of a turn whose session is being marked as the last one of its work directory. */
async function runMarked(
	turn: RunningTurn,
	{ input, isOwn, entersContext }: Pick<TurnStart, "input" | "isOwn"> & { readonly entersContext: boolean },
	marked: Promise<void>,
	turnEvents: TurnEvents,
	turnHooks: TurnHooks,
	settings: MainTurnSettings,
): Promise<TurnOutcome> {
	const { hooks, commands } = settings;
	const { runHooks } = turnHooks;
	const { emit } = turnEvents;
	const { signal } = turn.controller;
	// First of all: a session without a context starts afresh when it is opened again, and would forget what a command
	// changed.
	const run = await prepareRun(turn, marked, turnEvents, turnHooks, settings);
	const { dependencies } = run;
	const refused = await addContext(turn.options, dependencies);
	if (refused !== null) return { status: "failed", error: refused };
	const found = commands.find(inputText(input));
	let outcome = entersContext
		? await runTurn(input, dependencies, signal, { isStored: true })
		: await runInput(input, found, run, isOwn ? 0 : settings.loopIterations);
	if (outcome.status === "max-steps" || outcome.status === "truncated")
		return await completed(outcome, dependencies, runHooks);
	if (outcome.status !== "finished") return outcome;
	const reason = await askToStop(hooks, emit, signal);
	if (signal.aborted) return { status: "cancelled" };
	if (reason !== null) outcome = await runTurn(reason, dependencies, signal);
	// Input added while the hooks ran continues the turn as well.
	while (outcome.status === "finished" && !turn.steers.closeIfEmpty()) {
		outcome = await continueTurn(dependencies, signal);
	}
	outcome = await completed(outcome, dependencies, runHooks);
	if (outcome.status === "finished" && found === null && !isOwn) {
		await settings.title.derive(input);
		const { answerForm } = turn.options;
		if (answerForm !== undefined) outcome = await withForm(outcome, answerForm, dependencies, signal);
	}
	return outcome;
}

/** The hooks of a run that is about to end well: it does not, when one of them denies it. */
async function completed(
	outcome: TurnOutcome,
	{ context }: TurnDependencies,
	runHooks: SessionHooks | null,
): Promise<TurnOutcome> {
	if (runHooks === null || outcome.status === "failed" || outcome.status === "cancelled") return outcome;
	const error = await failureOf(runHooks.completed(lastText(context)));
	return error === null ? outcome : { status: "failed", error };
}

/** Why a hook of the session failed; null when it did not, or there is none. */
async function failureOf(hooks: Promise<void> | undefined): Promise<TurnError | null> {
	try {
		await hooks;
		return null;
	} catch (thrown) {
		return toHookFailure(thrown);
	}
}

/** Adds what precedes the input; returns why the model cannot get it, null when it can. */
async function addContext(
	{ context: given = [] }: TurnOptions,
	{ model, context }: TurnDependencies,
): Promise<TurnError | null> {
	if (model === null || given.length === 0) return null;
	const error = missingCapability(model, given.flatMap(toParts));
	if (error === null) await context.append(given.map((input) => userRow(input)));
	return error;
}

/** Requests the last answer in the form that it must have, unless it has it. */
async function withForm(
	outcome: Extract<TurnOutcome, { status: "finished" }>,
	form: AnswerForm,
	dependencies: TurnDependencies,
	signal: AbortSignal,
): Promise<TurnOutcome> {
	const formed = await formAnswer(form, dependencies, signal);
	if (formed.kind === "cancelled") return { status: "cancelled" };
	return formed.kind === "failed" ? { status: "failed", error: formed.error } : { ...outcome, formed: formed.answer };
}

/** Runs the prompt: as a command, as a prompt to repeat, or as a plain task. */
async function runInput(
	input: UserInput,
	found: ReturnType<SlashCommands["find"]>,
	run: CommandRunSettings,
	loopIterations: number,
): Promise<TurnOutcome> {
	if (found !== null) return await found.command.run(createCommandRun(found.argument, run));
	if (loopIterations === 0) return await runTurn(input, run.dependencies, run.turn.signal);
	return await runFlow(loopOver(input, loopIterations), createCommandRun("", run));
}

/** All that the agent needs for this turn. */
async function prepareRun(
	turn: RunningTurn,
	marked: Promise<void>,
	{ emit }: TurnEvents,
	{ watch, runHooks }: TurnHooks,
	{ services, main, servers }: MainTurnSettings,
): Promise<CommandRunSettings> {
	const { id, steers, controller, chosen, options } = turn;
	const loaded = await main.load(chosen);
	const agent = { ...loaded, tools: limitTools(loaded.tools, options.tools) };
	const agentTurn: AgentTurn = {
		id,
		signal: controller.signal,
		steers,
		watch,
		...(runHooks === null ? {} : { runHooks }),
		async toolsReady() {
			await marked;
			await servers?.prepareTurn(emit, controller.signal);
		},
		stepStarted: () => emitCrashNotice(main, emit),
		options,
	};
	const dependencies = createTurnDependencies(services, agent, agentTurn);
	return { services, agent, turn: agentTurn, dependencies, emit };
}

/** The report of an earlier crash is emitted inside the first step: clients show text only there. */
async function emitCrashNotice(main: MainAgent, emit: EmitInTurn): Promise<void> {
	const notice = main.takeNotice();
	if (notice === null) return;
	await emit({ type: "content.delta", part: textPart(notice.text) });
	await notice.settle();
}
