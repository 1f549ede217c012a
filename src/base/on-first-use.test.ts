import { describe, expect, it } from "vitest";
import { OnFirstUse } from "./on-first-use.ts";

describe("a value created on first use", () => {
	it("is created once for all callers", async () => {
		let made = 0;
		const value = new OnFirstUse(async () => ++made);
		expect(value.isUsed).toBe(false);
		expect(await Promise.all([value.get(), value.get()])).toEqual([1, 1]);
		expect([await value.get(), value.isUsed]).toEqual([1, true]);
	});

	it("is created again after a failure", async () => {
		let attempts = 0;
		const value = new OnFirstUse(async () => {
			attempts += 1;
			if (attempts === 1) throw new Error("not yet");
			return attempts;
		});
		await expect(value.get()).rejects.toThrow("not yet");
		expect(value.isUsed).toBe(false);
		expect(await value.get()).toBe(2);
	});

	it("is there to close only if it was created", async () => {
		const value = new OnFirstUse(async () => "made");
		expect(await value.made()).toBe(null);
		await value.get();
		expect(await value.made()).toBe("made");
		value.forget();
		expect([await value.made(), value.isUsed]).toEqual([null, false]);
		const failing = new OnFirstUse(() => Promise.reject(new Error("broken")));
		const use = failing.get();
		expect(await failing.made()).toBe(null);
		await expect(use).rejects.toThrow("broken");
	});
});
