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

/** Milliseconds for cancelled work to end: longer than its calls get. */
const patience = 1400;

export interface RunningTurn {
	readonly id: string;
	readonly controller: AbortController;
	readonly chosen: ChosenModel;
	readonly options: TurnOptions;
	readonly steers: OpenSteerQueue;
	/** Set when it was aborted other than by cancelling: an exhausted time budget, or an uncaught exception. */
	broken: TurnError | null;
	failure: TurnError | null;
	/** Resolves when its end was delivered. */
	ended: Promise<void>;
}

export interface TurnStart {
	readonly input: UserInput;
	/** Whether the program wrote the input: prompt hooks skip it, it is not repeated, and it does not title the session. */
	readonly isOwn: boolean;
	readonly takesOver: boolean;
	readonly key?: string;
	/** Trace context of the caller. */
	readonly trace?: string;
}

export interface MainTurnSettings {
	readonly services: AgentServices;
	readonly hooks: HookRunner;
	readonly main: MainAgent;
	readonly servers: Pick<ToolServers, "prepareTurn"> | null;
	readonly commands: SlashCommands;
	readonly loopIterations: number;
	readonly notifications: Pick<Notifications, "openTurn" | "closeTurn">;
	readonly keys: Pick<SessionKeys, "renewDue">;
	readonly budgets: Pick<Budgets, "openTurn" | "closeTurn">;
	readonly title: { derive(input: UserInput): Promise<void> };
	claim(): Promise<void>;
	readonly log: Log;
	/** From now on, only end events are delivered for the turn. */
	seal(error: Error): void;
	/** Called once its start was persisted and delivered. */
	begun(): void;
	/** Called right before the end is delivered: a client that receives it may start the next turn immediately. */
	release(): void;
}

interface TurnHooks {
	readonly watch: WatchedTurn;
	readonly runHooks: SessionHooks | null;
}

interface TurnEvents {
	readonly emit: EmitInTurn;
	isBegun: boolean;
	/** Resolves once `isBegun` is final, after the start was emitted. */
	beginning: Promise<void>;
}

/** Runs the turn. Never rejects; the end event has its outcome. */
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
		// From here on, nothing in the turn may wait for a slow client or stay open afterwards.
		turn.controller.abort(workIsOver);
		// An abandoned turn may still be storing its start.
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
	// A log without the start of a turn must not contain its end.
	release();
	emitter.deliverVolatile({ turnId: turn.id, agentPath: [] }, ended);
}

/** Cancelled work hangs in code that ignores the abort: the turn ends without it. */
function giveUp(turn: RunningTurn, { services, log, seal }: MainTurnSettings): TurnOutcome {
	log.error("A cancelled turn did not end and is given up.", { session: services.stored.id });
	seal(new KernelError("closed", "The turn was given up."));
	return toCutOff(turn);
}

/** Ends the running work like a cancel. The outcome reports the earlier of the two. */
export function breakOff(turn: RunningTurn, error: TurnError): void {
	if (turn.controller.signal.aborted) return;
	turn.broken = error;
	turn.steers.close();
	turn.controller.abort();
}

function toCutOff({ broken }: RunningTurn): TurnOutcome {
	return broken === null ? { status: "cancelled" } : { status: "failed", error: broken };
}

/** Runs the hooks and the agent. An end hook may make the agent continue once. */
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
	// Meanwhile the turn continues up to its first step.
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

/** Whether the input becomes the first message of the turn unchanged. */
function goesToModel(
	{ chosen: { model } }: RunningTurn,
	{ input, isOwn }: Pick<TurnStart, "input" | "isOwn">,
	{ commands, loopIterations }: Pick<MainTurnSettings, "commands" | "loopIterations">,
): boolean {
	if (model === null || missingCapability(model, toParts(input)) !== null) return false;
	return commands.find(inputText(input)) === null && (isOwn || loopIterations === 0);
}

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
	// First, because a session without a context starts afresh when reopened and would forget what a command changed.
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
	// Input added while the hooks ran also continues the turn.
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

/** Runs the completion hooks. A denial makes the run fail. */
async function completed(
	outcome: TurnOutcome,
	{ context }: TurnDependencies,
	runHooks: SessionHooks | null,
): Promise<TurnOutcome> {
	if (runHooks === null || outcome.status === "failed" || outcome.status === "cancelled") return outcome;
	const error = await failureOf(runHooks.completed(lastText(context)));
	return error === null ? outcome : { status: "failed", error };
}

async function failureOf(hooks: Promise<void> | undefined): Promise<TurnError | null> {
	try {
		await hooks;
		return null;
	} catch (thrown) {
		return toHookFailure(thrown);
	}
}

async function addContext(
	{ context: given = [] }: TurnOptions,
	{ model, context }: TurnDependencies,
): Promise<TurnError | null> {
	if (model === null || given.length === 0) return null;
	const error = missingCapability(model, given.flatMap(toParts));
	if (error === null) await context.append(given.map((input) => userRow(input)));
	return error;
}

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

/** Emits the crash report inside the first step: clients show text only there. */
async function emitCrashNotice(main: MainAgent, emit: EmitInTurn): Promise<void> {
	const notice = main.takeNotice();
	if (notice === null) return;
	await emit({ type: "content.delta", part: textPart(notice.text) });
	await notice.settle();
}
