import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createDeferred } from "../../base/deferred.ts";
import { whileShown } from "./waiting-line.ts";

function createTerminal() {
	const written: string[] = [];
	const clock = createFakeClock();
	return {
		written,
		clock,
		settings: { clock, terminal: { columns: () => 20, write: (text: string) => void written.push(text) } },
	};
}

describe("whileShown", () => {
	it("shows nothing of work that is done within a second", async () => {
		const { written, clock, settings } = createTerminal();
		const done = createDeferred<number>();
		const work = whileShown("Working", () => done.promise, settings);
		clock.advance(999);
		done.resolve(7);
		expect(await work).toBe(7);
		clock.advance(5000);
		expect(written).toEqual([]);
	});

	it("counts the seconds of longer work, and leaves nothing behind", async () => {
		const { written, clock, settings } = createTerminal();
		const done = createDeferred<void>();
		const work = whileShown("Working", () => done.promise, settings);
		clock.advance(1000);
		clock.advance(1000);
		done.resolve();
		await work;
		clock.advance(5000);
		expect(written).toEqual(["\r\u001b[KWorking, 1 s", "\r\u001b[KWorking, 2 s", "\r\u001b[K"]);
	});

	it("makes room for what is printed meanwhile", async () => {
		const { written, clock, settings } = createTerminal();
		const done = createDeferred<void>();
		let makeRoom = () => {};
		const work = whileShown(
			"Working",
			(clear) => {
				makeRoom = clear;
				return done.promise;
			},
			settings,
		);
		makeRoom();
		clock.advance(1000);
		makeRoom();
		makeRoom();
		clock.advance(1000);
		done.resolve();
		await work;
		expect(written).toEqual(["\r\u001b[KWorking, 1 s", "\r\u001b[K", "\r\u001b[KWorking, 2 s", "\r\u001b[K"]);
	});

	it("removes its line when the work fails", async () => {
		const { written, clock, settings } = createTerminal();
		const done = createDeferred<void>();
		const work = whileShown("Working", () => done.promise, settings);
		clock.advance(1000);
		done.reject(new Error("no"));
		await expect(work).rejects.toThrow("no");
		expect(written.at(-1)).toBe("\r\u001b[K");
	});

	it("stays within the line", async () => {
		const { written, clock, settings } = createTerminal();
		const done = createDeferred<void>();
		const work = whileShown("Working on a\nvery long thing", () => done.promise, settings);
		clock.advance(1000);
		done.resolve();
		await work;
		expect(written[0]?.replace("\r\u001b[K", "")).toHaveLength(19);
		expect(written[0]).not.toContain("\n");
	});

	it("writes nothing where there is no terminal", async () => {
		const { written, clock } = createTerminal();
		const done = createDeferred<void>();
		const work = whileShown("Working", () => done.promise, { clock, terminal: null });
		clock.advance(5000);
		done.resolve();
		await work;
		expect(written).toEqual([]);
	});
});
