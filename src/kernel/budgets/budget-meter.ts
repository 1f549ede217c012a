// Meters the budgets of one scope, a session or a turn: when a warning is due and when a budget is exhausted.
import { type BudgetKind, budgetKinds, type EventBodyOf } from "../../api/values/event.ts";

/** Tokens and tool calls are counts, time is in milliseconds. */
export type Amounts = Readonly<Record<BudgetKind, number>>;
/** Limits per budget; null for no limit. */
export type Limits = Readonly<Record<BudgetKind, number | null>>;

/** The state of a budget as events report it: times in seconds. */
export type BudgetState = Omit<EventBodyOf<"budget.warning">, "type">;

export interface MeterSettings {
	readonly scope: BudgetState["scope"];
	readonly limits: Limits;
	/** The share of a budget at which a warning is due. */
	readonly warningRatio: number;
	/** Consumed before; null for nothing. */
	readonly used: Amounts | null;
}

export class BudgetMeter {
	readonly #settings: MeterSettings;
	readonly #used: Record<BudgetKind, number>;
	readonly #warned: Set<BudgetKind>;

	constructor(settings: MeterSettings) {
		this.#settings = settings;
		this.#used = { ...(settings.used ?? { tokens: 0, time: 0, "tool-calls": 0 }) };
		// Warnings that were due by then have been given.
		this.#warned = new Set(settings.used === null ? [] : budgetKinds.filter((kind) => this.#isWarningDue(kind)));
	}

	get used(): Amounts {
		return { ...this.#used };
	}

	add(kind: BudgetKind, amount: number): void {
		this.#used[kind] += amount;
	}

	/** The budgets whose warning has become due; each is returned once. */
	takeWarnings(): BudgetState[] {
		const due = budgetKinds.filter((kind) => !this.#warned.has(kind) && this.#isWarningDue(kind));
		return due.flatMap((kind) => {
			this.#warned.add(kind);
			return this.#stateOf(kind) ?? [];
		});
	}

	/** The first of these budgets that is exhausted; null while each has something left. */
	exhausted(kinds: readonly BudgetKind[] = budgetKinds): BudgetState | null {
		const kind = kinds.find((each) => this.#isPast(each, 1));
		return kind === undefined ? null : this.#stateOf(kind);
	}

	/** Milliseconds until the time budget's next warning or its end; null when neither is to come. */
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
		// A clock counts parts of milliseconds too, which nobody wants to read.
		const used = Math.round(this.#used[kind]) / unit;
		return { budget: kind, scope: this.#settings.scope, used, limit: limit / unit };
	}
}
