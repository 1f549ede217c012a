import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import { KernelError } from "../../base/errors.ts";
import type { Lease } from "./lease.ts";
import { createLeaseWatches } from "./lease-watch.ts";

const interval = 1000;

/** A lease that notes when it is looked at. */
function createLease(now: () => number) {
	const lost = createDeferred<KernelError>();
	const looks: number[] = [];
	const state: { loss: KernelError | null; held: Deferred<void> | null } = { loss: null, held: null };
	const lease: Lease = {
		async check() {
			looks.push(now());
			await state.held?.promise;
		},
		get loss() {
			return state.loss;
		},
		whenLost: lost.promise,
		isWatchable: true,
		release: async () => {},
	};
	const lose = (reason: KernelError) => {
		state.loss = reason;
		lost.resolve(reason);
	};
	return { lease, looks, state, lose };
}

/** `early` is by how many milliseconds timers are early. */
function createSubject(early = 0) {
	// As at the start of a process.
	const fake = createFakeClock(50);
	const clock = {
		...fake,
		after: (milliseconds: number, run: () => void) => fake.after(Math.max(0, milliseconds - early), run),
	};
	const begun = clock.monotonic();
	const now = () => clock.monotonic() - begun;
	const createWatch = createLeaseWatches(clock);
	const watched = () => {
		const watch = createWatch();
		const subject = createLease(now);
		watch.start(subject.lease);
		return { ...subject, watch };
	};
	/** Every look has ended before the next moment. */
	const pass = async (milliseconds: number) => {
		for (let step = 0; step < milliseconds; step += 1) {
			clock.advance(1);
			await new Promise((resolve) => setImmediate(resolve));
		}
	};
	return { clock, watched, pass };
}

/** How many looks there were at the moment with the most. */
function mostAtOnce(leases: readonly { readonly looks: readonly number[] }[]): number {
	const counts = new Map<number, number>();
	for (const time of leases.flatMap(({ looks }) => looks)) counts.set(time, (counts.get(time) ?? 0) + 1);
	return Math.max(...counts.values());
}

describe("the watch on leases", () => {
	it("looks at each once a second, and never at many at once, although all were taken together", async () => {
		const { watched, pass } = createSubject();
		const leases = Array.from({ length: 1000 }, watched);
		await pass(3 * interval);
		for (const { looks } of leases) {
			const [first = Number.NaN] = looks;
			expect(first).toBeLessThanOrEqual(interval);
			expect(looks).toEqual([first, first + interval, first + 2 * interval]);
		}
		expect(mostAtOnce(leases)).toBe(20);
	});

	it("looks no second time at a moment whose timer was early", async () => {
		const { watched, pass } = createSubject(0.5);
		const leases = Array.from({ length: 50 }, watched);
		await pass(3 * interval);
		expect(leases.filter(({ looks }) => looks.length !== 3)).toEqual([]);
	});

	it("stays spread when a second of looks has waited for the same moment", async () => {
		const { clock, watched, pass } = createSubject();
		const leases = Array.from({ length: 500 }, watched);
		const held = createDeferred<void>();
		for (const { state } of leases) state.held = held;
		await pass(interval + 300);
		expect(leases.filter(({ looks }) => looks.length !== 1)).toEqual([]);
		held.resolve();
		await new Promise((resolve) => setImmediate(resolve));
		for (const { looks } of leases) looks.length = 0;
		const from = clock.monotonic();
		await pass(interval);
		expect(clock.monotonic() - from).toBe(interval);
		expect(leases.filter(({ looks }) => looks.length !== 1)).toEqual([]);
		expect(mostAtOnce(leases)).toBe(10);
	});

	it("fills the places of those that are not held any more", async () => {
		const { watched, pass } = createSubject();
		const leases = Array.from({ length: 100 }, watched);
		await pass(interval);
		const [place = Number.NaN] = leases[0]?.looks ?? [];
		for (const { looks, watch } of leases) if (looks[0] !== place) watch.stop();
		const stayed = leases.filter(({ looks }) => looks[0] === place);
		const others = Array.from({ length: 98 }, watched);
		for (const { looks } of leases) looks.length = 0;
		await pass(interval);
		expect(mostAtOnce([...stayed, ...others])).toBe(2);
	});

	it("ends with a loss, with whose reason it resolves, and with its session", async () => {
		const { clock, watched, pass } = createSubject();
		const [lost, stopped] = [watched(), watched()];
		const reason = new KernelError("storage-failed", "taken over");
		lost.lose(reason);
		expect(await lost.watch.lost).toBe(reason);
		stopped.watch.stop();
		await pass(2 * interval);
		expect(lost.looks.length).toBeLessThanOrEqual(1);
		expect(stopped.looks).toEqual([]);
		expect(clock.waiting()).toBe(0);
	});
});
