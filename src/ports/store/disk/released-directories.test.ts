// A session that the same process loads again: its directory is not swept again, unless another process was there
// meanwhile.
import { mkdir, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventAt, promptRow } from "../../../../test/contracts/store-contract.ts";
import { createFailingFiles } from "../../../../test/support/store/failing-files.ts";
import { createStoreDirectory, type StoreDirectory } from "../../../../test/support/store/store-directory.ts";
import { statusChanged } from "../../../api/values/event.ts";
import { createDiskFiles } from "../../files/disk-files.ts";
import type { SessionStore, StoredSession } from "../session-store.ts";
import { createLeftDirectories } from "./released-directories.ts";

const id = "11111111-2222-4333-8444-555555555555";
const event = eventAt(statusChanged({ plan_mode: true }));

describe("the directory of a reopened session", () => {
	let place: StoreDirectory;
	beforeEach(async () => {
		place = await createStoreDirectory();
	});
	afterEach(() => place.cleanUp());

	/** A store whose clock is ahead of all changes on disk, and the directories it has synced so far. */
	const openCounting = () => {
		const { files, effects } = createFailingFiles(createDiskFiles());
		const clock = { now: () => Date.now() + 1000, monotonic: () => Date.now() + 1000, after: () => () => {} };
		const isIn = (file: string) => file.startsWith(place.shareDir) && path.extname(file) === "";
		const synced = () => effects.flatMap(({ kind, path: file }) => (kind === "sync" && isIn(file) ? [file] : []));
		return { store: place.openStore({ files, clock }), synced };
	};
	const use = async (store: SessionStore, work: (session: StoredSession) => Promise<void> = async () => {}) => {
		const session = await store.openOrCreate(place.workDir, id);
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		await session.commit({ events: [event] });
		await session.commit({}, { sync: true });
		await work(session);
		await session.close({ becomesLast: false });
		return String(session.directory);
	};

	it("is not swept and synced again when it is unchanged", async () => {
		const { store, synced } = openCounting();
		const directory = await use(store);
		expect(synced()).toContain(directory);
		const before = synced().length;
		await use(store);
		expect(synced()).toHaveLength(before);
	});

	it("is swept and synced when another process used it", async () => {
		const { store, synced } = openCounting();
		const directory = await use(store);
		const before = synced().length;
		await place.tick();
		const left = path.join(directory, ".0123456789abcdef01.tmp");
		await writeFile(left, "x");
		const old = new Date(Date.now() - 60_000);
		await utimes(left, old, old);
		await use(store);
		expect(synced().slice(before)).toContain(directory);
		expect(await readdir(directory)).toEqual(["context.jsonl", "journal.jsonl", "wire.jsonl"]);
	});

	it("is synced when names were not synced, or when too little time has passed to detect a change", async () => {
		const { store, synced } = openCounting();
		const described = { id: "a1", type: "coder", description: "d", createdAt: 1, modelOverride: null };
		const directory = await use(store, async (session) =>
			(await session.createAgent({ ...described, effectiveModel: null })).begin("Go"),
		);
		const before = synced().length;
		await use(store);
		expect(synced().slice(before)).toContain(directory);

		const clock = { now: () => 0, monotonic: () => 0, after: () => () => {} };
		const { files, effects } = createFailingFiles(createDiskFiles());
		const hasty = place.openStore({ files, clock });
		await use(hasty);
		const count = effects.length;
		await use(hasty);
		expect(effects.slice(count).map((effect) => effect.path)).toContain(directory);
	});

	it("has the end of its event log read again only when somebody has changed it since", async () => {
		const disk = createDiskFiles();
		const reads: string[] = [];
		const files = {
			...disk,
			readRange(target: string, offset: number, length: number) {
				reads.push(path.basename(target));
				return disk.readRange(target, offset, length);
			},
		};
		const clock = { now: () => Date.now() + 10_000, monotonic: () => Date.now() + 10_000, after: () => () => {} };
		const store = place.openStore({ files, clock });
		const log = path.join(await use(store), "wire.jsonl");
		reads.length = 0;
		await use(store);
		await use(store);
		expect(reads).toEqual([]);
		const text = await readFile(log, "utf8");
		await writeFile(log, `${text.slice(0, -1)}x`);
		const later = new Date((await stat(log)).mtimeMs + 1000);
		await utimes(log, later, later);
		await use(store);
		expect(reads).toContain("wire.jsonl");
		expect(await readFile(log, "utf8")).not.toContain("x\n{");
	});

	it("gets failed states for subagents that another process left running", async () => {
		const { store } = openCounting();
		const agents = path.join(await use(store), "subagents", "a1");
		await mkdir(agents, { recursive: true });
		await use(store);
		await use(store);
		const description = { agent_id: "a1", subagent_type: "coder", description: "d", created_at: 1, updated_at: 1 };
		const launch = {
			agent_id: "a1",
			subagent_type: "coder",
			model_override: null,
			effective_model: null,
			created_at: 1,
		};
		const meta = { ...description, status: "running_foreground", last_task_id: null, launch_spec: launch };
		await writeFile(path.join(agents, "meta.json"), JSON.stringify(meta));
		await use(store);
		expect(JSON.parse((await createDiskFiles().read(path.join(agents, "meta.json")))?.toString() ?? "")).toMatchObject({
			status: "failed",
		});
	});
});

describe("a released directory", () => {
	it.each([
		{ modifiedAt: 5004, now: 5103, isAsLeft: false },
		{ modifiedAt: 5004, now: 5104, isAsLeft: true },
		// Where times have a resolution of one or two seconds, a change within that time is not visible.
		{ modifiedAt: 5000, now: 5104, isAsLeft: false },
		{ modifiedAt: 4000, now: 6099, isAsLeft: false },
		{ modifiedAt: 4000, now: 6100, isAsLeft: true },
	])("is unchanged at $now after a change at $modifiedAt: $isAsLeft", async ({ modifiedAt, now, isAsLeft }) => {
		const status = { kind: "directory", size: 0, mode: 0o755, modifiedAt } as const;
		const left = createLeftDirectories({
			files: { ...createDiskFiles(), status: async () => status },
			clock: { now: () => now, monotonic: () => now, after: () => () => {} },
		});
		await left.note("/d");
		expect(await left.isAsLeft("/d")).toBe(isAsLeft);
	});

	it("is remembered only if it is one of those released last", async () => {
		const status = { kind: "directory", size: 0, mode: 0o755, modifiedAt: 5000 } as const;
		const left = createLeftDirectories({
			files: { ...createDiskFiles(), status: async () => status },
			clock: { now: () => 9000, monotonic: () => 9000, after: () => () => {} },
		});
		await left.note("/first");
		await left.note("/second");
		await left.note("/first");
		for (let count = 0; count < 9_999; count += 1) await left.note(`/d${count}`);
		expect([await left.isAsLeft("/first"), await left.isAsLeft("/second")]).toEqual([true, false]);
	});

	it("may have changed while the process did not come to what it had seen", async () => {
		let now = 5104;
		const files = {
			...createDiskFiles(),
			async status() {
				now += 1000;
				return { kind: "directory", size: 0, mode: 0o755, modifiedAt: 5099 } as const;
			},
		};
		const left = createLeftDirectories({
			files,
			clock: { now: () => now, monotonic: () => now, after: () => () => {} },
		});
		await left.note("/d");
		expect(await left.isAsLeft("/d")).toBe(false);
	});
});
