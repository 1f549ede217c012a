// What a session's events come to next to its conversation: changed files, what is left to do, the context and the tokens.
import type { DisplayBlock, Todo } from "../src/api/values/content.ts";
import type { EventBodyOf, McpStatus } from "../src/api/values/event.ts";
import { countLines, diffLines } from "../src/base/text/line-diff.ts";

export interface Change {
	readonly path: string;
	readonly added: number;
	readonly removed: number;
}

interface Context {
	readonly usage: number | null;
	readonly tokens: number | null;
	readonly limit: number | null;
}

export class Totals {
	readonly changes = new Map<string, Change>();
	/** What is left to do; null while the agent has made no list. */
	todo: readonly Todo[] | null = null;
	/** Null is what nothing has said yet. */
	context: Context = { usage: null, tokens: null, limit: null };
	readonly used = { input: 0, output: 0, cached: 0 };
	mcp: McpStatus | null = null;
	/** The warning about the budget that is nearly exhausted. */
	budget: string | null = null;

	count(status: EventBodyOf<"status.changed">, isOfSubagent: boolean): void {
		if (status.mcp_status !== null) this.mcp = status.mcp_status;
		const usage = status.token_usage;
		if (usage !== null) {
			this.used.input += usage.input_other + usage.input_cache_creation;
			this.used.output += usage.output;
			this.used.cached += usage.input_cache_read;
		}
		if (isOfSubagent) return;
		this.context = {
			usage: status.context_usage ?? this.context.usage,
			tokens: status.context_tokens ?? this.context.tokens,
			limit: status.max_context_tokens ?? this.context.limit,
		};
	}

	/** Takes the warning; gives its words. */
	warn({ used, limit, scope, budget }: EventBodyOf<"budget.warning">): string {
		this.budget = `${Math.round((100 * used) / limit)} % of the ${scope}'s ${budget} budget is used`;
		return this.budget;
	}

	list(display: readonly DisplayBlock[]): void {
		for (const shown of display) if (shown.type === "todo" && "items" in shown) this.todo = shown.items;
	}

	change(display: readonly DisplayBlock[]): void {
		for (const shown of display) {
			if (shown.type !== "diff" || !("old_text" in shown)) continue;
			const { added, removed } = countLines(diffLines(shown.old_text, shown.new_text));
			this.#add({ path: shown.path, added, removed });
		}
	}

	/** Adds what the events came to that are before all of these. */
	follow(earlier: Totals): void {
		const later = [...this.changes.values()];
		this.changes.clear();
		for (const change of [...earlier.changes.values(), ...later]) this.#add(change);
		this.todo ??= earlier.todo;
		this.context = {
			usage: this.context.usage ?? earlier.context.usage,
			tokens: this.context.tokens ?? earlier.context.tokens,
			limit: this.context.limit ?? earlier.context.limit,
		};
		this.used.input += earlier.used.input;
		this.used.output += earlier.used.output;
		this.used.cached += earlier.used.cached;
		this.mcp ??= earlier.mcp;
		this.budget ??= earlier.budget;
	}

	#add({ path, added, removed }: Change): void {
		const known = this.changes.get(path);
		this.changes.set(path, { path, added: (known?.added ?? 0) + added, removed: (known?.removed ?? 0) + removed });
	}
}
