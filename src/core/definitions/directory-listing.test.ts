import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import type { Files } from "../../ports/files/port.ts";
import { listDirectoryTree } from "./directory-listing.ts";

const files = createDiskFiles();
let root: string;

beforeEach(async () => {
	root = await mkdtemp(path.join(tmpdir(), "agentwire-listing-"));
});
afterEach(async () => {
	await rm(root, { recursive: true, force: true });
});

async function put(...names: string[]): Promise<void> {
	for (const name of names) {
		await mkdir(path.dirname(path.join(root, name)), { recursive: true });
		await writeFile(path.join(root, name), "");
	}
}
const numbered = (prefix: string, count: number) =>
	Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(2, "0")}`);

describe("listDirectoryTree", () => {
	it("lists two levels, directories first, by name", async () => {
		await put("b.txt", "B.txt", "src/z.ts", "src/deep/hidden.ts", "docs/a.md");
		await mkdir(path.join(root, "empty"));
		expect(await listDirectoryTree(files, root)).toBe(
			[
				"├── docs/",
				"│   └── a.md",
				"├── empty/",
				"├── src/",
				"│   ├── deep/",
				"│   └── z.ts",
				"├── B.txt",
				"└── b.txt",
			].join("\n"),
		);
	});

	it("shows 30 entries at the root and 10 below, and counts the others", async () => {
		await put(...numbered("dir/f", 13), ...numbered("g", 31));
		const lines = (await listDirectoryTree(files, root)).split("\n");
		expect(lines.slice(0, 13)).toEqual(["├── dir/", ...numbered("│   ├── f", 10), "│   └── ... and 3 more", "├── g00"]);
		expect(lines.slice(-2)).toEqual(["├── g28", "└── ... and 2 more"]);
	});

	it("shows exactly 30 and exactly 10 without a count of others", async () => {
		await put(...numbered("dir/f", 10), ...numbered("g", 29));
		const text = await listDirectoryTree(files, root);
		expect(text).not.toContain("more");
		expect(text.split("\n")).toHaveLength(40);
		expect(text.endsWith("└── g28")).toBe(true);
	});

	it("indents below the last entry without a line", async () => {
		await put("only/a", "only/b");
		expect(await listDirectoryTree(files, root)).toBe("└── only/\n    ├── a\n    └── b");
	});

	it("marks empty and unreadable directories", async () => {
		expect(await listDirectoryTree(files, root)).toBe("(empty directory)");
		expect(await listDirectoryTree(files, path.join(root, "nowhere"))).toBe("(not readable)");
		await put("locked/a", "z");
		const failing: Files = {
			...files,
			list: async (directory) => {
				if (directory.endsWith("locked")) throw new Error("EACCES");
				return files.list(directory);
			},
		};
		expect(await listDirectoryTree(failing, root)).toBe("├── locked/ (not readable)\n└── z");
	});

	it("keeps a name on one line", async () => {
		await put("a\n└── b");
		expect(await listDirectoryTree(files, root)).toBe("└── a\ufffd└── b");
	});
});
