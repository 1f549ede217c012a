import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createPace, otherWork } from "./pace.ts";

function workFor(milliseconds: number): void {
	const end = performance.now() + milliseconds;
	while (performance.now() < end);
}

/** How often others had their turn until the work was done. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
	let turns = 0;
	let isOver = false;
	const count = (): void => {
		turns += 1;
		if (!isOver) setImmediate(count);
	};
	setImmediate(count);
	await work();
	isOver = true;
	return turns;
}

it("yields to other work in a long loop, but not in a short one", async () => {
	const loop = (rounds: number) => async () => {
		const pace = createPace();
		for (let round = 0; round < rounds; round += 1) {
			workFor(21);
			await pace.rest();
		}
	};
	expect(await turnsDuring(loop(5))).toBeGreaterThanOrEqual(5);
	expect(await turnsDuring(loop(0))).toBe(0);
});

it("counts no time before a turn of the event loop, which other work had", async () => {
	const pace = createPace();
	workFor(21);
	await nextTurn();
	await nextTurn();
	expect(pace.rest()).toBeUndefined();
	workFor(21);
	expect(pace.rest()).toBeInstanceOf(Promise);
});

it("yields to other work between pieces, also when all were requested at once", async () => {
	const pace = createPace();
	const results = await turnsDuring(() => Promise.all([1, 2, 3, 4, 5].map(() => pace.run(() => workFor(21)))));
	expect(results).toBeGreaterThanOrEqual(4);
});

it("returns or throws what the work does", async () => {
	const pace = createPace();
	expect(await pace.run(() => 1)).toBe(1);
	const failing = pace.run(() => {
		throw new Error("no");
	});
	await expect(failing).rejects.toThrow("no");
});

it("lets other work run before each of several long pieces, which come one at a time", async () => {
	const happened: string[] = [];
	const piece = async (name: string) => {
		await otherWork();
		happened.push(name);
	};
	await turnsDuring(async () => {
		const pieces = Promise.all(["a", "b", "c"].map(piece));
		for (let turn = 0; turn < 10; turn += 1) {
			await nextTurn();
			happened.push("other");
		}
		await pieces;
	});
	const places = ["a", "b", "c"].map((name) => happened.indexOf(name));
	expect(places).toEqual([...places].sort((one, other) => one - other));
	const between = ["a", "b", "c"].map(
		(name, index) => happened.indexOf(name) - (index === 0 ? -1 : (places[index - 1] ?? 0)),
	);
	expect(Math.min(...between)).toBeGreaterThan(1);
});
