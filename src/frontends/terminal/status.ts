import type { TurnEvent, Usage } from "../../client/client.ts";
import type { ModelsListResult } from "../../client/protocol-types.ts";
import { oneLine } from "./describe.ts";
import type { Theme } from "./theme.ts";

type Price = ModelsListResult["options"][number]["price"];
type Ended = Extract<TurnEvent, { type: "call.ended" }>;
type Todos = Extract<Ended["display"][number], { readonly items: unknown }>["items"];

const shownTodos = 8;
const marks = { pending: "☐", in_progress: "▸", done: "☑" } as const;

export class Status {
	price: Price = null;
	#todos: Todos = [];
	#context: number | null = null;
	#cost = 0;
	#currency: string | null = null;

	take(event: TurnEvent): void {
		if (event.type === "call.ended") {
			const { items } = event.display.find((block) => "items" in block) ?? {};
			if (items !== undefined && event.agent === null) this.#todos = items;
		}
		if (event.type !== "usage") return;
		if (event.agent === null) this.#context = event.context ?? this.#context;
		if (event.tokens !== null && this.price !== null) {
			this.#cost += costOf(event.tokens, this.price);
			this.#currency = this.price.currency;
		}
	}

	/** Such as ` · 12 % of the context · ≈ 0.042 USD`; empty while nothing is known. */
	get words(): string {
		const used = this.#context === null ? "" : ` · ${Math.round(this.#context * 100)} % of the context`;
		const cost = this.#currency === null ? "" : ` · ≈ ${this.#cost.toFixed(this.#cost < 1 ? 3 : 2)} ${this.#currency}`;
		return used + cost;
	}

	todoLines({ accent, dim, bold }: Theme): string[] {
		const done = this.#todos.filter(({ status }) => status === "done").length;
		if (done === this.#todos.length) return [];
		const styles = { pending: (text: string) => text, in_progress: accent, done: dim };
		// Keeps the current item in view in a long list.
		const start = Math.max(0, Math.min(done - 1, this.#todos.length - shownTodos));
		const rest = this.#todos.length - start - shownTodos;
		return [
			bold(`To do (${done} of ${this.#todos.length} done)`),
			...this.#todos
				.slice(start, start + shownTodos)
				.map(({ title, status }) => styles[status](`${marks[status]} ${oneLine(title)}`)),
			...(rest > 0 ? [dim(`… ${rest} more`)] : []),
		];
	}
}

function costOf({ input, cacheRead, cacheWrite, output }: Usage, price: NonNullable<Price>): number {
	const parts = [
		[input, price.input],
		[cacheRead, price.cacheRead],
		[cacheWrite, price.cacheCreation],
		[output, price.output],
	] as const;
	return parts.reduce((sum, [tokens, each]) => sum + (tokens * each) / 1_000_000, 0);
}
