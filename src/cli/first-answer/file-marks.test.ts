import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { areUnchanged, type FileUse, markFiles } from "./file-marks.ts";

/** A time at which every file of the test counts as settled. */
const muchLater = () => Date.now() + 60_000;

function createPlace(): string {
	const root = mkdtempSync(path.join(tmpdir(), "agentwire-marks-"));
	onTestFinished(() => rmSync(root, { recursive: true, force: true }));
	writeFileSync(path.join(root, "file"), "one");
	writeFileSync(path.join(root, "same"), "one");
	mkdirSync(path.join(root, "directory"));
	symlinkSync("directory", path.join(root, "link"));
	return root;
}

async function marksOf(uses: readonly (readonly [string, FileUse])[]) {
	const marked = await markFiles(new Map(uses), muchLater());
	if (marked === null) throw new Error("The files have not settled.");
	return marked;
}

it.each<[string, string, FileUse, (root: string) => void]>([
	["written in place", "file", "read", (root) => writeFileSync(path.join(root, "file"), "two")],
	["replaced by an equal one", "file", "read", (root) => renameSync(path.join(root, "same"), path.join(root, "file"))],
	["removed", "file", "seen", (root) => rmSync(path.join(root, "file"))],
	["created", "missing", "read", (root) => writeFileSync(path.join(root, "missing"), "")],
	["listed with another name", "directory", "read", (root) => writeFileSync(path.join(root, "directory", "x"), "")],
	[
		"a link that leads elsewhere",
		"link",
		"seen",
		(root) => {
			rmSync(path.join(root, "link"));
			symlinkSync(".", path.join(root, "link"));
		},
	],
	[
		"another kind of file",
		"directory",
		"seen",
		(root) => {
			rmSync(path.join(root, "directory"), { recursive: true });
			writeFileSync(path.join(root, "directory"), "");
		},
	],
])("notice a file that was %s", async (_name, file, use, change) => {
	const root = createPlace();
	const marks = await marksOf([[path.join(root, file), use]]);
	expect(await areUnchanged(marks)).toBe(true);
	change(root);
	expect(await areUnchanged(marks)).toBe(false);
});

it("do not mind a new name in a directory that was only looked at, nor how a path is missing", async () => {
	const root = createPlace();
	const below = path.join(root, "missing", "below");
	const marks = await marksOf([
		[path.join(root, "directory"), "seen"],
		[below, "read"],
	]);
	writeFileSync(path.join(root, "directory", "x"), "");
	writeFileSync(path.join(root, "missing"), "");
	expect(await areUnchanged(marks)).toBe(true);
});

it("are refused for a file that may have changed while it was read", async () => {
	const root = createPlace();
	const file = path.join(root, "file");
	expect(await markFiles(new Map([[file, "read"]]), Date.now())).toBeNull();
	expect(await markFiles(new Map([[path.join(root, "directory"), "seen"]]), Date.now())).not.toBeNull();
});

it("are equal where there are none", async () => {
	expect(await areUnchanged([])).toBe(true);
});
