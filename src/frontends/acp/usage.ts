import type { ModelPrice } from "../../api/models.ts";
import type { TokenUsage } from "../../api/values/content.ts";
import type { Update } from "./wire-updates.ts";

export class Usage {
	readonly #price: () => ModelPrice | null;
	#used: number | null = null;
	#size: number | null = null;
	#cost: { readonly amount: number; readonly currency: string } | null = null;
	#sent = "";

	constructor(price: () => ModelPrice | null) {
		this.#price = price;
	}

	count(usage: TokenUsage): void {
		const price = this.#price();
		if (price === null) return;
		const { currency } = price;
		const earlier = this.#cost?.currency === currency ? this.#cost.amount : 0;
		this.#cost = { amount: earlier + costOf(usage, price), currency };
	}

	/** Null keeps the known value. */
	setContext(used: number | null, size: number | null): void {
		this.#used = used ?? this.#used;
		this.#size = size ?? this.#size;
	}

	update(): readonly Update[] {
		if (this.#used === null || this.#size === null) return [];
		const cost = this.#cost === null ? {} : { cost: this.#cost };
		const update: Update = { sessionUpdate: "usage_update", used: this.#used, size: this.#size, ...cost };
		const text = JSON.stringify(update);
		if (text === this.#sent) return [];
		this.#sent = text;
		return [update];
	}
}

function costOf(usage: TokenUsage, price: ModelPrice): number {
	const perMillion =
		usage.input_other * price.input +
		usage.output * price.output +
		usage.input_cache_read * price.cacheRead +
		usage.input_cache_creation * price.cacheCreation;
	return perMillion / 1_000_000;
}
