import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../../test/support/host/campaign-clock.ts";
import { createDeferred } from "../../../base/deferred.ts";
import { KernelError } from "../../../base/errors.ts";
import type { DirectoryEntry, FileStatus } from "../../files/port.ts";
import type { Lease } from "./lease.ts";
import { createLeaseWatches } from "./lease-watch.ts";

const interval = 1000;
const longAgo = 123;

/** A lease that notes when it is looked at. */
function createLease(now: () => number) {
	const lost = createDeferred<KernelError>();
	const looks: number[] = [];
	/** The names in the directory at each look. */
	const seen: string[] = [];
	const state: { loss: KernelError | null; failure: KernelError | null } = { loss: null, failure: null };
	const lease: Lease = {
		async check() {
			looks.push(now());
			const failure = state.loss ?? state.failure;
			if (state.loss !== null) lost.resolve(state.loss);
			if (failure !== null) throw failure;
		},
		checkLate: async () => {},
		get loss() {
			return state.loss;
		},
		whenLost: lost.promise,
		isWatchable: true,
		async answer(names) {
			seen.push([...names].join(" "));
		},
		release: async () => {},
	};
	return { lease, looks, seen, state };
}

function createSubject() {
	const fake = createFakeClock(1_000_000);
	const begun = fake.monotonic();
	const now = () => fake.monotonic() - begun;
	/** When a name in the directory was last changed; null when there is none. */
	const directory: { modifiedAt: number | null; readonly looks: number[]; names: string[] } = {
		modifiedAt: longAgo,
		looks: [],
		names: ["a.json"],
	};
	const files = {
		async status(path: string): Promise<FileStatus | null> {
			expect(path).toBe("/leases");
			directory.looks.push(now());
			const { modifiedAt } = directory;
			return modifiedAt === null ? null : { kind: "directory", size: 0, modifiedAt, mode: 0o755 };
		},
		async list(path: string): Promise<DirectoryEntry[]> {
			expect(path).toBe("/leases");
			if (directory.modifiedAt === null) throw new Error("ENOENT");
			return directory.names.map((name) => ({ name, kind: "file" }));
		},
	};
	const createWatch = createLeaseWatches({ files, clock: fake, directory: "/leases" });
	const watched = () => {
		const watch = createWatch();
		const subject = createLease(now);
		watch.start(subject.lease);
		return { ...subject, watch };
	};
	/** Every look has ended before the next moment. */
	const pass = async (milliseconds: number) => {
		for (let step = 0; step < milliseconds; step += 1) {
			fake.advance(1);
			await new Promise((resolve) => setImmediate(resolve));
		}
	};
	const change = () => {
		directory.modifiedAt = fake.now();
	};
	return { clock: fake, directory, change, createWatch, watched, pass };
}

describe("the watch on leases", () => {
	it("looks at their directory once a second, and at no lease while no name in it changes", async () => {
		const { directory, watched, pass } = createSubject();
		const leases = Array.from({ length: 1000 }, watched);
		await pass(2 * interval);
		for (const { looks } of leases) looks.length = 0;
		directory.looks.length = 0;
		await pass(5 * interval);
		expect(leases.filter(({ looks }) => looks.length > 0)).toEqual([]);
		expect(directory.looks.length).toBe(5);
	});

	it("looks at each once after a change, and never at many at once", async () => {
		const { change, watched, pass } = createSubject();
		const leases = Array.from({ length: 1000 }, watched);
		await pass(3 * interval + 1);
		for (const { looks } of leases) looks.length = 0;
		change();
		await pass(3 * interval);
		expect(leases.filter(({ looks }) => looks.length !== 1)).toEqual([]);
		const counts = new Map<number, number>();
		for (const time of leases.flatMap(({ looks }) => looks)) counts.set(time, (counts.get(time) ?? 0) + 1);
		expect(Math.max(...counts.values())).toBe(20);
	});

	it("answers what is asked next to a lease, once there is something new, and for no lease that is lost", async () => {
		const { directory, change, watched, pass } = createSubject();
		const [living, lost] = [watched(), watched()];
		await pass(2 * interval);
		for (const { seen } of [living, lost]) seen.length = 0;
		lost.state.loss = new KernelError("storage-failed", "taken over");
		directory.names = ["a.json", ".question.tmp"];
		await pass(2 * interval);
		expect(living.seen).toEqual([]);
		change();
		await pass(interval);
		expect([living.seen, lost.seen]).toEqual([["a.json .question.tmp"], []]);
	});

	it("looks again where a second change may have the same time as the first", async () => {
		const { clock, change, watched, pass } = createSubject();
		const { looks } = watched();
		await pass(interval - 50);
		change();
		await pass(50);
		expect(looks).toEqual([interval]);
		// A change since then, in the same tick of the file system's clock, would show the same time.
		await pass(interval);
		expect(looks).toEqual([interval, 2 * interval]);
		await pass(5 * interval);
		expect(looks.length).toBe(2);
		expect(clock.waiting()).toBe(1);
	});

	it("looks at them every time while their directory is missing, or one cannot be looked at", async () => {
		const { directory, watched, pass } = createSubject();
		const { looks, state } = watched();
		directory.modifiedAt = null;
		await pass(2 * interval);
		directory.modifiedAt = longAgo;
		state.failure = new KernelError("storage-failed", "moved away");
		await pass(2 * interval);
		expect(looks.length).toBe(4);
		state.failure = null;
		await pass(5 * interval);
		expect(looks.length).toBe(5);
	});

	it("ends with a loss, with whose reason it resolves, and with its session", async () => {
		const { clock, change, watched, pass } = createSubject();
		const [lost, stopped] = [watched(), watched()];
		const reason = new KernelError("storage-failed", "taken over");
		await pass(2 * interval);
		for (const { looks } of [lost, stopped]) looks.length = 0;
		lost.state.loss = reason;
		stopped.watch.stop();
		change();
		await pass(interval);
		expect(await lost.watch.lost).toBe(reason);
		change();
		await pass(2 * interval);
		expect(lost.looks.length).toBe(1);
		expect(stopped.looks).toEqual([]);
		expect(clock.waiting()).toBe(0);
	});

	it("looks at a lease that was taken over between its taking and the start of the watch", async () => {
		const { change, watched, pass } = createSubject();
		watched();
		await pass(2 * interval + 50);
		// Another process takes the lease over while the files of the session are read.
		change();
		await pass(2 * interval);
		const { looks } = watched();
		await pass(interval);
		expect(looks.length).toBe(1);
	});

	it("looks at each lease now and then on a file system that keeps no time of change for a directory", async () => {
		const { watched, pass } = createSubject();
		const { looks } = watched();
		await pass(2 * interval);
		looks.length = 0;
		await pass(120 * interval);
		expect(looks.length).toBe(2);
	});

	it("does not begin for a session that was closed meanwhile", async () => {
		const { clock, createWatch, pass } = createSubject();
		const watch = createWatch();
		watch.stop();
		const { lease, looks } = createLease(() => 0);
		watch.start(lease);
		await pass(2 * interval);
		expect(looks).toEqual([]);
		expect(clock.waiting()).toBe(0);
	});

	it("begins again with a session that is opened when none was", async () => {
		const { change, watched, pass } = createSubject();
		watched().watch.stop();
		await pass(2 * interval);
		const { looks } = watched();
		await pass(2 * interval);
		change();
		await pass(interval);
		expect(looks.length).toBeGreaterThan(0);
	});
});
