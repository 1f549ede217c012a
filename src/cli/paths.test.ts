import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Place, toAbsolutePath } from "../host/place.ts";
import { createDiskFiles } from "../ports/files/disk-files.ts";
import { UsageError } from "./arguments/usage-error.ts";
import { checkFile, checkWorkDir, shareDirectory } from "./paths.ts";

const files = createDiskFiles();
let place: Place;

beforeEach(async () => {
	const root = await mkdtemp(path.join(tmpdir(), "agentwire-paths-"));
	place = { currentDir: root, home: path.join(root, "home") };
	await mkdir(path.join(root, "home/project"), { recursive: true });
	await writeFile(path.join(root, "settings.toml"), "");
	await symlink(path.join(root, "home"), path.join(root, "link"));
});
afterEach(async () => {
	await rm(place.currentDir, { recursive: true, force: true });
});

describe("checkWorkDir", () => {
	it("returns the absolute, normalized path and preserves links", async () => {
		const at = (name: string) => path.join(place.currentDir, name);
		expect(await checkWorkDir(null, place, files)).toBe(place.currentDir);
		expect(await checkWorkDir(".//home/../link/project/", place, files)).toBe(at("link/project"));
		expect(await checkWorkDir("~/project", place, files)).toBe(at("home/project"));
		expect(await checkWorkDir("~", place, files)).toBe(place.home);
	});

	it("refuses a path that is no directory", async () => {
		const missing = path.join(place.currentDir, "none");
		await expect(checkWorkDir("none", place, files)).rejects.toEqual(
			new UsageError(`--work-dir: there is no directory ${missing}`),
		);
		await expect(checkWorkDir("settings.toml", place, files)).rejects.toBeInstanceOf(UsageError);
	});
});

describe("checkFile", () => {
	it("requires an existing file", async () => {
		const file = path.join(place.currentDir, "settings.toml");
		expect(await checkFile("--config-file", "settings.toml", place, files)).toBe(file);
		await expect(checkFile("--config-file", "none", place, files)).rejects.toEqual(
			new UsageError(`--config-file: there is no file ${path.join(place.currentDir, "none")}`),
		);
		await expect(checkFile("--agent-file", "home", place, files)).rejects.toEqual(
			new UsageError(`--agent-file: is a directory: ${place.home}`),
		);
	});
});

describe("shareDirectory", () => {
	it("is KIMI_SHARE_DIR, else .kimi in the home directory", () => {
		expect(shareDirectory({}, place)).toBe(path.join(place.home, ".kimi"));
		expect(shareDirectory({ KIMI_SHARE_DIR: "" }, place)).toBe(path.join(place.home, ".kimi"));
		expect(shareDirectory({ KIMI_SHARE_DIR: "/s/" }, place)).toBe("/s");
		expect(shareDirectory({ KIMI_SHARE_DIR: "s" }, place)).toBe(path.join(place.currentDir, "s"));
	});
});

describe("toAbsolutePath", () => {
	it("does not expand the homes of other users", () => {
		expect(toAbsolutePath("~other/x", place)).toBe(path.join(place.currentDir, "~other/x"));
	});
});
