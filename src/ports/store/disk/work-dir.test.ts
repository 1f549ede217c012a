import { describe, expect, it } from "vitest";
import { toDirectoryName, toWorkDir } from "./work-dir.ts";

describe("work directories", () => {
	it.each([
		["/a/b", "/a/b"],
		["/a//b/", "/a/b"],
		["/a/./c/../b/.", "/a/b"],
		["/", "/"],
		["/../a", "/a"],
	])("spells %s as %s", (spelled, workDir) => {
		expect(toWorkDir(spelled)).toBe(workDir);
	});

	it.each([
		["/tmp", "d42b9c57d24cf5db3bd8d332dc35437f"],
		["/tmp/é", "57e23ee68be2d11030edada75129f283"],
	])("names the directory of %s by the MD5 of its UTF-8 bytes", (workDir, name) => {
		expect(toDirectoryName(workDir)).toBe(name);
	});
});
