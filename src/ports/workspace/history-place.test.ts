// A session that another machine continues: the work directory is shared, the directory of its history is not.
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { createDeferred } from "../../base/deferred.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { createProcesses } from "../processes/children.ts";
import { FileHistory } from "./file-history.ts";
import { copySaved, DirectoryPlace } from "./history-copy.ts";
import { HistoryMirror, type HistoryPlace, type SavedHistory } from "./history-place.ts";

function createPlace(): HistoryPlace & { readonly contents: Map<string, Uint8Array> } {
	const contents = new Map<string, Uint8Array>();
	let saved: SavedHistory | null = null;
	return {
		contents,
		read: async () => saved,
		content: async (id) => contents.get(id) ?? null,
		async put(id, packed) {
			contents.set(id, packed);
		},
		async replace(next) {
			saved = next;
			for (const id of contents.keys()) if (!next.contents.has(id)) contents.delete(id);
		},
	};
}

async function start() {
	const base = await realpath(await mkdtemp(path.join(tmpdir(), "agentwire-place-")));
	onTestFinished(() => rm(base, { recursive: true, force: true }));
	const workDir = path.join(base, "work");
	await mkdir(workDir);
	const place = createPlace();
	const open = (machine: string, { from = place, limit = 1e6, log = silentLog, work = workDir } = {}) => {
		const directory = path.join(base, machine, "file-history");
		return new FileHistory({
			directory,
			mirror: new HistoryMirror({ place: from, directory, limit, log }),
			workDir: work,
			roots: () => [work],
			home: path.join(base, "home"),
			excluded: [],
			limits: { files: 1000, fileBytes: 1e6, storeBytes: 1e9, patience: 60_000, turns: 100 },
			space: { note: async () => {} },
			git: { environment: {}, processes: createProcesses() },
			hasBackgroundWork: async () => false,
			clock: systemClock,
			log,
		});
	};
	const file = (name: string) => path.join(workDir, name);
	const read = (name: string) => readFile(file(name), "utf8").catch(() => null);
	/** A turn with a command that writes these files. */
	const turn = async (history: FileHistory, id: string, files: Readonly<Record<string, string | null>>) => {
		await history.around(id, { kind: "anything" }, async () => {
			for (const [name, text] of Object.entries(files)) {
				if (text === null) await rm(file(name));
				else await writeFile(file(name), text);
			}
		});
		await history.closeTurn(id);
		await history.saved;
	};
	const back = async (history: FileHistory, id: string) =>
		await history.restore(`back-${id}`, { id, at: 0 }, async ({ isConflict }) => (isConflict ? "conflict" : null));
	return { base, workDir, place, open, file, read, turn, back };
}

it("goes back to before turns of another machine, and undoes that on a third", async () => {
	const { open, file, read, turn, back } = await start();
	await writeFile(file("kept"), "zero");
	await writeFile(file("gone"), "gone");
	const first = open("one");
	await turn(first, "t1", { kept: "one", made: "one" });
	await turn(first, "t2", { kept: "two", gone: null });
	const second = open("two");
	await turn(second, "t3", { kept: "three" });
	expect((await second.records()).map(({ id, complete }) => [id, complete])).toEqual([
		["t1", true],
		["t2", true],
		["t3", true],
	]);
	expect(await back(second, "t1")).toMatchObject({ left: [] });
	expect([await read("kept"), await read("made"), await read("gone")]).toEqual(["zero", null, "gone"]);
	expect(await back(open("three"), "back-t1")).toMatchObject({ left: [] });
	expect([await read("kept"), await read("made"), await read("gone")]).toEqual(["three", "one", null]);
});

it("reads nothing back on the machine that saved last, and drops what no turn needs", async () => {
	const { open, turn, place, file } = await start();
	await writeFile(file("a"), "zero");
	await turn(open("one"), "t1", { a: "one" });
	await rm(file("a"));
	// The change from outside is only found with what this machine knows.
	const again = open("one");
	await turn(again, "t2", { a: "two" });
	expect((await again.plan({ id: "t1", at: 0 })).paths).toMatchObject([{ isConflict: true }]);
	expect(new Set(place.contents.keys())).toEqual(new Set((await place.read())?.contents.keys()));
});

