import { describe, expect, it } from "vitest";
import { toPatch } from "./patch.ts";

describe("a patch", () => {
	it("takes the old lines away and adds the new ones", () => {
		const patch = toPatch({ path: "/work/a.ts", oldText: "one\ntwo", newText: "one\nthree\nfour\n" });
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

	it("adds a file, and counts no lines from 1 where there are none", () => {
		expect(toPatch({ path: "/work/new", oldText: null, newText: "x" })).toContain(
			"new file mode 100644\n--- /dev/null\n+++ b/work/new\n@@ -0,0 +1,1 @@\n+x\n",
		);
		expect(toPatch({ path: "/work/old", oldText: "x\n", newText: "" })).toContain("@@ -1,1 +0,0 @@\n-x\n");
	});
});
