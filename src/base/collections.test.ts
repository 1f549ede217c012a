import { expect, it } from "vitest";
import { eachOf } from "./batches.ts";

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
