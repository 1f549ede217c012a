import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import { boundFiles } from "./bounded-files.ts";
import { createDiskFiles } from "./disk-files.ts";
import type { FileStatus, Files } from "./port.ts";

/** A file system of which only what lies outside of `/stuck` answers. */
async function createSubject(places = 2) {
	const clock = createFakeClock();
	const memory = createMemoryFiles();
	await memory.replace("/file", "text");
	const pending: Deferred<FileStatus | null>[] = [];
	const never = new Promise<never>(() => {});
	const isStuck = (target: string) => target.startsWith("/stuck");
	const partly: Files = {
		...memory,
		read: (target) => (isStuck(target) ? never : memory.read(target)),
		status: (target) => {
			if (!isStuck(target)) return memory.status(target);
			const deferred = createDeferred<FileStatus | null>();
			pending.push(deferred);
			return deferred.promise;
		},
		async *readPieces(target) {
			yield* memory.readPieces("/file");
			if (isStuck(target)) await never;
		},
	};
	return { files: boundFiles(partly, { places, clock }), clock, pending };
}

const outcome = (work: Promise<unknown>) =>
	work.then(
		() => "answered",
		(thrown: unknown) => String(thrown instanceof Error ? thrown.message : thrown),
	);

describe("bounded files", () => {
	it("serve thousands of calls that wait, each of them for no more work than the others", async () => {
		const { files } = await createSubject(4);
		const paths = Array.from({ length: 40_000 }, (_, n) => (n % 2 === 0 ? "/file" : `/a/${n % 100}/b/missing`));
		const statuses = await Promise.all(paths.map((each) => files.status(each)));
		expect(statuses.filter((status) => status === null)).toHaveLength(20_000);
	});

	it("abandon a call that is not answered, and say which", async () => {
		const { files, clock } = await createSubject();
		const asked = outcome(files.status("/stuck/a"));
		clock.advance(29_999);
		clock.advance(1);
		expect(await asked).toBe("ETIMEDOUT: the file system has not answered for 30 s, stat '/stuck/a'");
		await expect(files.status("/stuck/a")).rejects.toMatchObject({ code: "ETIMEDOUT", path: "/stuck/a" });
	});

	it("leave slots for others: a stuck path occupies one slot", async () => {
		const { files, clock, pending } = await createSubject(2);
		const first = outcome(files.status("/stuck/a"));
		clock.advance(30_000);
		await first;
		for (let n = 0; n < 5; n += 1) expect(await outcome(files.status("/stuck/a"))).toContain("'/stuck/a' yet");
		expect(pending).toHaveLength(1);
		expect((await files.read("/file"))?.toString()).toBe("text");
		const second = outcome(files.status("/stuck/other/b"));
		const waiting = outcome(files.read("/file"));
		clock.advance(30_000);
		expect(await second).toContain("30 s");
		expect(await waiting).toBe(
			"ETIMEDOUT: the file system has not answered for '/stuck/a', '/stuck/other/b' yet, read '/file'",
		);
		expect(pending).toHaveLength(2);
	});

	it("leave some slots for other directories", async () => {
		const { files, clock, pending } = await createSubject(4);
		const sameDirectory = ["a", "b", "c", "d", "e"].map((name) => outcome(files.status(`/stuck/${name}`)));
		expect((await files.read("/file"))?.toString()).toBe("text");
		expect(pending).toHaveLength(2);
		clock.advance(30_000);
		const outcomes = await Promise.all(sameDirectory);
		expect(outcomes.filter((text) => text.includes("30 s"))).toHaveLength(2);
		expect(outcomes.filter((text) => text.includes("'/stuck/a', '/stuck/b' yet"))).toHaveLength(3);
		expect(await outcome(files.status("/stuck/f"))).toContain("yet");
		expect((await files.read("/file"))?.toString()).toBe("text");
	});

	it("continue when the file system answers again", async () => {
		const { files, clock, pending } = await createSubject(1);
		const first = outcome(files.status("/stuck/a"));
		clock.advance(30_000);
		await first;
		expect(await outcome(files.read("/file"))).toContain("yet");
		pending[0]?.resolve(null);
		await new Promise((resolve) => setImmediate(resolve));
		expect(await outcome(files.read("/file"))).toBe("answered");
	});

	it("run queued calls in order", async () => {
		const { files, pending } = await createSubject(1);
		const order: string[] = [];
		const note = (name: string) => () => void order.push(name);
		const all = [
			files.status("/stuck/a").then(note("a")),
			files.status("/stuck/other/b").then(note("b")),
			files.read("/file").then(note("file")),
		];
		pending[0]?.resolve(null);
		await all[0];
		pending[1]?.resolve(null);
		await Promise.all(all);
		expect(order).toEqual(["a", "b", "file"]);
	});

	it("abandon a file whose next piece does not arrive", async () => {
		const { files, clock } = await createSubject();
		const seen: string[] = [];
		const read = outcome(
			(async () => {
				for await (const piece of files.readPieces("/stuck/a")) seen.push(piece.toString());
			})(),
		);
		while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
		await new Promise((resolve) => setImmediate(resolve));
		clock.advance(30_000);
		expect(await read).toContain("has not answered for 30 s, read '/stuck/a'");
		expect(seen).toEqual(["text"]);
	});

	it("return the errors of the file system", async () => {
		const root = await mkdtemp(path.join(tmpdir(), "bounded-"));
		onTestFinished(() => rm(root, { recursive: true, force: true }));
		const files = boundFiles(createDiskFiles(), { places: 1, clock: createFakeClock() });
		await writeFile(path.join(root, "file"), "text");
		await expect(files.list(path.join(root, "none"))).rejects.toMatchObject({ code: "ENOENT" });
		const appended = await files.openAppend(path.join(root, "file"));
		await Promise.all([appended.append(" and"), appended.append(" more"), appended.sync()]);
		await appended.close();
		expect((await files.read(path.join(root, "file")))?.toString()).toBe("text and more");
	});
});