it("says that a turn which ended with its machine may have changed more", async () => {
	const { open, file, read, turn, back } = await start();
	await writeFile(file("a"), "zero");
	const first = open("one");
	await turn(first, "t1", { a: "one" });
	const cut = createDeferred<void>();
	const begun = createDeferred<void>();
	void first.around("t2", { kind: "anything" }, async () => {
		begun.resolve(undefined);
		await cut.promise;
	});
	await begun.promise;
	const second = open("two");
	const plan = await second.plan({ id: "t2", at: 0 });
	expect(plan.reasons).toEqual(["Another process ended during this turn: what it changed last is not known."]);
	await back(second, "t1");
	expect(await read("a")).toBe("zero");
	cut.resolve(undefined);
});

it("saves the contents of the newest turns up to the limit, and names the others", async () => {
	const { open, file, turn, place } = await start();
	const warned: string[] = [];
	const log: Log = { ...silentLog, warn: (message) => void warned.push(message) };
	await writeFile(file("old"), randomBytes(2000));
	await writeFile(file("new"), randomBytes(2000));
	const first = open("one", { limit: 2500, log });
	await turn(first, "t1", { old: "x" });
	await turn(first, "t2", { new: "y" });
	expect([...place.contents.values()].reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(2500);
	expect(warned).toEqual([
		"Another machine that continues the session cannot restore everything: the limit is reached.",
	]);
	const plan = await open("two").plan({ id: "t1", at: 0 });
	expect(plan.paths.map((each) => path.basename(each.path))).toEqual(["new"]);
	expect(plan.uncovered).toMatchObject([{ path: file("old"), reason: "its content is not stored any more" }]);
});

it("goes with a fork, in the same directory or with the files", async () => {
	const { base, place, open, file, read, turn, back } = await start();
	await writeFile(file("a"), "zero");
	const source = open("one");
	await turn(source, "t1", { a: "one" });
	const [beside, apart] = [createPlace(), createPlace()];
	const directory = path.join(base, "apart");
	const checkout = await source.checkOut(null, { directory, worktree: false, refuse: async () => null });
	await checkout.writeHistory(path.join(base, "four", "file-history"), apart);
	expect((await back(open("five", { from: apart, work: directory }), "t1")).left).toEqual([]);
	expect([await readFile(path.join(directory, "a"), "utf8"), await read("a")]).toEqual(["zero", "one"]);
	await copySaved(place, beside, Infinity);
	expect((await back(open("six", { from: beside }), "t1")).left).toEqual([]);
	expect(await read("a")).toBe("zero");
});

it("goes from a directory to another store and back, with the newest turns if not all fit", async () => {
	const { base, open, file, read, turn, back } = await start();
	const history = (machine: string) => new DirectoryPlace(path.join(base, machine, "file-history"));
	await writeFile(file("old"), "zero");
	await writeFile(file("new"), "zero".repeat(1000));
	const source = open("one");
	await turn(source, "t1", { old: "one" });
	await turn(source, "t2", { new: "two" });
	const [whole, part] = [createPlace(), createPlace()];
	expect(await copySaved(history("one"), whole, Infinity)).toBe(true);
	expect(await copySaved(history("one"), part, 50)).toBe(false);
	expect((await open("two", { from: part }).plan({ id: "t1", at: 0 })).uncovered).toMatchObject([
		{ path: file("old") },
	]);
	expect(await copySaved(whole, history("three"), Infinity)).toBe(true);
	expect((await back(open("three", { from: createPlace() }), "t2")).left).toEqual([]);
	expect([await read("old"), await read("new")]).toEqual(["one", "zero".repeat(1000)]);
	expect((await back(open("four", { from: whole }), "t1")).left).toEqual([]);
	expect(await read("old")).toBe("zero");
	expect(await copySaved(history("nobody"), createPlace(), 0)).toBe(true);
});
