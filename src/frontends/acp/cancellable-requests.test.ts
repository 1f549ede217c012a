import { describe, expect, it } from "vitest";
import { CancellableRequests } from "./cancellable-requests.ts";

const untilAborted = (signal: AbortSignal) =>
	new Promise<string>((resolve) => {
		if (signal.aborted) resolve("aborted");
		else signal.addEventListener("abort", () => resolve("aborted"), { once: true });
	});

describe("requests that can be withdrawn", () => {
	it("are withdrawn by their id: a number and its text are two", async () => {
		const requests = new CancellableRequests();
		const number = requests.run(1, untilAborted);
		const text = requests.run("1", untilAborted);
		let isTextOver = false;
		void text.then(() => {
			isTextOver = true;
		});
		requests.cancel(1);
		expect(await number).toBe("aborted");
		expect(isTextOver).toBe(false);
		requests.cancel("1");
		expect(await text).toBe("aborted");
	});

	it("ignore an id that is answered or unknown", async () => {
		const requests = new CancellableRequests();
		expect(await requests.run(1, async () => "done")).toBe("done");
		requests.cancel(1);
		requests.cancel("nothing");
	});

	it("are withdrawn all at the end, whatever begins later", async () => {
		const requests = new CancellableRequests();
		const open = requests.run(1, untilAborted);
		requests.cancelAll();
		expect(await Promise.all([open, requests.run(2, untilAborted), requests.run(null, untilAborted)])).toEqual([
			...["aborted", "aborted", "aborted"],
		]);
	});
});
