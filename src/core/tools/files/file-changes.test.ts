import { chmod, lstat, mkdir, readFile, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
	briefOf,
	call,
	createToolPlace,
	prepareCall,
	type ToolPlace,
} from "../../../../test/support/host/tool-environment.ts";
import type { Tool } from "../tool.ts";
import { createStringReplaceFile } from "./string-replace-file.ts";
import { createWriteFile } from "./write-file.ts";

let place: ToolPlace;
let write: Tool;
let edit: Tool;
let file: string;
beforeEach(async () => {
	place = await createToolPlace();
	write = createWriteFile(place.environment);
	edit = createStringReplaceFile(place.environment);
	file = place.at("work", "a.txt");
});
afterEach(() => place.remove());

const text = (path = file) => readFile(path, "utf8");

function block(old_text: string, new_text: string, start = 1, path = file) {
	return { type: "diff", path, old_text, new_text, old_start: start, new_start: start, is_summary: false };
}

describe("WriteFile", () => {
	it("shows the change, then applies it", async () => {
		await writeFile(file, "one\ntwo\n", { mode: 0o640 });
		const prepared = await prepareCall(write, { path: "a.txt", content: "one\n2\n" });
		const display = [block("one\ntwo", "one\n2")];
		expect(prepared).toMatchObject({
			approval: { action: "edit file", description: `Write file \`${file}\``, display },
			hasEffect: true,
		});
		expect(await text()).toBe("one\ntwo\n");
		expect(await prepared.execute()).toEqual({
			is_error: false,
			output: "",
			message: "File successfully overwritten. Current size: 6 bytes.",
			display,
			extras: null,
		});
		expect(await text()).toBe("one\n2\n");
		expect((await stat(file)).mode & 0o777).toBe(0o640);
	});

	it("puts the new content on stable storage before it takes the place of the old one", async () => {
		const { allFiles: files } = place.environment;
		const seen: unknown[] = [];
		const replace: typeof files.replace = async (target, content, options) => {
			seen.push(options?.sync);
			await files.replace(target, content, options);
		};
		await writeFile(file, "old");
		await call(createWriteFile({ ...place.environment, allFiles: { ...files, replace } }), {
			path: "a.txt",
			content: "new",
		});
		expect([await text(), seen]).toEqual(["new", [true]]);
	});

	it("creates a file, and appends to it", async () => {
		expect((await call(write, { path: "a.txt", content: "é" })).message).toContain("Current size: 2 bytes");
		const result = await call(write, { path: "a.txt", content: "\nb\n", mode: "append" });
		expect(result).toMatchObject({
			message: "File successfully appended to. Current size: 5 bytes.",
			display: [block("é", "é\nb\n")],
		});
		expect(await text()).toBe("é\nb\n");
	});

	it("preserves line endings and byte order mark", async () => {
		await writeFile(file, "\ufeffone\r\ntwo\r\n");
		await call(write, { path: "a.txt", content: "three\n", mode: "append" });
		expect(await text()).toBe("\ufeffone\r\ntwo\r\nthree\r\n");
		await call(write, { path: "a.txt", content: "x\ny\r\n" });
		expect(await text()).toBe("\ufeffx\r\ny\r\n");
	});

	it("uses the second action outside the workspace, also through a link", async () => {
		await symlink(place.at("outside"), place.at("work", "link"));
		await symlink(place.at("outside", "target.txt"), place.at("work", "name.txt"));
		const action = async (path: string) => (await prepareCall(write, { path, content: "x" })).approval;
		expect((await action(place.at("outside", "b.txt")))?.action).toBe("edit file outside of working directory");
		expect(await action(place.at("work", "link", "b.txt"))).toMatchObject({
			action: "edit file outside of working directory",
			description: `Write file \`${place.at("work", "link", "b.txt")}\`, which is a link to \`${place.at("outside", "b.txt")}\``,
		});
		expect(briefOf(await call(write, { path: "link/b.txt", content: "x" }))).toBe("Invalid path");
		expect(briefOf(await call(write, { path: "name.txt", content: "x" }))).toBe("Invalid path");
	});

	it("treats additional directories as the workspace", async () => {
		const wide = createWriteFile({ ...place.environment, additionalDirs: () => [place.at("outside")] });
		expect((await prepareCall(wide, { path: "../outside/b.txt", content: "x" })).approval?.action).toBe("edit file");
	});

	it("replaces the target of a link, not the link", async () => {
		await writeFile(file, "old");
		await symlink(file, place.at("work", "link.txt"));
		await call(write, { path: "link.txt", content: "new" });
		expect(await text()).toBe("new");
		expect((await lstat(place.at("work", "link.txt"))).isSymbolicLink()).toBe(true);
	});

	it("refuses when the file changed, appeared or disappeared after the preparation", async () => {
		await writeFile(file, "old");
		const prepared = await prepareCall(write, { path: "a.txt", content: "new" });
		await writeFile(file, "mine");
		expect(briefOf(await prepared.execute())).toBe("Failed to write file");
		expect(await text()).toBe("mine");
		const other = await prepareCall(write, { path: "b.txt", content: "new" });
		await writeFile(place.at("work", "b.txt"), "");
		expect(briefOf(await other.execute())).toBe("Failed to write file");
	});

	it("refuses a file that grew beyond 64 MiB since its size was looked at", async () => {
		await writeFile(file, "one\n");
		const prepared = await prepareCall(write, { path: "a.txt", content: "two\n" });
		await truncate(file, 64 * 1024 * 1024 + 1);
		expect((await prepared.execute()).message).toContain("changed since this call was prepared");
		const { allFiles, files } = place.environment;
		const { size: _, ...status } = (await files.status(file)) ?? { size: 0, kind: "file", modifiedAt: 0, mode: 0o644 };
		const small = { ...files, status: async () => ({ ...status, size: 4 }) };
		const tool = createWriteFile({ ...place.environment, files: small, allFiles });
		expect((await call(tool, { path: "a.txt", content: "two\n" })).message).toBe(
			"`a.txt` is too large to be changed: more than 67108864 bytes.",
		);
	});

	it("refuses when the path leads elsewhere after the preparation", async () => {
		await mkdir(place.at("work", "d"));
		const prepared = await prepareCall(write, { path: "d/x.txt", content: "new" });
		await place.environment.files.remove(place.at("work", "d"));
		await symlink(place.at("outside"), place.at("work", "d"));
		expect(briefOf(await prepared.execute())).toBe("Failed to write file");
	});

	it("applies only one of two concurrent changes", async () => {
		await writeFile(file, "old");
		const calls = await Promise.all(["one", "two"].map((content) => prepareCall(write, { path: "a.txt", content })));
		const results = await Promise.all(calls.map((prepared) => prepared.execute()));
		expect(results.map((result) => result.is_error)).toEqual([false, true]);
		expect(await text()).toBe("one");
	});

	it("does nothing once aborted", async () => {
		const prepared = await prepareCall(write, { path: "a.txt", content: "x" });
		expect(briefOf(await prepared.execute(AbortSignal.abort()))).toBe("Cancelled");
		expect(await place.environment.files.status(file)).toBeNull();
	});

	it.each([
		[{ path: " " }, "Empty file path"],
		[{ path: "../b.txt" }, "Invalid path"],
		[{ path: "." }, "Invalid path"],
		[{ path: "/dev/null" }, "Invalid path"],
		[{ path: "missing/b.txt" }, "Parent directory not found"],
		[{ path: "readonly.txt" }, "Failed to write file"],
		[{ path: "binary", mode: "append" }, "Failed to write file"],
	])("refuses %j: %s", async (parameters, brief) => {
		await writeFile(place.at("work", "readonly.txt"), "x");
		await chmod(place.at("work", "readonly.txt"), 0o444);
		await writeFile(place.at("work", "binary"), Buffer.from([0xff]));
		expect(briefOf(await call(write, { content: "x", ...parameters }))).toBe(brief);
	});
});

