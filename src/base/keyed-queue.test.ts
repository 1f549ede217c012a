import { describe, expect, it } from "vitest";
import { createDeferred } from "./deferred.ts";
import { createKeyedQueue } from "./keyed-queue.ts";

describe("createKeyedQueue", () => {
	it("runs work of one key in order, and of different keys concurrently", async () => {
		const queue = createKeyedQueue();
		const gate = createDeferred<void>();
		const order: string[] = [];
		const first = queue.run("a", async () => {
			order.push("a1 begins");
			await gate.promise;
			order.push("a1 ends");
			return 1;
		});
		const second = queue.run("a", async () => {
			order.push("a2");
			return 2;
		});
		const other = queue.run("b", async () => {
			order.push("b");
			return 3;
		});
		expect(await other).toBe(3);
		expect(order).toEqual(["a1 begins", "b"]);
		gate.resolve();
		expect(await Promise.all([first, second])).toEqual([1, 2]);
		expect(order).toEqual(["a1 begins", "b", "a1 ends", "a2"]);
	});

	it("continues after failed work, and rejects only for its own caller", async () => {
		const queue = createKeyedQueue();
		const failing = queue.run("a", () => Promise.reject(new Error("no")));
		const next = queue.run("a", async () => "yes");
		await expect(failing).rejects.toThrow("no");
		expect(await next).toBe("yes");
		expect(await queue.run("a", async () => "again")).toBe("again");
	});

	it("preserves the order when work is added while the last item runs", async () => {
		const queue = createKeyedQueue();
		const order: number[] = [];
		const add = (n: number) => queue.run("a", async () => void order.push(n));
		await queue.run("a", async () => {
			void add(1);
			void add(2);
		});
		await add(3);
		expect(order).toEqual([1, 2, 3]);
	});
});
