import { describe, expect, it } from "vitest";
import { createDeferred } from "../../../base/deferred.ts";
import { KernelError } from "../../../base/errors.ts";
import { maximumWaiting, startInRoom, TurnSlots } from "./turn-slots.ts";

/** Room for so many turns, which end when the test says so. */
function createSubject(room: number) {
	const slots = new TurnSlots();
	const begun: string[] = [];
	let running = 0;
	const start = (name: string, fault: Error | null = null) => {
		const end = createDeferred<void>();
		const startNow = async () => {
			if (fault !== null) throw fault;
			if (running >= room) throw new KernelError("overloaded", "too many");
			running += 1;
			begun.push(name);
			return { ended: end.promise };
		};
		const beginning = slots.begin(() => startInRoom(startNow));
		return {
			beginning,
			end() {
				running -= 1;
				end.resolve();
			},
		};
	};
	return { begun, start };
}

describe("turns of a process", () => {
	it("wait in the order in which they came while too many run", async () => {
		const { begun, start } = createSubject(2);
		const [one, two, three, four, five] = ["1", "2", "3", "4", "5"].map((name) => start(name));
		await Promise.all([one?.beginning, two?.beginning]);
		expect(begun).toEqual(["1", "2"]);
		two?.end();
		await three?.beginning;
		one?.end();
		await four?.beginning;
		three?.end();
		await five?.beginning;
		expect(begun).toEqual(["1", "2", "3", "4", "5"]);
	});

	it("go on after one that could not begin", async () => {
		const { begun, start } = createSubject(1);
		const one = start("1");
		await one.beginning;
		const two = start("2", new Error("no"));
		const three = start("3");
		await expect(two.beginning).rejects.toThrow("no");
		one.end();
		await three.beginning;
		expect(begun).toEqual(["1", "3"]);
	});

	it("are refused when too many wait, with the limit", async () => {
		const { begun, start } = createSubject(1);
		const one = start("1");
		await one.beginning;
		const waiting = Array.from({ length: maximumWaiting }, (_, index) => start(`${index}`));
		// The first of them has asked for room before it waits.
		await new Promise<void>((resolve) => setImmediate(resolve));
		await expect(start("over").beginning).rejects.toMatchObject({
			code: "overloaded",
			data: { limit: maximumWaiting },
		});
		let last = one;
		for (const each of waiting) {
			last.end();
			await each.beginning;
			last = each;
		}
		expect(begun).toHaveLength(maximumWaiting + 1);
	});

	it("do not wait for room for their session", async () => {
		const slots = new TurnSlots();
		const running = slots.begin(async () => ({ ended: new Promise(() => {}) }));
		await running;
		const refused = slots.begin(() => Promise.reject(new KernelError("overloaded", "too many sessions")));
		await expect(refused).rejects.toThrow("too many sessions");
	});

	it("are refused when only others run, whose ends are not known here", async () => {
		await expect(createSubject(0).start("1").beginning).rejects.toMatchObject({ code: "overloaded" });
	});
});
