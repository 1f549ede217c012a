// Meters consumption, warns, and ends turns that run out of time (docs/guides/budgets.md).

import { inputTokens, type TokenUsage } from "../../api/values/content.ts";
import type { BudgetKind, EventBody, TurnError } from "../../api/values/event.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Budget } from "../../core/agent/dependencies.ts";
import { changedChunks } from "../../core/models/chunk-streams.ts";
import type { Model } from "../../core/models/model.ts";
import type { StoredSession } from "../../ports/store/session-store.ts";
import { BudgetMeter, type BudgetState, type Limits } from "./budget-meter.ts";

export interface BudgetLimits {
	readonly session: Limits;
	readonly turn: Limits;
	readonly warningRatio: number;
}

export interface BudgetSettings {
	readonly limits: BudgetLimits;
	readonly stored: Pick<StoredSession, "id" | "summary">;
	readonly clock: Clock;
	readonly log: Log;
	/** Emits a warning without waiting. */
	warn(state: BudgetState): void;
}

export interface AgentBudget extends Budget {
	/** Wraps a model to meter its requests. */
	counted(model: Model): Model;
	/** Returns the session consumption event to emit, or null when nothing changed since the last one. */
	toPersist(): EventBody | null;
	/** The budget for work outside turns, which counts only towards the session. */
	outsideTurns(): AgentBudget;
}

interface OpenTurn {
	readonly meter: BudgetMeter;
	readonly expired: (error: TurnError) => void;
	countedAt: number;
	withdrawTimer(): void;
}

export class Budgets {
	readonly #settings: BudgetSettings;
	#session: BudgetMeter;
	/** Whether session consumption is persisted: the session has or had a budget. */
	readonly #isPersisted: boolean;
	readonly #isLimited: boolean;
	#persisted: string;
	#turn: OpenTurn | null = null;
	readonly inTurn: AgentBudget = this.#budgetOf(true);

	constructor(settings: BudgetSettings) {
		const { limits, stored } = settings;
		const { tokens, milliseconds, toolCalls } = stored.summary.used;
		this.#settings = settings;
		this.#session = this.#storedMeter();
		this.#persisted = JSON.stringify(this.#toEvent());
		this.#isPersisted = hasAny(limits.session) || tokens + milliseconds + toolCalls > 0;
		this.#isLimited = this.#isPersisted || hasAny(limits.turn);
	}

	reload(): void {
		this.#session = this.#storedMeter();
		this.#persisted = JSON.stringify(this.#toEvent());
	}

	#storedMeter(): BudgetMeter {
		const { limits, stored } = this.#settings;
		const { tokens, milliseconds, toolCalls } = stored.summary.used;
		return new BudgetMeter({
			scope: "session",
			limits: limits.session,
			warningRatio: limits.warningRatio,
			used: { tokens, time: milliseconds, "tool-calls": toolCalls },
		});
	}

	/** Starts metering time. `expired` is called once, when a time budget is exhausted during the turn. */
	openTurn(expired: (error: TurnError) => void): void {
		const { limits, clock } = this.#settings;
		if (!this.#isLimited) return;
		const { warningRatio } = limits;
		const meter = new BudgetMeter({ scope: "turn", limits: limits.turn, warningRatio, used: null });
		this.#turn = { meter, expired, countedAt: clock.monotonic(), withdrawTimer: () => {} };
		this.#setTimer(this.#turn);
	}

	/** Ends the turn. Returns the event to emit before its end. */
	closeTurn(): EventBody | null {
		this.#countTime();
		this.#turn?.withdrawTimer();
		this.#turn = null;
		return this.#toPersist();
	}

	#budgetOf(isInTurn: boolean): AgentBudget {
		return {
			exhausted: () => {
				this.#countTime();
				return this.#exhausted(this.#meters(isInTurn));
			},
			takeToolCall: () => {
				const error = this.#exhausted(this.#meters(isInTurn), ["tool-calls"]);
				if (error === null) this.#count("tool-calls", 1, isInTurn);
				return error;
			},
			counted: (model) => (this.#isLimited ? this.#counted(model, isInTurn) : model),
			toPersist: () => {
				this.#countTime();
				return this.#toPersist();
			},
			outsideTurns: () => this.#budgetOf(false),
		};
	}

	#exhausted(meters: readonly BudgetMeter[], kinds?: readonly BudgetKind[]): TurnError | null {
		const [state] = meters.flatMap((meter) => meter.exhausted(kinds) ?? []);
		return state === undefined ? null : toError(state);
	}

	#counted(model: Model, isInTurn: boolean): Model {
		const count = (usage: TokenUsage) => this.#count("tokens", inputTokens(usage) + usage.output, isInTurn);
		const stream: Model["stream"] = (request, signal) =>
			changedChunks(model.stream(request, signal), (chunk) => {
				if (chunk.type === "done" && chunk.usage !== null) count(chunk.usage);
				return chunk;
			});
		const { name, maxContextSize, capabilities } = model;
		return { name, maxContextSize, capabilities, stream };
	}

	#meters(isInTurn: boolean): readonly BudgetMeter[] {
		return isInTurn && this.#turn !== null ? [this.#session, this.#turn.meter] : [this.#session];
	}

	#count(kind: BudgetKind, amount: number, isInTurn: boolean): void {
		for (const meter of this.#meters(isInTurn)) meter.add(kind, amount);
		this.#emitWarnings();
	}

	/** Time counts for session and turn, but only while a turn is open. */
	#countTime(): void {
		if (this.#turn === null) return;
		const now = this.#settings.clock.monotonic();
		const passed = now - this.#turn.countedAt;
		this.#turn.countedAt = now;
		this.#count("time", passed, true);
	}

	#emitWarnings(): void {
		const { stored, log, warn } = this.#settings;
		for (const state of this.#meters(true).flatMap((meter) => meter.takeWarnings())) {
			log.warn("a budget is nearly used up", { session: stored.id, ...state });
			warn(state);
		}
	}

	#setTimer(turn: OpenTurn): void {
		const waiting = this.#meters(true).filter((meter) => meter.untilNews() !== null);
		if (waiting.length === 0) return;
		const wait = Math.min(...waiting.flatMap((meter) => meter.untilNews() ?? []));
		turn.withdrawTimer = this.#settings.clock.after(Math.max(Math.ceil(wait), 1), () => {
			this.#countTime();
			// An exhausted budget blocks steps, but not commands that need no step.
			const error = this.#exhausted(waiting, ["time"]);
			if (error === null) this.#setTimer(turn);
			else turn.expired(error);
		});
	}

	#toPersist(): EventBody | null {
		const event = this.#toEvent();
		const text = JSON.stringify(event);
		if (!this.#isPersisted || text === this.#persisted) return null;
		this.#persisted = text;
		return event;
	}

	#toEvent(): EventBody {
		const { tokens, time, "tool-calls": toolCalls } = this.#session.used;
		return { type: "usage.counted", tokens, milliseconds: time, tool_calls: toolCalls };
	}
}

function hasAny(limits: Limits): boolean {
	return Object.values(limits).some((limit) => limit !== null);
}

const units = { tokens: "token", time: "second", "tool-calls": "tool call" } as const;

function toError(state: BudgetState): TurnError {
	const { budget, scope, used, limit } = state;
	const wayOn = scope === "session" ? "Only a higher limit lets it go on." : "The next prompt has a new one.";
	const amount = `${limit} ${units[budget]}${limit === 1 ? "" : "s"}`;
	const message = `The ${scope} has used up its budget of ${amount} (${used} used). ${wayOn}`;
	return { code: "budget-exhausted", message, data: state };
}
