import { describe, expect, it } from "vitest";
import { Usage } from "./usage.ts";

const price = { input: 1, output: 10, cacheRead: 0.5, cacheCreation: 2, currency: "USD" };
const call = { input_other: 1_000_000, output: 100_000, input_cache_read: 2_000_000, input_cache_creation: 500_000 };

describe("the usage of a session", () => {
	it("is nothing until both the tokens and their limit are known, and is sent when it changes", () => {
		const usage = new Usage(() => null);
		usage.setContext(10, null);
		expect(usage.update()).toEqual([]);
		usage.setContext(null, 100);
		expect(usage.update()).toEqual([{ sessionUpdate: "usage_update", used: 10, size: 100 }]);
		expect(usage.update()).toEqual([]);
	});

	it("has what all model calls have cost, where there is a price", () => {
		const usage = new Usage(() => price);
		usage.count(call);
		usage.count(call);
		usage.setContext(10, 100);
		expect(usage.update()).toMatchObject([{ cost: { amount: 8, currency: "USD" } }]);
	});

	it("counts anew in another currency", () => {
		let now = price;
		const usage = new Usage(() => now);
		usage.setContext(10, 100);
		usage.count(call);
		now = { ...price, currency: "EUR" };
		usage.count(call);
		expect(usage.update()).toMatchObject([{ cost: { amount: 4, currency: "EUR" } }]);
	});
});
