// Replacing files where a rename cannot work. Mounts and rights are real, in a child process of its own.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, link, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDiskFiles } from "./disk-files.ts";

const options = { withoutLinks: true, inPlaceIfNeeded: true, sync: true };
const nobody = 65_534;

let root: string;
beforeEach(async () => {
	root = await realpath(await mkdtemp(path.join(tmpdir(), "agentwire-in-place-")));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** Replaces in a child process, under a program that gives it mounts or another user. */
function replaceUnder(words: readonly string[], file: string, content: string): void {
	const source = path.join(import.meta.dirname, "disk-files.ts");
	const script = `import { createDiskFiles } from ${JSON.stringify(source)};
await createDiskFiles().replace(${JSON.stringify(file)}, ${JSON.stringify(content)}, ${JSON.stringify(options)});`;
	const [program = "", ...rest] = words;
	const node = ["--import", import.meta.resolve("tsx"), "--input-type=module", "-e", script];
	execFileSync(program, [...rest, process.execPath, ...node], {
		stdio: "pipe",
		cwd: root,
		env: { ...process.env, TMPDIR: path.join(root, "scratch") },
	});
}

const isRoot = process.getuid?.() === 0;
const canMount = isRoot && existsSync("/usr/bin/unshare");
const canChangeUser = isRoot && existsSync("/usr/bin/setpriv");

describe("a file that cannot be renamed to", () => {
	it.skipIf(!canMount).each(["longer than before\n", "short\n", ""])(
		"is written where it is mounted: %j",
		async (content) => {
			await writeFile(path.join(root, "source"), "one two three\n");
			await writeFile(path.join(root, "mounted"), "");
			const mount = 'mount --bind "$0/source" "$0/mounted" && exec "$@"';
			replaceUnder(["unshare", "-m", "sh", "-c", mount, root], path.join(root, "mounted"), content);
			expect(await readFile(path.join(root, "source"), "utf8")).toBe(content);
			expect((await readdir(root)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
		},
	);

	it.skipIf(!canChangeUser)("is written where its directory is not writable", async () => {
		const directory = path.join(root, "closed");
		await mkdir(directory);
		await mkdir(path.join(root, "scratch"));
		await chmod(path.join(root, "scratch"), 0o777);
		const file = path.join(directory, "a.txt");
		await writeFile(file, "one\n");
		await chown(file, nobody, nobody);
		await chmod(root, 0o755);
		const user = ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"];
		replaceUnder(user, file, "two\n");
		expect(await readFile(file, "utf8")).toBe("two\n");
		await chmod(file, 0o444);
		expect(() => replaceUnder(user, file, "three\n")).toThrow("EACCES");
		expect(() => replaceUnder(user, path.join(directory, "new.txt"), "x")).toThrow("EACCES");
		expect(await readFile(file, "utf8")).toBe("two\n");
	});

	it("stays linked to its other names", async () => {
		const [one, other] = [path.join(root, "one"), path.join(root, "other")];
		await writeFile(one, "old\n", { mode: 0o640 });
		await link(one, other);
		const before = await stat(one);
		await createDiskFiles().replace(one, "the new content\n", options);
		expect(await readFile(other, "utf8")).toBe("the new content\n");
		expect(await stat(one)).toMatchObject({ ino: before.ino, mode: before.mode, nlink: 2 });
		expect(await readdir(root)).toEqual(["one", "other"]);
	});
});
