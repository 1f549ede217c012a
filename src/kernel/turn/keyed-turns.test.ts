import { describe, expect, it } from "vitest";
import { digestOfInput } from "../../ports/store/input-digest.ts";
import { turnKeyLimit } from "../../ports/store/session-store.ts";
import { KeyedTurns } from "./keyed-turns.ts";

const begin = (turnId: string) => async () => ({ turnId });

describe("the turns with a key", () => {
	it("begin once for each key, with those of earlier processes", async () => {
		const turns = new KeyedTurns([{ key: "old", turnId: "t0", digest: digestOfInput("a") }]);
		expect(await turns.start("old", "a", begin("t1"))).toEqual({ turnId: "t0" });
		expect(await turns.start("new", "a", begin("t2"))).toEqual({ turnId: "t2" });
		expect(await turns.start("new", "a", begin("t3"))).toEqual({ turnId: "t2" });
	});

	it("can be tried again when they did not begin", async () => {
		const turns = new KeyedTurns([]);
		const failing = () => Promise.reject(new Error("full"));
		await expect(turns.start("k", "a", failing)).rejects.toThrow("full");
		expect(turns.has("k")).toBe(false);
		expect(await turns.start("k", "b", begin("t"))).toEqual({ turnId: "t" });
	});

	it("are remembered up to a limit, the newest", async () => {
		const turns = new KeyedTurns([]);
		for (let n = 0; n <= turnKeyLimit; n += 1) await turns.start(`k${n}`, "a", begin(`t${n}`));
		expect([turns.has("k0"), turns.has("k1"), turns.has(`k${turnKeyLimit}`)]).toEqual([false, true, true]);
	});
});
