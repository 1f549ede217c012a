import { expect, it } from "vitest";
import { eachOf, forgetOldest } from "./collections.ts";

it("gives the items in their order, and ends the batches when its reader stops", async () => {
	let isOver = false;
	async function* batches() {
		try {
			yield [1, 2];
			yield [];
			yield [3];
			yield [4];
		} finally {
			isOver = true;
		}
	}
	const found: number[] = [];
	for await (const item of eachOf(batches())) {
		if (item === 4) break;
		found.push(item);
	}
	expect(found).toEqual([1, 2, 3]);
	expect(isOver).toBe(true);
});

it("forgets what was added first, and nothing while there is no more than may be", () => {
	const set = new Set(["a", "b", "c"]);
	forgetOldest(set, 3);
	expect([...set]).toEqual(["a", "b", "c"]);
	forgetOldest(set, 1);
	expect([...set]).toEqual(["c"]);
	const map = new Map([
		["a", 1],
		["b", 2],
	]);
	map.delete("a");
	map.set("a", 3);
	forgetOldest(map, 1);
	expect([...map]).toEqual([["a", 3]]);
});
