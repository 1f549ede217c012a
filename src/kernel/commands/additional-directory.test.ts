import { mkdir, symlink, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolPlace, type ToolPlace } from "../../../test/support/host/tool-environment.ts";
import { additionalDirectoryMessage, checkAdditionalDirectory, type WorkspacePlace } from "./additional-directory.ts";

describe("checkAdditionalDirectory", () => {
	let place: ToolPlace;
	let workspace: WorkspacePlace;

	beforeEach(async () => {
		place = await createToolPlace();
		const { files, workDir, home } = place.environment;
		for (const name of ["added/inner", "added-too", "work/inner", "home/notes"]) {
			await mkdir(place.at(name), { recursive: true });
		}
		await writeFile(place.at("file"), "");
		await symlink(place.at("outside"), place.at("link-out"));
		await symlink(place.at("work/inner"), place.at("link-in"));
		await symlink(place.at("added"), place.at("work/link-added"));
		await symlink(place.at("nowhere"), place.at("dangling"));
		workspace = { files, workDir, home, additionalDirs: [place.at("added")] };
	});
	afterEach(() => place.remove());

	const check = async (typed: string): Promise<string> => {
		const checked = await checkAdditionalDirectory(typed.replaceAll("ROOT", place.root), workspace);
		return (checked.ok ? `ok ${checked.path}` : checked.reason).replaceAll(place.root, "ROOT");
	};

	it.each([
		["ROOT/outside", "ok ROOT/outside"],
		[" ROOT//outside/x/../ ", "ok ROOT/outside"],
		["../outside", "ok ROOT/outside"],
		["~/notes", "ok ROOT/home/notes"],
		["ROOT/link-out", "ok ROOT/link-out"],
		["ROOT/added-too", "ok ROOT/added-too"],
		["..", "ok ROOT"],
		["", "Name the directory to add."],
		["a\0b", "A path must not contain a NUL character."],
		["../none", "There is no directory ROOT/none."],
		["ROOT/dangling", "There is no directory ROOT/dangling."],
		["ROOT/file", "ROOT/file is not a directory."],
		[".", "ROOT/work belongs to the workspace already: it is in the work directory."],
		["inner", "ROOT/work/inner belongs to the workspace already: it is in the work directory."],
		["ROOT/link-in", "ROOT/link-in belongs to the workspace already: it is in the work directory."],
		["ROOT/added", "ROOT/added belongs to the workspace already: it is in ROOT/added, which was added before."],
		[
			"link-added/inner",
			"ROOT/work/link-added/inner belongs to the workspace already: it is in ROOT/added, which was added before.",
		],
	])("%j: %s", async (typed, expected) => {
		expect(await check(typed)).toBe(expected);
	});

	it("follows the links of the workspace too", async () => {
		workspace = { ...workspace, workDir: place.at("link-out"), additionalDirs: [place.at("gone")] };
		expect(await check("ROOT/outside")).toMatch(/it is in the work directory/);
	});

	it("refuses an unreadable directory", async () => {
		const list = () => Promise.reject(new Error("EACCES: permission denied"));
		workspace = { ...workspace, files: { ...workspace.files, list } };
		expect(await check("ROOT/outside")).toBe("ROOT/outside cannot be read: EACCES: permission denied");
	});
});

it("informs the model about an added directory", () => {
	const message = additionalDirectoryMessage("/srv/lib", "└── a.ts");
	expect(message).toMatch(/^<system>.*\/srv\/lib.*\n\n└── a\.ts\n<\/system>$/s);
});
