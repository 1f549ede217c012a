// Builds the dependencies of an agent's turn from the services of its session.

import type { ToolCall } from "../../api/values/content.ts";
import type { AgentPathEntry, EventBody, TurnError } from "../../api/values/event.ts";
import type { TurnOptions } from "../../api/values/turn-options.ts";
import type { Clock } from "../../base/clock.ts";
import type { Context } from "../../core/agent/context.ts";
import type {
	Compacting,
	Mailbox,
	Notice,
	RunHooks,
	ToolBox,
	TurnDependencies,
	TurnLimits,
} from "../../core/agent/dependencies.ts";
import type { Model } from "../../core/models/model.ts";
import type { StoredSession } from "../../ports/store/session-store.ts";
import type { AgentNotice } from "../background/notifications.ts";
import type { AgentBudget } from "../budgets/budgets.ts";
import type { Emitter } from "../clients/emitter.ts";
import type { Observation } from "../clients/observation.ts";
import type { ProgressReports } from "../clients/progress-reports.ts";
import type { ApprovalSource, Approvals } from "../interactions/approvals.ts";
import type { SessionFiles } from "../rewind/session-files.ts";
import type { Reminders } from "./reminders.ts";
import type { OpenSteerQueue } from "./steers.ts";
import type { WatchedTurn } from "./tool-hooks.ts";
import { createTurnEmit, type EmitInTurn } from "./turn-emitter.ts";

/** What all agents of a session share. */
export interface AgentServices {
	readonly stored: StoredSession;
	readonly emitter: Pick<Emitter, "emit" | "deliverVolatile" | "addAgent" | "removeAgent">;
	/** Null where nothing is observed. */
	readonly observation: Observation | null;
	readonly approvals: Approvals;
	readonly progress: Pick<ProgressReports, "open">;
	readonly sessionFiles: Pick<SessionFiles, "record" | "closeTurn">;
	/** What the agents' work is part of, for the person who approves it. */
	readonly sourceKind: ApprovalSource["kind"];
	readonly limits: TurnLimits;
	readonly budget: AgentBudget;
	readonly compaction: Pick<Compacting, "triggerRatio" | "reservedTokens">;
	readonly clock: Clock;
	/** Uniform in [0, 1). */
	readonly random: () => number;
	readonly planMode: () => boolean;
	/** Passes the work through; if it fails to persist, nothing more of the turn is delivered. */
	persisted<T>(work: Promise<T>): Promise<T>;
}

/** One agent of a session: its own, or a subagent. */
export interface Agent {
	/** Empty for the session's own agent. */
	readonly path: readonly AgentPathEntry[];
	readonly model: Model | null;
	readonly unsetModelAlias: string | null;
	readonly context: Context;
	readonly tools: ToolBox;
	readonly reminders: Reminders;
	notices(): Promise<readonly AgentNotice[]>;
	/** Null without the tool that sends to it. */
	readonly mailbox: Mailbox | null;
	/** The notes that it gets after a compaction. */
	compactionNotes(): Promise<readonly string[]>;
}

/** One run of an agent. */
export interface AgentTurn {
	readonly id: string;
	readonly signal: AbortSignal;
	readonly steers: OpenSteerQueue;
	readonly watch: WatchedTurn;
	/** The session's own hooks of this run; absent for none. */
	readonly runHooks?: RunHooks;
	/** Called before the first step; absent where all tools are available from the beginning. */
	toolsReady?(): Promise<void>;
	/** Called when a step was begun and its event delivered. */
	stepStarted(): Promise<void> | undefined;
	/** What counts for this turn alone; absent for nothing. */
	readonly options?: RequestOptions;
}

/** The options of a turn that every request of it has. */
type RequestOptions = Pick<TurnOptions, "systemPrompt" | "instructions" | "sampling" | "passingContext">;

function requestOptions(options: RequestOptions): RequestOptions {
	const { systemPrompt, instructions = [], sampling = {}, passingContext } = options;
	return {
		...(systemPrompt === undefined ? {} : { systemPrompt }),
		...(passingContext === undefined ? {} : { passingContext }),
		instructions,
		sampling,
	};
}

