// Meters the budgets of one scope (session or turn): decides when to warn and when a budget is exhausted.
import { type BudgetKind, budgetKinds, type EventBodyOf } from "../../api/values/event.ts";

/** Tokens and tool calls are counts; time is in milliseconds. */
export type Amounts = Readonly<Record<BudgetKind, number>>;
export type Limits = Readonly<Record<BudgetKind, number | null>>;

/** Budget state as events report it; times in seconds. */
export type BudgetState = Omit<EventBodyOf<"budget.warning">, "type">;

export interface MeterSettings {
	readonly scope: BudgetState["scope"];
	readonly limits: Limits;
	/** Share of a budget at which a warning is due. */
	readonly warningRatio: number;
	/** Consumption before this meter started. */
	readonly used: Amounts | null;
}

export class BudgetMeter {
	readonly #settings: MeterSettings;
	readonly #used: Record<BudgetKind, number>;
	readonly #warned: Set<BudgetKind>;

	constructor(settings: MeterSettings) {
		this.#settings = settings;
		this.#used = { ...(settings.used ?? { tokens: 0, time: 0, "tool-calls": 0 }) };
		// Warnings due by then were already given.
		this.#warned = new Set(settings.used === null ? [] : budgetKinds.filter((kind) => this.#isWarningDue(kind)));
	}

	get used(): Amounts {
		return { ...this.#used };
	}

	add(kind: BudgetKind, amount: number): void {
		this.#used[kind] += amount;
	}

	/** Returns the budgets whose warning has become due, each once. */
	takeWarnings(): BudgetState[] {
		const due = budgetKinds.filter((kind) => !this.#warned.has(kind) && this.#isWarningDue(kind));
		return due.flatMap((kind) => {
			this.#warned.add(kind);
			return this.#stateOf(kind) ?? [];
		});
	}

	exhausted(kinds: readonly BudgetKind[] = budgetKinds): BudgetState | null {
		const kind = kinds.find((each) => this.#isPast(each, 1));
		return kind === undefined ? null : this.#stateOf(kind);
	}

	/** Milliseconds until the time budget warns or ends; null when neither is ahead. */
	untilNews(): number | null {
		const { limits, warningRatio } = this.#settings;
		if (limits.time === null || this.#isPast("time", 1)) return null;
		const next = this.#warned.has("time") ? limits.time : limits.time * warningRatio;
		return Math.max(next - this.#used.time, 0);
	}

	#isWarningDue(kind: BudgetKind): boolean {
		return this.#isPast(kind, this.#settings.warningRatio);
	}

	#isPast(kind: BudgetKind, share: number): boolean {
		const limit = this.#settings.limits[kind];
		return limit !== null && this.#used[kind] >= limit * share;
	}

	#stateOf(kind: BudgetKind): BudgetState | null {
		const limit = this.#settings.limits[kind];
		if (limit === null) return null;
		const unit = kind === "time" ? 1000 : 1;
		const used = Math.round(this.#used[kind]) / unit;
		return { budget: kind, scope: this.#settings.scope, used, limit: limit / unit };
	}
}
