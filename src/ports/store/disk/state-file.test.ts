import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
	createMemoryLog,
	createStoreDirectory,
	type StoreDirectory,
} from "../../../../test/support/store/store-directory.ts";
import { createDeferred } from "../../../base/deferred.ts";
import { createDiskFiles } from "../../files/disk-files.ts";
import { initialState, openStateFile, readPlanSlug } from "./state-file.ts";

describe("state.json", () => {
	let place: StoreDirectory;
	let directory: string;

	beforeEach(async () => {
		place = await createStoreDirectory();
		directory = path.join(place.root, "session");
		await mkdir(directory);
	});
	afterEach(() => place.cleanUp());

	const file = (name: string): string => path.join(directory, name);
	const put = (name: string, value: unknown): Promise<void> => writeFile(file(name), JSON.stringify(value));
	const read = async (): Promise<unknown> => JSON.parse(await readFile(file("state.json"), "utf8"));
	const open = (log = createMemoryLog(), fresh = false) =>
		openStateFile({
			files: createDiskFiles(),
			found: createDiskFiles(),
			log,
			directory,
			fresh,
			recovered: async () => null,
		});

	it("has every change, also one that comes while another is saved", async () => {
		const disk = createDiskFiles();
		const gate = createDeferred<void>();
		const saving = createDeferred<void>();
		const slow = await openStateFile({
			files: {
				...disk,
				async replace(...call) {
					saving.resolve();
					await gate.promise;
					await disk.replace(...call);
				},
			},
			found: disk,
			log: createMemoryLog(),
			directory,
			fresh: false,
			recovered: async () => null,
		});
		const first = slow.update({ planMode: true });
		await saving.promise;
		const second = slow.update({ customTitle: "Mine" });
		gate.resolve();
		await Promise.all([first, second]);
		expect(slow.state()).toEqual({ ...initialState(), planMode: true, customTitle: "Mine" });
		expect(await read()).toMatchObject({ plan_mode: true, custom_title: "Mine" });
	});

	it("preserves unknown keys, and the values that other programs write meanwhile", async () => {
		await put("state.json", { approval: { yolo: true, mood: "calm" }, color: "red", todos: [] });
		const state = await open();
		expect(state.state()).toEqual({ ...initialState(), approval: { yolo: true, afk: false, autoApproveActions: [] } });
		await put("state.json", {
			approval: { yolo: false, mood: "wild" },
			color: "blue",
			custom_title: "Theirs",
			title_generated: true,
			title_generate_attempts: 2,
			archived: true,
			archived_at: 12.5,
			auto_archive_exempt: true,
		});
		await state.update({ planMode: true, customTitle: "Ours" });
		expect(await read()).toEqual({
			version: 1,
			approval: { yolo: true, afk: false, auto_approve_actions: [], mood: "wild" },
			additional_dirs: [],
			custom_title: "Theirs",
			title_generated: true,
			title_generate_attempts: 2,
			plan_mode: true,
			plan_session_id: null,
			plan_slug: null,
			wire_mtime: null,
			archived: true,
			archived_at: 12.5,
			auto_archive_exempt: true,
			todos: [],
			color: "blue",
		});
		expect(state.state()).toMatchObject({ customTitle: "Theirs", planMode: true });
		await state.update({ customTitle: "Ours, knowing theirs" });
		expect(state.state().customTitle).toBe("Ours, knowing theirs");
	});

	it.each(['{"version": 1, "appro', "[]", '{"plan_mode": "yes"}', "\0\0"])(
		"has defaults for a damaged file (%j) and copies it before it replaces it",
		async (content) => {
			await writeFile(file("state.json"), content);
			const log = createMemoryLog();
			const state = await open(log);
			expect(state.state()).toEqual(initialState());
			expect(await readdir(directory)).toEqual(["state.json"]);
			await state.update({ planMode: true });
			expect(await readFile(file("state.json.damaged-1"), "utf8")).toBe(content);
			expect((await open()).state()).toEqual({ ...initialState(), planMode: true });
			expect(log.lines.map((line) => line.level)).toEqual(["warn", "warn"]);
		},
	);

	it("merges the old metadata into absent keys, and deletes the old file with the first save", async () => {
		await put("state.json", { title_generate_attempts: 1 });
		await put("metadata.json", { title: "Old", title_generate_attempts: 3, archived: true, archived_at: 7, extra: 1 });
		const state = await open();
		expect(state.state().customTitle).toBe("Old");
		expect((await readdir(directory)).sort()).toEqual(["metadata.json", "state.json"]);
		await state.update({});
		expect(await readdir(directory)).toEqual(["state.json"]);
		expect(await read()).toMatchObject({
			custom_title: "Old",
			title_generate_attempts: 1,
			archived: true,
			archived_at: 7,
		});
	});

	it("uses the title, and no mode, for a session that starts afresh, and preserves the other keys", async () => {
		await put("state.json", { approval: { yolo: true }, plan_mode: true, custom_title: "Kept", color: "red" });
		const state = await open(createMemoryLog(), true);
		expect(state.state()).toEqual({ ...initialState(), customTitle: "Kept" });
		await state.update({ planSlug: "x" });
		expect(await read()).toMatchObject({
			approval: { yolo: false },
			plan_mode: false,
			custom_title: "Kept",
			color: "red",
		});
	});

	it("has the creation options of a session that ended before it had a context", async () => {
		await put("state.json", { made_with: { tools: "all" }, plan_mode: true });
		const state = await open(createMemoryLog(), true);
		expect(state.state()).toEqual({ ...initialState(), creationOptions: { tools: "all" } });
	});

	it.each([5, "all", { tools: 7 }, [null]])("returns %j as creation options unchanged", async (made_with) => {
		await put("state.json", { made_with, plan_mode: true });
		const log = createMemoryLog();
		const state = await open(log);
		expect(state.state()).toEqual({ ...initialState(), planMode: true, creationOptions: made_with });
		await state.update({ planMode: false });
		expect(await read()).toMatchObject({ made_with, plan_mode: false });
		await state.update({ creationOptions: { tools: "all" } });
		expect(await read()).toMatchObject({ made_with: { tools: "all" } });
		expect(log.lines).toEqual([]);
	});

	const badSlugs = [
		"../../x",
		"/etc/x",
		"a/b",
		"a\\b",
		"a\0b",
		".",
		"..",
		".hidden",
		"-x",
		"",
		" ",
		"a b",
		"é",
		"x".repeat(101),
	];

	it.each(badSlugs)("drops %j, which is no name of a plan, and logs that", async (plan_slug) => {
		await put("state.json", { plan_mode: true, plan_slug });
		const log = createMemoryLog();
		const state = await open(log);
		expect(state.state()).toMatchObject({ planMode: true, planSlug: null });
		expect(log.lines).toMatchObject([{ level: "warn", fields: { path: file("state.json"), key: "plan_slug" } }]);
		expect(await readPlanSlug(createDiskFiles(), directory)).toBeNull();
		await state.update({ customTitle: "Ours" });
		expect(await read()).toMatchObject({ plan_slug: null, custom_title: "Ours" });
	});

	it.each(["amber-onyx-moss", "iron-man_2-x", "a.b", "x".repeat(100)])(
		"accepts %j as the name of a plan",
		async (plan_slug) => {
			await put("state.json", { plan_mode: true, plan_slug });
			const log = createMemoryLog();
			expect((await open(log)).state().planSlug).toBe(plan_slug);
			expect(log.lines).toEqual([]);
			expect(await readPlanSlug(createDiskFiles(), directory)).toBe(plan_slug);
		},
	);

	it("drops directories of the workspace that are not absolute paths, and logs that", async () => {
		await put("state.json", { additional_dirs: ["/a", "../b", "", "~/c", "/d\0e", "/f/../g"] });
		const log = createMemoryLog();
		expect((await open(log)).state().additionalDirs).toEqual(["/a", "/f/../g"]);
		expect(log.lines).toMatchObject([{ level: "warn", fields: { key: "additional_dirs" } }]);
	});

	it("writes its last known values when the file is missing", async () => {
		await put("state.json", { custom_title: "Known", color: "red" });
		const state = await open();
		await createDiskFiles().remove(file("state.json"));
		await state.update({ planMode: true });
		expect(await read()).toMatchObject({ custom_title: "Known", color: "red", plan_mode: true });
	});
});