describe("StrReplaceFile", () => {
	it("shows the change, then applies it", async () => {
		await writeFile(file, "alpha\none\ntwo");
		const prepared = await prepareCall(edit, { path: "a.txt", edit: { old: "alpha", new: "beta" } });
		const display = [block("alpha\none\ntwo", "beta\none\ntwo")];
		expect(prepared.approval).toMatchObject({ action: "edit file", description: `Edit file \`${file}\``, display });
		expect(await prepared.execute()).toEqual({
			is_error: false,
			output: "",
			message: "File successfully edited. Applied 1 edit(s) with 1 total replacement(s).",
			display,
			extras: null,
		});
		expect(await text()).toBe("beta\none\ntwo");
	});

	it("applies edits to each other's results and counts what they replace", async () => {
		await writeFile(file, "one one two");
		const edits = [
			{ old: "one", new: "1", replace_all: true },
			{ old: "1 1 two", new: "$& done, done" },
			{ old: "done", new: "made", replace_all: true },
		];
		expect((await call(edit, { path: "a.txt", edit: edits })).message).toBe(
			"File successfully edited. Applied 3 edit(s) with 5 total replacement(s).",
		);
		expect(await text()).toBe("$& made, made");
	});

	it.each([
		[
			"matches nothing",
			[
				{ old: "one", new: "1" },
				{ old: "absent\n\tlines", new: "x" },
			],
			"`old` of edit 2 (`absent...`) was not found, so nothing was changed. Read the file again, and copy the text exactly, with its white space.",
		],
		[
			"was changed by an earlier one",
			[
				{ old: "one", new: "1" },
				{ old: "one two", new: "x" },
			],
			"`old` of edit 2 (`one two`) is no longer in the text after the edits before it, so nothing was changed. Each edit applies to the result of the one before: merge them, or change their order.",
		],
		[
			"matches twice because of an earlier one",
			[
				{ old: "one", new: "two" },
				{ old: "two", new: "2" },
			],
			"`old` of edit 2 (`two`) was found 2 times in the result of the edits before it, so nothing was changed. Make it longer until it is unique, or set `replace_all`.",
		],
		[
			"changes nothing",
			[
				{ old: "one", new: "1" },
				{ old: "two", new: "two" },
			],
			"`old` of edit 2 (`two`) is the same as `new`, so nothing was changed.",
		],
		["is missing", [], "The list of edits is empty."],
		[
			"takes the first one back",
			[
				{ old: "one", new: "1" },
				{ old: "1", new: "one" },
			],
			"No replacements were made: the edits together leave the text as it is.",
		],
	])("writes nothing when one of several edits %s", async (_name, edits, message) => {
		await writeFile(file, "one two");
		expect(await call(edit, { path: "a.txt", edit: edits })).toMatchObject({ is_error: true, message });
		expect(await text()).toBe("one two");
	});

	it("refuses an ambiguous match with its count", async () => {
		await writeFile(file, "a a a");
		const result = await call(edit, { path: "a.txt", edit: { old: "a", new: "b" } });
		expect(result).toMatchObject({ is_error: true, message: expect.stringContaining("3 times") });
		expect(await text()).toBe("a a a");
	});

	it.each([
		["every line ends with CR LF", "\ufeffone\r\ntwo\r\n", { old: "one\ntwo", new: "1\n2" }, "\ufeff1\r\n2\r\n"],
		["the edit has CR LF", "one\r\ntwo\r\n", { old: "one\r\ntwo", new: "1\r\n2" }, "1\r\n2\r\n"],
		["line endings are mixed", "one\r\ntwo\nthree", { old: "one\ntwo", new: "1\n2" }, "1\r\n2\nthree"],
		["lines end with LF", "one\ntwo\n", { old: "two", new: "2" }, "one\n2\n"],
		["lines end with LF and the edit has CR LF", "one\ntwo\n", { old: "one\r\ntwo", new: "1\r\n2" }, "1\n2\n"],
	])("preserves line endings when %s", async (_name, before, change, after) => {
		await writeFile(file, before);
		await call(edit, { path: "a.txt", edit: change });
		expect(await text()).toBe(after);
	});

	it("refuses when the file changed after the preparation", async () => {
		await writeFile(file, "one");
		const prepared = await prepareCall(edit, { path: "a.txt", edit: { old: "one", new: "1" } });
		await writeFile(file, "one!");
		expect(briefOf(await prepared.execute())).toBe("Failed to edit file");
		expect(await text()).toBe("one!");
	});

	it.each([
		[{ path: "" }, "Empty file path"],
		[{ path: "../b.txt" }, "Invalid path"],
		[{ path: "." }, "Invalid path"],
		[{ path: "missing.txt" }, "File not found"],
		[{ path: "binary" }, "Failed to edit file"],
		[{ path: "a.txt" }, "No replacements made"],
		[{ path: "a.txt", edit: { old: "one", new: "one" } }, "No replacements made"],
		[{ path: "a.txt", edit: { old: "", new: "one" } }, "No replacements made"],
	])("refuses %j: %s", async (parameters, brief) => {
		await writeFile(file, "one");
		await writeFile(place.at("work", "binary"), Buffer.from([0x78, 0xff]));
		expect(briefOf(await call(edit, { edit: { old: "x", new: "y" }, ...parameters }))).toBe(brief);
	});
});