export function createTurnDependencies(services: AgentServices, agent: Agent, turn: AgentTurn): TurnDependencies {
	const { stored, approvals, budget, persisted } = services;
	const emit = createTurnEmit(services, agent.path, turn.id, turn.signal);
	const calls = createStartedCalls(emit);
	let isSyncDue = false;
	const startStep = async (body: EventBody) => {
		const sync = isSyncDue;
		isSyncDue = false;
		await emit(body, { sync });
		await turn.stepStarted();
	};
	return {
		model: agent.model === null ? null : budget.counted(agent.model),
		unsetModelAlias: agent.unsetModelAlias,
		context: agent.context,
		tools: agent.tools,
		toolsReady: async () => turn.toolsReady?.(),
		steers: turn.steers,
		journal: {
			started: (call, hasEffect) => persisted(calls.started(call, hasEffect)),
			ended: (call) => persisted(calls.ended(call.id)),
		},
		limits: services.limits,
		budget,
		cacheKey: stored.id,
		...requestOptions(turn.options ?? {}),
		isSubagent: agent.path.length > 0,
		planMode: services.planMode,
		watch: turn.watch,
		...(turn.runHooks === undefined ? {} : { runHooks: turn.runHooks }),
		notices: async () => (await agent.notices()).map((notice) => toNotice(notice, services, turn)),
		reminders: () => agent.reminders.due(agent.context.messages),
		mailbox: agent.mailbox,
		compaction: {
			...services.compaction,
			before: (trigger, tokenCount) =>
				turn.watch.run({ event: "PreCompact", target: trigger, input: { trigger, token_count: tokenCount } }),
			notes: () => agent.compactionNotes(),
			after: (trigger, tokenCount) => {
				agent.reminders.rearm();
				turn.watch.runConcurrently({
					event: "PostCompact",
					target: trigger,
					input: { trigger, estimated_token_count: tokenCount },
				});
			},
		},
		stepFailed: (error, errorType) => turn.watch.runConcurrently(stopFailure(error, errorType)),
		clock: services.clock,
		random: services.random,
		emit: (body) => {
			if (body.type === "step.started") return startStep(body);
			if (body.type === "tool.result") calls.settled(body.toolCallId);
			return emit(body);
		},
		progress: (call, signal) => services.progress.open({ turnId: turn.id, agentPath: agent.path }, call.id, signal),
		recordFiles: (subjects, work, signal) => services.sessionFiles.record(turn.id, subjects, work, signal),
		approve: (need, call, signal) =>
			persisted(
				approvals.decide(need, call, { kind: services.sourceKind, id: turn.id, path: agent.path }, emit, signal),
			),
		commit: async () => {
			const used = budget.toPersist();
			if (used !== null) await emit(used);
			// What follows syncs it as well: the beginning of the next step, or the end of the turn. Those of a subagent do not.
			if (agent.path.length === 0) isSyncDue = true;
			else await persisted(stored.commit({}, { sync: true }));
		},
	};
}

interface StartedCalls {
	/** The intent of a call with effects is on stable storage when the promise resolves. */
	started(call: ToolCall, hasEffect: boolean): Promise<void>;
	/** Its result is emitted. */
	settled(toolCallId: string): void;
	/** It is over without a result; nothing happens for a call that was not started. */
	ended(toolCallId: string): Promise<void>;
}

/** The calls of an agent's turn that act: each that was started gets an end, its result or the event that it ended. */
function createStartedCalls(emit: EmitInTurn): StartedCalls {
	const open = new Set<string>();
	return {
		async started({ id, function: { name, arguments: text } }, hasEffect) {
			open.add(id);
			const started = { type: "tool.started", toolCallId: id, name, arguments: text, has_effect: hasEffect } as const;
			await emit(started, { sync: hasEffect });
		},
		settled: (toolCallId) => void open.delete(toolCallId),
		async ended(toolCallId) {
			if (open.delete(toolCallId)) await emit({ type: "tool.ended", toolCallId });
		},
	};
}

/** The hooks of a notice run concurrently with the turn, once the model was given the notice. */
function toNotice({ text, hook, persisted }: AgentNotice, services: AgentServices, { watch }: AgentTurn): Notice {
	return {
		text,
		async retained() {
			watch.runConcurrently(hook);
			// The record of the delivery must not survive a crash that the context did not.
			await services.persisted(services.stored.commit({}, { sync: true }));
			await persisted();
		},
	};
}

function stopFailure({ message }: TurnError, errorType: string) {
	return {
		event: "StopFailure",
		target: errorType,
		input: { error_type: errorType, error_message: message },
	} as const;
}
