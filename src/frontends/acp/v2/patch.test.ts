import { describe, expect, it } from "vitest";
import { toPatch } from "./patch.ts";

describe("a patch", () => {
	it("takes the old lines away and adds the new ones", () => {
		const patch = toPatch({ path: "/work/a.ts", oldText: "one\ntwo", newText: "one\nthree\nfour" });
		expect(patch.split("\n")).toEqual([
			"diff --git a/work/a.ts b/work/a.ts",
			"--- a/work/a.ts",
			"+++ b/work/a.ts",
			"@@ -1,2 +1,3 @@",
			"-one",
			"-two",
			"+one",
			"+three",
			"+four",
			"",
		]);
	});

	it("has the blank line that a piece ends with", () => {
		const patch = toPatch({ path: "/a", oldText: "one\n", newText: "two\n" });
		expect(patch).toContain("@@ -1,2 +1,2 @@\n-one\n-\n+two\n+\n");
	});

	it("says on which side the file ends without a newline", () => {
		expect(toPatch({ path: "/a", oldText: "one\ntwo", newText: "one\nthree\n" })).toContain(
			"@@ -1,2 +1,2 @@\n-one\n-two\n\\ No newline at end of file\n+one\n+three\n",
		);
		expect(toPatch({ path: "/a", oldText: "one\n", newText: "one" })).toContain(
			"@@ -1,1 +1,1 @@\n-one\n+one\n\\ No newline at end of file\n",
		);
	});

	it("adds a file, and counts no lines from 1 where there are none", () => {
		expect(toPatch({ path: "/work/new", oldText: null, newText: "x" })).toContain(
			"new file mode 100644\n--- /dev/null\n+++ b/work/new\n@@ -0,0 +1,1 @@\n+x\n",
		);
		expect(toPatch({ path: "/work/old", oldText: "x", newText: "" })).toContain("@@ -1,1 +0,0 @@\n-x\n");
	});
});
