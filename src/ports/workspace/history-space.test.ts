// File histories of many sessions take no more space together than the settings allow, on a real file system.
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { silentLog } from "../../base/log.ts";
import { HistorySpace } from "./history-space.ts";

const mebibyte = 1024 * 1024;
const hour = 60 * 60 * 1000;
const clock = createFakeClock();
let sessions = "";

beforeEach(async () => {
	sessions = await mkdtemp(path.join(tmpdir(), "agentwire-space-"));
});
afterEach(() => rm(sessions, { recursive: true }));

/** A history that was last used so many hours ago. */
async function store(name: string, hoursAgo: number): Promise<string> {
	const directory = path.join(sessions, "project", name, "file-history");
	await mkdir(directory, { recursive: true });
	const log = path.join(directory, "history.jsonl");
	await writeFile(log, "");
	const usedAt = new Date(clock.now() - hoursAgo * hour);
	await utimes(log, usedAt, usedAt);
	return directory;
}

const left = async () =>
	(
		await Promise.all(
			(
				await readdir(path.join(sessions, "project"))
			).map(async (name) => ({
				name,
				files: await readdir(path.join(sessions, "project", name)),
			})),
		)
	).flatMap(({ name, files }) => (files.includes("file-history") ? [name] : []));

const open = () => new HistorySpace({ sessions, limit: 10 * mebibyte, clock, log: silentLog });

it("removes the histories that were used least recently once the total exceeds the limit", async () => {
	for (const [name, hoursAgo] of [
		["oldest", 90],
		["older", 60],
		["old", 30],
	] as const)
		await open().note(await store(name, hoursAgo), 4 * mebibyte);
	expect(await left()).toEqual(["old", "older"]);
	await open().note(await store("current", 0), 9 * mebibyte);
	expect(await left()).toEqual(["current"]);
});

it("keeps histories in use, also those of other processes, even above the limit", async () => {
	const space = open();
	await open().note(await store("other", 0.5), 4 * mebibyte);
	await space.note(await store("own", 3), 6 * mebibyte);
	await space.note(await store("current", 0), 6 * mebibyte);
	expect(await left()).toEqual(["current", "other", "own"]);
	await open().note(path.join(sessions, "project", "current", "file-history"), 7 * mebibyte);
	expect(await left()).toEqual(["current", "other"]);
});

it("keeps what another session of the process uses", async () => {
	const shared = () => HistorySpace.shared({ sessions, limit: 10 * mebibyte, clock, log: silentLog });
	await shared().note(await store("idle", 3), 6 * mebibyte);
	await shared().note(await store("current", 0), 6 * mebibyte);
	expect(await left()).toEqual(["current", "idle"]);
});

it("leaves the rest of a session, and sessions without a history, alone", async () => {
	await mkdir(path.join(sessions, "project", "plain"), { recursive: true });
	await writeFile(path.join(sessions, "project", "plain", "journal.jsonl"), "");
	const old = await store("old", 30);
	await writeFile(path.join(old, "..", "journal.jsonl"), "");
	await open().note(old, 6 * mebibyte);
	await open().note(await store("current", 0), 6 * mebibyte);
	expect(await readdir(path.join(sessions, "project", "plain"))).toEqual(["journal.jsonl"]);
	expect(await readdir(path.join(sessions, "project", "old"))).toEqual(["journal.jsonl"]);
});
