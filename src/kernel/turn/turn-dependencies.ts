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

export interface AgentServices {
	readonly stored: StoredSession;
	readonly emitter: Pick<Emitter, "emit" | "deliverVolatile" | "addAgent" | "removeAgent">;
	readonly observation: Observation | null;
	readonly approvals: Approvals;
	readonly progress: Pick<ProgressReports, "open">;
	readonly sessionFiles: Pick<SessionFiles, "record" | "closeTurn">;
	/** The kind of work, for the user who approves it. */
	readonly sourceKind: ApprovalSource["kind"];
	readonly limits: TurnLimits;
	readonly budget: AgentBudget;
	readonly compaction: Pick<Compacting, "triggerRatio" | "reservedTokens">;
	readonly clock: Clock;
	readonly random: () => number;
	readonly planMode: () => boolean;
	/** Passes the work through. If persistence fails, the turn delivers nothing more. */
	persisted<T>(work: Promise<T>): Promise<T>;
}

export interface Agent {
	/** Empty for the main agent. */
	readonly path: readonly AgentPathEntry[];
	readonly model: Model | null;
	readonly unsetModelAlias: string | null;
	readonly context: Context;
	readonly tools: ToolBox;
	readonly reminders: Reminders;
	notices(): Promise<readonly AgentNotice[]>;
	readonly mailbox: Mailbox | null;
	compactionNotes(): Promise<readonly string[]>;
}

export interface AgentTurn {
	readonly id: string;
	readonly signal: AbortSignal;
	readonly steers: OpenSteerQueue;
	readonly watch: WatchedTurn;
	readonly runHooks?: RunHooks;
	/** Called before the first step; absent when all tools are available initially. */
	toolsReady?(): Promise<void>;
	/** Called when a step has begun and its event was delivered. */
	stepStarted(): Promise<void> | undefined;
	readonly options?: RequestOptions;
}

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
			// The next step start or turn end syncs it as well; subagents have no such sync.
			if (agent.path.length === 0) isSyncDue = true;
			else await persisted(stored.commit({}, { sync: true }));
		},
	};
}

interface StartedCalls {
	/** Resolves when the intent of a call with effects is on stable storage. */
	started(call: ToolCall, hasEffect: boolean): Promise<void>;
	/** Its result was emitted. */
	settled(toolCallId: string): void;
	/** The call ended without a result. Does nothing for a call that was not started. */
	ended(toolCallId: string): Promise<void>;
}

/** Started calls of an agent turn: each gets an end, by its result or an end event. */
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

/** Notice hooks run concurrently with the turn, once the model has received the notice. */
function toNotice({ text, hook, persisted }: AgentNotice, services: AgentServices, { watch }: AgentTurn): Notice {
	return {
		text,
		async retained() {
			watch.runConcurrently(hook);
			// The record of the delivery must not survive a crash that loses the context.
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
