import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFailingFiles } from "../../../../test/support/store/failing-files.ts";
import { listFixtures, type PlacedSession, placeFixture } from "../../../../test/support/store/session-fixtures.ts";
import { createDiskFiles } from "../../files/disk-files.ts";
import { temporaryName } from "../../files/temporaries.ts";
import { listFiles, listSessionFiles } from "./stored-files.ts";

const files = createDiskFiles();

describe("listSessionFiles", () => {
	let place: PlacedSession;

	beforeEach(async () => {
		place = await placeFixture("subagent");
	});
	afterEach(() => place.remove());

	const list = (id = place.id, workDir = place.workDir, port = files) =>
		listSessionFiles(port, place.shareDir, workDir, id);

	it("lists every file with its size, the title and the start", async () => {
		const counting = createFailingFiles(files);
		const found = await list(place.id, `${place.workDir}/x/..`, counting.files);
		expect(found).toMatchObject({ title: "Count the lines of a.txt", planSlug: null, leftOut: [] });
		expect(new Date(found?.createdAt ?? 0).toISOString()).toBe("2026-11-20T21:19:36.317Z");
		expect(found?.files.map(({ name }) => name)).toEqual([
			"context.jsonl",
			"state.json",
			...["context.jsonl", "meta.json", "output", "prompt.txt", "wire.jsonl"].map(
				(name) => `subagents/a0d984db6/${name}`,
			),
			"wire.jsonl",
		]);
		for (const file of found?.files ?? []) {
			expect(file.path).toBe(path.join(place.directory, file.name));
			expect(await files.status(file.path)).toMatchObject({ size: file.size, modifiedAt: file.modifiedAt });
		}
		expect(counting.effects).toEqual([]);
	});

	it("omits links, temporary files and unreadable files", async () => {
		await symlink(place.shareDir, path.join(place.directory, "round"));
		await symlink("/nowhere", path.join(place.directory, "dangling"));
		await symlink("context.jsonl", path.join(place.directory, "uploads"));
		await writeFile(path.join(place.directory, temporaryName()), "");
		const denied = new Error("EACCES: permission denied");
		const failing = {
			...files,
			list: (directory: string) =>
				path.basename(directory) === "subagents" ? Promise.reject(denied) : files.list(directory),
		};
		const found = await list(place.id, place.workDir, failing);
		expect(found?.files.map(({ name }) => name)).toEqual(["context.jsonl", "state.json", "wire.jsonl"]);
		expect(found?.leftOut).toEqual([
			{ name: "dangling", reason: "a symbolic link" },
			{ name: "round", reason: "a symbolic link" },
			{ name: "subagents", reason: denied.message },
			{ name: "uploads", reason: "a symbolic link" },
		]);
	});

	it("lists the files of a session whose log cannot be read", async () => {
		const failing = {
			...files,
			async *readPieces() {
				yield await Promise.reject<Buffer>(new Error("EACCES"));
			},
		};
		const found = await list(place.id, place.workDir, failing);
		expect(found).toMatchObject({ title: "Untitled", createdAt: null });
		expect(found?.files).toHaveLength(8);
	});

	it("includes the plan of a session in plan mode", async () => {
		await writeFile(path.join(place.directory, "state.json"), '{"plan_mode": true, "plan_slug": "blue-moon"}');
		expect((await list())?.planSlug).toBe("blue-moon");
	});

	it("gives a context of the layout before session directories its present name", async () => {
		await rm(place.directory, { recursive: true });
		await writeFile(`${place.directory}.jsonl`, '{"role":"user","content":"Say hello"}\n');
		const found = await list();
		expect(found?.files).toMatchObject([{ name: "context.jsonl", path: `${place.directory}.jsonl`, size: 38 }]);
		expect(found).toMatchObject({ title: "Untitled", createdAt: null });
	});

	it("finds no session that is not there", async () => {
		expect(await list("none")).toBeNull();
		expect(await list(place.id, "/elsewhere")).toBeNull();
		await mkdir(path.join(path.dirname(place.directory), "bare"));
		expect(await list("bare")).toBeNull();
		await expect(list("../x")).rejects.toMatchObject({ code: "invalid-input" });
	});

	it("lists every fixture completely", async () => {
		for (const name of await listFixtures()) {
			const fixture = await placeFixture(name);
			const found = await listSessionFiles(files, fixture.shareDir, fixture.workDir, fixture.id);
			expect(found?.leftOut).toEqual([]);
			expect(found?.files.length).toBeGreaterThan(1);
			await fixture.remove();
		}
	});
});

it("lists nothing of a missing directory", async () => {
	expect(await listFiles(files, "/nowhere/at/all")).toEqual({ files: [], leftOut: [] });
});
